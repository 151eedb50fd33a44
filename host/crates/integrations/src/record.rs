//! Entries of the audit record: the service, the requests that were sent and denied, and the outcome. Never the question or a token.

use crate::options::Integration;
use crate::refusal::Refusal;
use base::digest::Sha256;
use base::place::Audience;
use base::timestamp::now;
use bindings::query::QueryError;
use git::context::Context;
use guests::integration::{Limits, Reply};
use guests::run::{End, Outcome};
use sandbox::denials::Denial;
use sandbox::gate::request_log::LoggedRequest;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The entry of one question, completed when its outcome is known.
pub struct AuditEntry(Map<String, Value>);

impl AuditEntry {
    pub fn new(integration: &Integration, question: &str, context: Option<&Context>) -> Self {
        let origin = context.and_then(|context| context.origin.as_ref());
        let hosts: Vec<String> = integration.hosts.iter().map(ToString::to_string).collect();
        Self(object(json!({
            "kind": "query",
            "time": now(),
            "integration": integration.name,
            "address": integration.address(),
            "question_digest": Sha256::of(question.as_bytes()).to_string(),
            "repository": origin.map(|origin| format!("{}/{}/{}", origin.host, origin.owner, origin.name)),
            "commit": context.and_then(|context| context.commit.as_ref()),
            "grants": {"hosts": hosts},
        })))
    }

    /// The service was not queried.
    pub fn refused(self, refusal: &Refusal) -> Map<String, Value> {
        let reason = refusal.for_audience(Audience::Local);
        self.complete(json!({"kind": "refusal", "reason": reason.lines().next().unwrap_or_default()}))
    }

    /// The answer came from the cache.
    pub fn cached(self, digest: Sha256) -> Map<String, Value> {
        self.complete(json!({"integration_digest": digest.to_string(), "outcome": "answered before"}))
    }

    /// The service is about to be queried.
    pub fn begin(&self, digest: Sha256) -> Map<String, Value> {
        let mut entry = self.0.clone();
        entry.insert("integration_digest".to_owned(), json!(digest.to_string()));
        entry
    }

    /// The service is about to be probed.
    pub fn begin_test(&mut self) -> Map<String, Value> {
        self.0.remove("question_digest");
        self.0.clone()
    }

    /// The service was probed by `skillcell integration test`.
    pub fn tested(self, sent: &[LoggedRequest], denials: &[Denial]) -> Map<String, Value> {
        self.complete(json!({"outcome": "tested", "requests": sent, "denials": denials}))
    }

    pub fn asked(
        self,
        digest: Sha256,
        limits: &Limits,
        asked: Option<&Outcome<Reply>>,
        sent: &[LoggedRequest],
        denials: &[Denial],
        duration: Duration,
    ) -> Map<String, Value> {
        let seconds = limits.time.as_secs();
        self.complete(json!({
            "integration_digest": digest.to_string(),
            "limits": {"timeout_seconds": seconds, "memory_bytes": limits.memory, "fuel": limits.fuel},
            "outcome": asked.map_or("lost", |asked| outcome(&asked.end)),
            "fuel_used": asked.map(|asked| asked.fuel_used),
            "peak_memory_bytes": asked.map(|asked| asked.peak_memory),
            "requests": sent,
            "denials": denials,
            "duration_ms": u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        }))
    }

    fn complete(mut self, outcome: Value) -> Map<String, Value> {
        self.0.extend(object(outcome));
        self.0
    }
}

fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(object) = value { object } else { Map::new() }
}

fn outcome(end: &End<Reply>) -> &'static str {
    match end {
        End::Returned(Reply::Answer(_)) => "answered",
        End::Returned(Reply::NoAnswer(error, _)) => match error {
            QueryError::NotUnderstood => "not understood",
            QueryError::Missing(_) => "missing",
            QueryError::NotFound(_) => "not found",
            QueryError::Unauthorized(_) => "unauthorized",
            QueryError::Forbidden(_) => "forbidden",
            QueryError::RateLimited(_) => "rate limited",
            QueryError::Denied(_) => "denied",
            QueryError::Unreachable(_) => "unreachable",
            QueryError::Failed(_) => "failed",
        },
        End::Cancelled => "cancelled",
        End::OutOfTime => "time",
        End::OutOfMemory => "memory",
        End::OutOfFuel => "fuel",
        End::Crashed(_) => "crashed",
    }
}
