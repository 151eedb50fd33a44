//! A server in a project, and the services of its integrations.

use crate::{SMALL, serve};
use serde_json::{Value, json};
use skillcell_tests::git_server::Authority;
use skillcell_tests::services::Service;
use skillcell_tests::{Project, Session};
use std::fmt::Write as _;
use tempfile::TempDir;

/// The recorded services: name, variable of the token, and path of the address.
const RECORDED: [(&str, &str, &str); 4] = [
    ("github", "GITHUB_TOKEN", ""),
    ("circleci", "CIRCLECI_TOKEN", ""),
    ("linear", "LINEAR_API_KEY", ""),
    ("gateway", "SKILLCELL_GATEWAY_TOKEN", "/ask"),
];

pub struct Scene {
    pub session: Session,
    pub project: Project,
    pub authority: Authority,
    services: Vec<(&'static str, Service)>,
    _trusted: TempDir,
}

/// How a scene differs from the default.
#[derive(Default)]
pub struct Options {
    /// More of `integrations` in the operator's file, indented. `{ca_file}` stands for the file with the authority.
    pub settings: String,
    /// Variables of the server.
    pub variables: Vec<(&'static str, String)>,
    /// Whether the session is stateless, without a handshake.
    pub modern: bool,
    pub authority: Authority,
}

impl Options {
    pub fn settings(settings: impl Into<String>) -> Self {
        Self { settings: settings.into(), ..Self::default() }
    }
}

impl Scene {
    /// Starts a server with every recorded service.
    pub fn start() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let (project, authority) = (Project::with(&SMALL), options.authority);
        let trusted = tempfile::tempdir().expect("a temporary folder");
        let ca_file = trusted.path().join("authority.pem");
        authority.write(&ca_file);
        let mut settings =
            format!("integrations:\n{}", options.settings.replace("{ca_file}", &ca_file.display().to_string()));
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
        for (name, value) in options.variables {
            launch = launch.env(name, &value);
        }
        let session = if options.modern { launch.modern() } else { launch.start() };
        Self { session, project, authority, services, _trusted: trusted }
    }

    pub fn service(&self, name: &str) -> &Service {
        &self.services.iter().find(|(known, _)| *known == name).expect("a recorded service").1
    }

    /// Returns the answer to a question, which must succeed.
    pub fn ask(&mut self, integration: &str, question: &str) -> String {
        let (text, is_error) = self.query(integration, question);
        assert!(!is_error, "{integration} {question}: {text}");
        text
    }

    /// Returns the refusal of a question, which must have a hint.
    pub fn refusal(&mut self, integration: &str, question: &str) -> String {
        let (text, is_error) = self.query(integration, question);
        assert!(is_error, "{integration} {question}: {text}");
        assert!(text.contains("\nhint: "), "the hint is missing: {text}");
        text
    }

    /// Returns the text of the answer, and whether it is an error.
    pub fn query(&mut self, integration: &str, question: &str) -> (String, bool) {
        let answer = self.session.call("query", json!({"query": question, "integration": integration}));
        let text = answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{question}: {answer}")).to_owned();
        (text, answer["isError"] == true)
    }

    /// Returns the lines of the audit record.
    pub fn record(&self) -> Vec<Value> {
        super::record(&self.session)
    }

    /// Returns the last line of the audit record.
    pub fn last_record(&self) -> Value {
        self.record().pop().expect("something is recorded")
    }
}

/// Returns the token of a service, which must not leak.
pub fn token(name: &str) -> String {
    format!("s3cret-t0ken-of-{name}-4f7a")
}
