//! Lines for the audit record: who was asked, what was sent and refused, and how it ended. Never the question, nor a token.

use crate::bindings::query::QueryError;
use crate::config::Integration;
use crate::git::context::Context;
use crate::moment::now;
use crate::sandbox::gate::requests::Sent;
use crate::sha256::Sha256;
use crate::worlds::integration::{Asked, End, Limits};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// What is known of a question before it is asked.
pub struct Noted {
    entry: Map<String, Value>,
}

impl Noted {
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

    /// Nobody was asked.
    pub fn refused(mut self, reason: &str) -> Map<String, Value> {
        self.add("kind", json!("refusal"));
        self.add("reason", json!(reason.lines().next().unwrap_or_default()));
        self.entry
    }

    /// Nobody was asked, because the answer is known.
    pub fn known(mut self) -> Map<String, Value> {
        self.add("outcome", json!("answered before"));
        self.entry
    }

    /// Somebody tried whether the service answers.
    pub fn tested(mut self, sent: &[Sent], denials: &[String]) -> Map<String, Value> {
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
        asked: Option<&Asked>,
        sent: &[Sent],
        denials: &[String],
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

/// One or two words for how a question ended.
fn outcome(end: &End) -> &'static str {
    match end {
        End::Answered(_) => "answered",
        End::NoAnswer(error, _) => match error {
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
