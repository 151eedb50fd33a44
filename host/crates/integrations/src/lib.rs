//! Questions to services such as GitHub: the checks before one is sent, the component that answers it, the audit entry.
//!
//! Owns which integrations there are ([`options`]), when one may be queried, the cache of answers, the probe of
//! `skillcell integration test`, answers and refusals. Must not know what a service means by a question: that is
//! the component's business, and its only way out is the [`gate`](sandbox::gate). Must not know MCP, the configuration file or
//! skills.
//!
//! Start reading with [`Integrations::ask`], the path of one question; then [`ready_service`], the checks, and [`messages`], what
//! the caller reads.

pub mod options;
mod component_cache;
mod answer_cache;
mod messages;
mod probe;
mod record;
mod refusal;

pub use probe::TestReport;
pub use refusal::{NotReady, Refusal};

use answer_cache::AnswerCache;
use audit::{AuditError, Record};
use base::digest::Sha256;
use base::place::{Audience, LocalReason};
use base::timestamp::since_epoch;
use bindings::query::{Question, Remote, Repository};
use call::Call;
use component_cache::ComponentCache;
use git::context::{Context, ContextError, context};
use guests::integration::{IntegrationWorld, Limits, Reply, Report};
use guests::run::{End, Lost};
use options::{Integration, Options, Source, Token, TokenValue};
use record::AuditEntry;
use sandbox::denials::Denials;
use sandbox::gate::read_only::{ReadOnly, Service};
use sandbox::gate::request_log::RequestLog;
use sandbox::gate::{Gate, tls_connector};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Further questions wait for a slot.
const MAX_CONCURRENT: u32 = 8;

/// How long the shutdown waits for cancelled questions.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(100);

/// Answers questions with the configured integrations. Cheap to clone, once per request.
#[derive(Clone)]
pub struct Integrations {
    inner: Arc<Inner>,
}

struct Inner {
    options: Arc<Options>,
    working_folder: PathBuf,
    components: Arc<ComponentCache>,
    record: Arc<Record>,
    answers: AnswerCache,
    slots: Semaphore,
}

#[derive(Debug)]
pub enum QueryAnswer {
    Text(String),
    Refused(Refusal),
}

/// A question failed inside the server.
#[derive(Debug)]
pub enum IntegrationError {
    Lost(Lost),
    Unrecorded(LocalReason),
}

impl IntegrationError {
    pub fn for_audience(&self, audience: Audience) -> String {
        match self {
            Self::Lost(error) => error.to_string(),
            Self::Unrecorded(reason) => format!("the question cannot be recorded: {}", reason.for_audience(audience)),
        }
    }
}

impl From<Lost> for IntegrationError {
    fn from(error: Lost) -> Self {
        Self::Lost(error)
    }
}

impl From<AuditError> for IntegrationError {
    fn from(error: AuditError) -> Self {
        Self::Unrecorded(LocalReason(error.to_string()))
    }
}

/// The gate of one question, and what it logs.
struct Outbound {
    gate: Gate,
    denials: Denials,
    requests: RequestLog,
}

impl Integrations {
    pub fn new(options: Arc<Options>, working_folder: PathBuf, world: IntegrationWorld, record: Arc<Record>) -> Self {
        let answers = AnswerCache::new(options.cache_time);
        let slots = Semaphore::new(MAX_CONCURRENT as usize);
        let components = ComponentCache::new(world);
        Self { inner: Arc::new(Inner { options, working_folder, components, record, answers, slots }) }
    }

    fn limits(&self) -> Limits {
        Limits::new(self.inner.options.timeout)
    }

    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Asks an integration about the repository of the working folder, and records the question.
    pub async fn ask(
        &self,
        integration: &Integration,
        question: &str,
        call: &Call,
    ) -> Result<QueryAnswer, IntegrationError> {
        let context = match self.context().await? {
            Ok(context) => context,
            Err(error) => {
                let entry = AuditEntry::new(integration, question, None);
                return self.refuse(entry, Refusal::NoContext(error)).await;
            }
        };
        let entry = AuditEntry::new(integration, question, Some(&context));
        if let Err(refusal) = self.check_record() {
            return Ok(QueryAnswer::Refused(refusal));
        }
        let (service, address) = match ready_service(integration) {
            Ok(ready) => ready,
            Err(missing) => return self.refuse(entry, Refusal::NotReady(missing)).await,
        };
        let component = match self.inner.components.get(integration).await? {
            Ok(component) => component,
            Err(error) => return self.refuse(entry, Refusal::Component(error)).await,
        };
        let key = answer_cache::Key::new(&integration.name, component.digest, question, &context);
        if let Some((text, age)) = self.inner.answers.get(&key) {
            self.inner.record.count(entry.cached(component.digest)).await?;
            return Ok(QueryAnswer::Text(messages::cached(&text, age, self.inner.answers.ttl)));
        }
        let _slot = tokio::select! {
            biased;
            () = call.cancelled.cancelled() => return Ok(QueryAnswer::Refused(Refusal::Cancelled)),
            slot = self.inner.slots.acquire() => slot,
        };
        let (limits, outbound) = (self.limits(), outbound(integration, service));
        let started = Instant::now();
        let began = self.inner.record.begin(entry.begin(component.digest)).await?;
        let question = build_question(question, context, address);
        let ended = component.ask(question, outbound.gate.clone(), report(call), limits, call.cancelled.clone()).await;
        let (sent, denials) = (outbound.requests.all(), outbound.denials.take());
        let entry = entry.asked(component.digest, &limits, ended.as_ref().ok(), &sent, &denials, started.elapsed());
        self.inner.record.end(began, entry).await?;
        let end = ended?.end;
        let End::Returned(Reply::Answer(text)) = &end else {
            let message = messages::with_refusals(messages::failure(integration, &end, &limits), &denials);
            return Ok(QueryAnswer::Refused(Refusal::Failed(message)));
        };
        let text = messages::answer(text);
        if denials.is_empty() {
            self.inner.answers.insert(key, &text);
        }
        Ok(QueryAnswer::Text(messages::with_refusals(text, &denials)))
    }

    /// Waits briefly for cancelled questions, so that their outcomes are recorded.
    pub async fn drain(&self) {
        drop(tokio::time::timeout(SHUTDOWN_GRACE, self.inner.slots.acquire_many(MAX_CONCURRENT)).await);
    }

    /// Nothing is sent unless it can be recorded.
    fn check_record(&self) -> Result<(), Refusal> {
        match &*self.inner.record {
            Record::Broken(reason) => Err(Refusal::NoRecord(reason.clone())),
            Record::Writable(_) | Record::Disabled => Ok(()),
        }
    }

    async fn context(&self) -> Result<Result<Context, ContextError>, Lost> {
        let folder = self.inner.working_folder.clone();
        tokio::task::spawn_blocking(move || context(&folder)).await.map_err(|_| Lost)
    }

    async fn refuse(&self, entry: AuditEntry, refusal: Refusal) -> Result<QueryAnswer, IntegrationError> {
        self.inner.record.count(entry.refused(&refusal)).await?;
        Ok(QueryAnswer::Refused(refusal))
    }
}

/// Reports the steps of a component as progress of the call.
fn report(call: &Call) -> Report {
    let (progress, steps) = (call.progress.clone(), AtomicU32::new(0));
    Arc::new(move |message| progress.report(f64::from(steps.fetch_add(1, Ordering::Relaxed) + 1), message))
}

/// Returns the service of an integration and its address if it can be queried.
pub fn ready_service(integration: &Integration) -> Result<(Service, String), NotReady> {
    let name = integration.name.clone();
    if !integration.enabled {
        return Err(NotReady::Disabled { name });
    }
    let (Some(service), Some(address)) = (integration.service.clone(), integration.address()) else {
        return Err(NotReady::NoAddress { name });
    };
    match &integration.token {
        Some(Token { variable, value: TokenValue::Missing, required: true }) => {
            Err(NotReady::NoToken { name, variable: variable.clone() })
        }
        Some(Token { variable, value: TokenValue::Unusable, .. }) => {
            Err(NotReady::UnusableToken { name, variable: variable.clone() })
        }
        _ => Ok((service, address)),
    }
}

fn outbound(integration: &Integration, service: Service) -> Outbound {
    let (denials, requests) = (Denials::default(), RequestLog::default());
    let credential = match &integration.token {
        Some(Token { value: TokenValue::Set(credential), .. }) => Some(credential.clone()),
        _ => None,
    };
    let rules = ReadOnly { service, posts: integration.posts, credential, requests: requests.clone() };
    let tls = tls_connector(&integration.certificates);
    Outbound { gate: Gate::read_only(&integration.hosts, denials.clone(), tls, rules), denials, requests }
}

fn build_question(text: &str, context: Context, address: String) -> Question {
    let Context { origin, branch, commit } = context;
    let remote = origin.map(|origin| Remote { host: origin.host, owner: origin.owner, name: origin.name });
    let repository = Repository { remote, branch, commit };
    Question { text: text.to_owned(), repository, address, now: since_epoch().as_secs() }
}

/// Returns the digest of a component without loading it.
pub fn digest(integration: &Integration) -> std::io::Result<Sha256> {
    match &integration.source {
        Source::Bundled(bundled) => Ok(Sha256::of(bundled.artifact().code)),
        Source::File { path, .. } => Ok(Sha256::of(&std::fs::read(path)?)),
    }
}
