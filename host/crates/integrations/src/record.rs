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
pub struct AuditEntry {
    entry: Map<String, Value>,
}

impl AuditEntry {
    pub fn new(integration: &Integration, question: &str, context: Option<&Context>) -> Self {
        let origin = context.and_then(|context| context.origin.as_ref());
        let hosts: Vec<String> = integration.hosts.iter().map(ToString::to_string).collect();
        let entry = json!({
            "kind": "query",
            "time": now(),
            "integration": integration.name,
            "address": integration.address(),
            "question_digest": Sha256::of(question.as_bytes()).to_string(),
            "repository": origin.map(|origin| format!("{}/{}/{}", origin.host, origin.owner, origin.name)),
            "commit": context.and_then(|context| context.commit.as_ref()),
            "grants": {"hosts": hosts},
        });
        Self { entry: if let Value::Object(entry) = entry { entry } else { Map::new() } }
    }

    /// The service was not queried.
    pub fn refused(mut self, refusal: &Refusal) -> Map<String, Value> {
        let reason = refusal.for_audience(Audience::Local);
        self.add("kind", json!("refusal"));
        self.add("reason", json!(reason.lines().next().unwrap_or_default()));
        self.entry
    }

    /// The answer came from the cache.
    pub fn cached(mut self) -> Map<String, Value> {
        self.add("outcome", json!("answered before"));
        self.entry
    }

    /// The service was probed by `skillcell integration test`.
    pub fn tested(mut self, sent: &[LoggedRequest], denials: &[Denial]) -> Map<String, Value> {
        self.entry.remove("question_digest");
        self.add("outcome", json!("tested"));
        self.add("requests", json!(sent));
        self.add("denials", json!(denials));
        self.entry
    }

    pub fn asked(
        mut self,
        digest: Sha256,
        limits: &Limits,
        asked: Option<&Outcome<Reply>>,
        sent: &[LoggedRequest],
        denials: &[Denial],
        duration: Duration,
    ) -> Map<String, Value> {
        self.add("integration_digest", json!(digest.to_string()));
        let seconds = limits.time.as_secs();
        self.add("limits", json!({"timeout_seconds": seconds, "memory_bytes": limits.memory, "fuel": limits.fuel}));
        self.add("outcome", json!(asked.map_or("lost", |asked| outcome(&asked.end))));
        self.add("fuel_used", json!(asked.map(|asked| asked.fuel_used)));
        self.add("peak_memory_bytes", json!(asked.map(|asked| asked.peak_memory)));
        self.add("requests", json!(sent));
        self.add("denials", json!(denials));
        self.add("duration_ms", json!(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)));
        self.entry
    }

    fn add(&mut self, name: &str, value: Value) {
        self.entry.insert(name.to_owned(), value);
    }
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
