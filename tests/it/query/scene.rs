//! A server in a project, and services that it asks.

use crate::{SMALL, serve};
use serde_json::{Value, json};
use skillcell_tests::git_server::Authority;
use skillcell_tests::services::Service;
use skillcell_tests::{Project, Session};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The services that were recorded: the name, the variable of the token, and the path of the address.
const RECORDED: [(&str, &str, &str); 4] = [
    ("github", "GITHUB_TOKEN", ""),
    ("circleci", "CIRCLECI_TOKEN", ""),
    ("linear", "LINEAR_API_KEY", ""),
    ("gateway", "SKILLCELL_GATEWAY_TOKEN", "/ask"),
];

/// Longer than any question of a test takes, unless it is asked to take longer.
const SOON: Duration = Duration::from_secs(30);

pub struct Scene {
    pub session: Session,
    pub project: Project,
    pub authority: Authority,
    services: Vec<(&'static str, Service)>,
    _trusted: TempDir,
}

/// What is not as usual about a scene.
#[derive(Default)]
pub struct Unusual {
    /// More of `integrations` in the operator's file, indented. `{ca_file}` stands for the file with the authority.
    pub settings: String,
    /// Variables of the server.
    pub variables: Vec<(&'static str, String)>,
    /// Whether the client speaks without a handshake.
    pub modern: bool,
    pub authority: Authority,
}

impl Unusual {
    pub fn settings(settings: impl Into<String>) -> Self {
        Self { settings: settings.into(), ..Self::default() }
    }
}

impl Scene {
    /// Every recorded service is there.
    pub fn start() -> Self {
        Self::with(Unusual::default())
    }

    pub fn with(unusual: Unusual) -> Self {
        let (project, authority) = (Project::with(&SMALL), unusual.authority);
        let trusted = tempfile::tempdir().expect("a temporary folder");
        let ca_file = trusted.path().join("authority.pem");
        authority.write(&ca_file);
        let mut settings =
            format!("integrations:\n{}", unusual.settings.replace("{ca_file}", &ca_file.display().to_string()));
        let mut launch = serve(project.folder()).folder(project.folder());
        let mut services = Vec::new();
        for (name, variable, path) in RECORDED {
            let service = Service::recorded(name, &authority, &project.head());
            let address = service.address();
            let _ = writeln!(settings, "  {name}: {{address: '{address}{path}', ca_file: '{}'}}", ca_file.display());
            launch = launch.env(variable, &token(name));
            services.push((name, service));
        }
        launch = launch.config(&settings);
        for (name, value) in unusual.variables {
            launch = launch.env(name, &value);
        }
        let session = if unusual.modern { launch.modern() } else { launch.start() };
        Self { session, project, authority, services, _trusted: trusted }
    }

    pub fn service(&self, name: &str) -> &Service {
        &self.services.iter().find(|(known, _)| *known == name).expect("a recorded service").1
    }

    /// The answer to a question that has one.
    pub fn ask(&mut self, integration: &str, question: &str) -> String {
        let (text, is_error) = self.told(integration, question);
        assert!(!is_error, "{integration} {question}: {text}");
        text
    }

    /// Why a question has no answer, and what to do.
    pub fn refused(&mut self, integration: &str, question: &str) -> String {
        let (text, is_error) = self.told(integration, question);
        assert!(is_error, "{integration} {question}: {text}");
        assert!(text.contains("\nhint: "), "it says what to do: {text}");
        text
    }

    /// A text, and whether it is no answer.
    pub fn told(&mut self, integration: &str, question: &str) -> (String, bool) {
        let began = Instant::now();
        let answer = self.session.call("query", json!({"query": question, "integration": integration}));
        assert!(began.elapsed() < SOON, "{integration} {question}: {:?}", began.elapsed());
        let text = answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{question}: {answer}")).to_owned();
        (text, answer["isError"] == true)
    }

    /// The lines of the record.
    pub fn record(&self) -> Vec<Value> {
        super::record(&self.session)
    }

    /// The last line of the record.
    pub fn last_record(&self) -> Value {
        self.record().pop().expect("something is recorded")
    }
}

/// The token of a service, which nobody else may ever see.
pub fn token(name: &str) -> String {
    format!("s3cret-t0ken-of-{name}-4f7a")
}
