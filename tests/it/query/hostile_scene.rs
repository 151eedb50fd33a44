//! A component that does whatever its question says, and services that it can reach.

use super::scene::{Options, Scene, token};
use crate::resources::sha256;
use serde_json::{Value, json};
use skillcell_tests::component;
use skillcell_tests::endpoint::Endpoint;
use skillcell_tests::git_server::Authority;
use skillcell_tests::services::Service;

/// A server with the integration `mine`, which uses `service` below `/api` and may also connect to `granted`.
pub struct HostileScene {
    pub scene: Scene,
    pub service: Service,
    pub granted: Service,
    pub plaintext: Endpoint,
}

impl HostileScene {
    pub fn start() -> Self {
        Self::with("")
    }

    pub fn with(settings: &str) -> Self {
        let authority = Authority::default();
        let (service, granted, plaintext) = (Service::start(&authority), Service::start(&authority), Endpoint::start());
        let file = component("hostile-integration");
        let digest = sha256(&std::fs::read(&file).unwrap()).replace("sha256:", "");
        let hosts = [
            format!("localhost:{}", granted.port()),
            format!("localhost:{}", port_of(&plaintext)),
            // Names that do not look like this machine.
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
        let scene = Scene::with(Options { settings, variables, authority, ..Options::default() });
        Self { scene, service, granted, plaintext }
    }

    /// Returns the address of its service.
    pub fn own_address(&self) -> String {
        format!("{}/api", self.service.address())
    }

    /// Returns the outcome of each request and the refusals, after comparing them with the audit record.
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

    /// Sends a request, and checks that it is refused and recorded with this reason.
    pub fn assert_denied(&mut self, request: &Value, refusal: &str) {
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
