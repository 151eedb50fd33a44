//! A component that does whatever it is asked to do, and services that it may go to.

use super::scene::{Scene, Unusual, token};
use crate::resources::sha256;
use serde_json::{Value, json};
use skillcell_tests::component;
use skillcell_tests::endpoint::Endpoint;
use skillcell_tests::git_server::Authority;
use skillcell_tests::services::Service;

/// A server with the integration `mine`, which asks `service` below `/api` and may also go to `granted`.
pub struct Stage {
    pub scene: Scene,
    pub service: Service,
    pub granted: Service,
    pub in_clear: Endpoint,
}

impl Stage {
    pub fn set() -> Self {
        Self::with("")
    }

    pub fn with(settings: &str) -> Self {
        let authority = Authority::default();
        let (service, granted, in_clear) = (Service::start(&authority), Service::start(&authority), Endpoint::start());
        let file = component("hostile-integration");
        let digest = sha256(&std::fs::read(&file).unwrap()).replace("sha256:", "");
        let hosts = [
            format!("localhost:{}", granted.port()),
            format!("localhost:{}", port_of(&in_clear)),
            // Names that nobody would take for this machine.
            format!("127.1:{}", service.port()),
            "api.example.com".to_owned(),
        ];
        let settings = format!(
            "{settings}  mine: {{file: '{}', sha256: {digest}, address: '{}/api', hosts: {}, ca_file: '{{ca_file}}', \
             token_variable: MINE, token_header: X-Mine}}\n",
            file.display(),
            service.address(),
            json!(hosts)
        );
        let variables = vec![("MINE", token("mine"))];
        let scene = Scene::with(Unusual { settings, variables, authority, ..Unusual::default() });
        Self { scene, service, granted, in_clear }
    }

    /// The address of its service.
    pub fn own(&self) -> String {
        format!("{}/api", self.service.address())
    }

    /// What became of each request, and what was refused, which is the same in the record.
    pub fn ask(&mut self, question: &Value) -> (Vec<Value>, Vec<String>) {
        let text = self.scene.ask("mine", &question.to_string());
        assert!(!text.contains("s3cret"), "{text}");
        let (answer, refusals) = text.split_once("\n\nrefusals:\n- ").unwrap_or((&text, ""));
        let refusals: Vec<String> =
            refusals.split("\n- ").filter(|refusal| !refusal.is_empty()).map(str::to_owned).collect();
        let line = self.scene.last_record();
        assert_eq!((&line["integration"], &line["denials"]), (&json!("mine"), &json!(refusals)), "{line}");
        let answer: Value = serde_json::from_str(answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
        (answer.as_array().cloned().unwrap_or_else(|| vec![answer]), refusals)
    }

    pub fn send(&mut self, request: &Value) -> (Value, Vec<String>) {
        let (mut outcomes, refusals) = self.ask(&json!({"send": request}));
        assert_eq!(outcomes.len(), 1);
        (outcomes.remove(0), refusals)
    }

    /// Sends a request that is refused for this reason, and noted so.
    pub fn denied(&mut self, request: &Value, refusal: &str) {
        let (outcome, refusals) = self.send(request);
        let error = outcome["error"].as_str().unwrap_or_else(|| panic!("{request} was sent: {outcome}"));
        assert!(
            ["HttpRequestDenied", "DestinationIpProhibited"].iter().any(|denied| error.contains(denied)),
            "{error}"
        );
        assert_eq!(refusals, [refusal], "{request}");
        let sent = &self.scene.last_record()["requests"][0];
        assert!(sent["status"].is_null() && sent["failure"].is_string(), "{sent}");
    }
}

fn port_of(endpoint: &Endpoint) -> u16 {
    let url = endpoint.url();
    url.split(['/', ':']).find_map(|part| part.parse().ok()).expect("an address with a port")
}
