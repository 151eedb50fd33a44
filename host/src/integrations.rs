//! Asking services outside: the checks, the component, the record.
//!
//! A question is asked about the repository that the server runs in, by a component that knows the service and has one way
//! out, the [`gate`](crate::sandbox::gate). [`words`] says what came of it, and [`record`] writes it down.

mod answers;
pub mod bundled;
mod loaded;
mod probe;
mod record;
mod words;

pub use probe::Tested;

use crate::audit::{AuditError, Record};
use crate::bindings::query::{Question, Remote, Repository};
use crate::config::{Config, Integration, Source, Token, TokenValue};
use crate::git::context::{Context, ContextError, context};
use crate::moment::since_1970;
use crate::sandbox::denials::Denials;
use crate::sandbox::gate::reading::{Reading, Service};
use crate::sandbox::gate::requests::Requests;
use crate::sandbox::gate::{Gate, trusting};
use crate::sandbox::run::Lost;
use crate::sha256::Sha256;
use crate::worlds::integration::{Asked, End, IntegrationWorld, Limits, Report};
use answers::Answers;
use loaded::Loaded;
use record::Noted;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Most questions at once; others wait in line.
const AT_ONCE: u32 = 8;

/// How long the end of the server waits for questions that were told to stop.
const LAST_MOMENT: Duration = Duration::from_millis(100);

/// Everything that asking needs. Cloned for each request.
#[derive(Clone)]
pub struct Integrations {
    shared: Arc<Shared>,
}

struct Shared {
    config: Arc<Config>,
    loaded: Loaded,
    record: Arc<Record>,
    answers: Answers,
    slots: Semaphore,
}

/// What whoever asked reads.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Text(String),
    /// There is no answer. Says why, and what to do next.
    Refused(String),
}

/// Asking failed inside the server.
#[derive(Debug, thiserror::Error)]
pub enum IntegrationError {
    #[error(transparent)]
    Lost(#[from] Lost),
    #[error(transparent)]
    Audit(#[from] AuditError),
}

/// One way out, and what becomes known of it.
struct WayOut {
    gate: Gate,
    denials: Denials,
    requests: Requests,
}

impl Integrations {
    pub fn new(config: Arc<Config>, world: IntegrationWorld, record: Arc<Record>) -> Self {
        let answers = Answers::new(config.integrations.kept);
        let slots = Semaphore::new(AT_ONCE as usize);
        Self { shared: Arc::new(Shared { config, loaded: Loaded::new(world), record, answers, slots }) }
    }

    fn limits(&self) -> Limits {
        Limits::new(self.shared.config.integrations.timeout)
    }

    /// Asks an integration about the repository of the working folder, and writes that down.
    pub async fn ask(
        &self,
        integration: &Integration,
        question: &str,
        cancelled: CancellationToken,
        report: Report,
    ) -> Result<Answer, IntegrationError> {
        let context = match self.context().await? {
            Ok(context) => context,
            Err(error) => return self.refused(Noted::new(integration, question, None), no_context(&error)).await,
        };
        let noted = Noted::new(integration, question, Some(&context));
        if let Err(message) = self.recordable() {
            return Ok(Answer::Refused(message));
        }
        let (service, address) = match ready(integration) {
            Ok(ready) => ready,
            Err(message) => return self.refused(noted, message).await,
        };
        let component = match self.shared.loaded.get(integration).await? {
            Ok(component) => component,
            Err(error) => return self.refused(noted, error.to_string()).await,
        };
        let asked = answers::Asked::new(&integration.name, component.digest, question, &context);
        if let Some((text, age)) = self.shared.answers.get(&asked) {
            self.shared.record.write(noted.known()).await?;
            return Ok(Answer::Text(words::again(&text, age, self.shared.answers.time)));
        }
        let _slot = tokio::select! {
            () = cancelled.cancelled() => None,
            slot = self.shared.slots.acquire() => slot.ok(),
        };
        let (limits, way_out) = (self.limits(), way_out(integration, service));
        let began = Instant::now();
        let question = asking(question, context, address);
        let ended = component.ask(question, way_out.gate.clone(), report, limits, cancelled).await;
        let (sent, denials) = (way_out.requests.all(), way_out.denials.take());
        let entry = noted.asked(component.digest, &limits, ended.as_ref().ok(), &sent, &denials, began.elapsed());
        self.shared.record.write(entry).await?;
        let Asked { end, .. } = ended?;
        let End::Answered(text) = &end else {
            return Ok(Answer::Refused(words::with_refusals(words::no_answer(integration, &end, &limits), &denials)));
        };
        let text = words::answer(text);
        if denials.is_empty() {
            self.shared.answers.keep(asked, &text);
        }
        Ok(Answer::Text(words::with_refusals(text, &denials)))
    }

    /// Waits a moment for questions that are being stopped, so that their ends are written down.
    pub async fn ended(&self) {
        drop(tokio::time::timeout(LAST_MOMENT, self.shared.slots.acquire_many(AT_ONCE)).await);
    }

    /// Without a line in the record nothing is sent.
    fn recordable(&self) -> Result<(), String> {
        match &*self.shared.record {
            Record::Broken(reason) => Err(format!("nothing is asked, because it cannot be written down: {reason}")),
            Record::Kept(_) | Record::Nowhere => Ok(()),
        }
    }

    async fn context(&self) -> Result<Result<Context, ContextError>, Lost> {
        let folder = self.shared.config.roots.working_folder.clone();
        tokio::task::spawn_blocking(move || context(&folder)).await.map_err(|_| Lost)
    }

    async fn refused(&self, noted: Noted, message: String) -> Result<Answer, IntegrationError> {
        self.shared.record.write(noted.refused(&message)).await?;
        Ok(Answer::Refused(message))
    }
}

fn no_context(error: &ContextError) -> String {
    match error {
        ContextError::NoRepository => {
            format!("{error}\nhint: start the server in the folder of the project you ask about")
        }
        ContextError::Unreadable(_) => format!("{error}\nhint: see what `git status` says there"),
    }
}

/// The service of an integration that can be asked, and its address; else what to set.
pub fn ready(integration: &Integration) -> Result<(Service, String), String> {
    let name = &integration.name;
    if !integration.enabled {
        return Err(format!(
            "the integration `{name}` is switched off\nhint: `integrations.{name}.enabled` in the operator's file does that"
        ));
    }
    let (Some(service), Some(address)) = (integration.service.clone(), integration.address()) else {
        return Err(format!(
            "nobody said where the service of `{name}` is\nhint: set `integrations.{name}.address` in the operator's file"
        ));
    };
    match &integration.token {
        Some(Token { variable, value: TokenValue::Missing, required: true }) => Err(format!(
            "`{name}` needs a token, and the variable {variable} is not set\nhint: set {variable} to a token of the service and start the server again"
        )),
        Some(Token { variable, value: TokenValue::Unusable, .. }) => Err(format!(
            "`{name}` needs a token, and what the variable {variable} holds is none\nhint: a token is one line of letters, digits and signs"
        )),
        _ => Ok((service, address)),
    }
}

fn way_out(integration: &Integration, service: Service) -> WayOut {
    let (denials, requests) = (Denials::default(), Requests::default());
    let credential = match &integration.token {
        Some(Token { value: TokenValue::Set(credential), .. }) => Some(credential.clone()),
        _ => None,
    };
    let reading = Reading { service, posts: integration.posts, credential, requests: requests.clone() };
    let tls = trusting(&integration.certificates);
    WayOut { gate: Gate::reading(&integration.hosts, denials.clone(), tls, reading), denials, requests }
}

fn asking(text: &str, context: Context, address: String) -> Question {
    let Context { origin, branch, commit } = context;
    let remote = origin.map(|origin| Remote { host: origin.host, owner: origin.owner, name: origin.name });
    let repository = Repository { remote, branch, commit };
    Question { text: text.to_owned(), repository, address, now: since_1970().as_secs() }
}

/// The digest of a component, without loading it.
pub fn digest(integration: &Integration) -> std::io::Result<Sha256> {
    match &integration.source {
        Source::Bundled(bundled) => Ok(Sha256::of(bundled.code())),
        Source::File { path, .. } => Ok(Sha256::of(&std::fs::read(path)?)),
    }
}
