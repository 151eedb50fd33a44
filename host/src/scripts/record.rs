//! Lines for the audit record. Names of arguments are in them, values never.

use super::check::{Denied, Request};
use super::policy::Policy;
use crate::moment::now;
use crate::printable::counted;
use crate::sandbox::limits::Limits;
use crate::sandbox::run::Finished;
use serde_json::{Map, Value, json};

/// Longest text from a request that goes into the record, in bytes.
const LONGEST: usize = 300;

/// Most refusals of one run that have a line each. Another one counts the rest.
const MOST_REFUSALS: usize = 20;

/// Most names of arguments in one line.
const MOST_NAMES: usize = 50;

fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

/// What is kept of a request in case it is refused.
pub struct Noted {
    skill: String,
    file: String,
    arguments: Vec<String>,
}

impl Noted {
    pub fn of(request: &Request) -> Self {
        Self {
            skill: short(&request.skill).to_owned(),
            file: short(&request.file).to_owned(),
            arguments: request.arguments.keys().take(MOST_NAMES).map(|name| short(name).to_owned()).collect(),
        }
    }

    pub fn refused(self, denied: &Denied) -> Map<String, Value> {
        object(json!({
            "kind": "refusal",
            "time": now(),
            "skill": self.skill,
            "script": self.file,
            "arguments": self.arguments,
            "reason": reason(&denied.to_string()),
        }))
    }
}

/// A run that ended, or one of which nothing came back.
pub fn ran(policy: &Policy, finished: Option<&Finished>) -> Map<String, Value> {
    let names: Vec<&str> = policy.argument_names.iter().take(MOST_NAMES).map(|name| short(name)).collect();
    let outcome = finished.map(|finished| {
        json!({
            "exit_code": finished.exit_code,
            "limit_hit": finished.limit_hit,
            "cancelled": finished.cancelled,
            "fuel_used": finished.fuel_used,
            "peak_memory_bytes": finished.peak_memory,
            "refusals": policy.refusals.len() + finished.denials.len(),
        })
    });
    let hosts: Vec<String> = policy.hosts.iter().map(ToString::to_string).collect();
    object(json!({
        "kind": "run",
        "time": now(),
        "root": policy.root,
        "skill": policy.skill_path,
        "script": policy.script,
        "script_digest": policy.script_digest,
        "skill_digest": policy.skill_digest,
        "runtime": policy.runtime,
        "runtime_digest": policy.runtime_digest,
        "arguments": names,
        "grants": {
            "cwd": policy.working_folder.as_ref().map(|path| path.display().to_string()),
            "read": policy.readable,
            "write": policy.writable,
            "env": policy.variables,
            "hosts": hosts,
        },
        "limits": limits(&policy.limits),
        "outcome": outcome.unwrap_or_else(|| json!("lost")),
        "duration_ms": finished.map(|finished| u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX)),
    }))
}

/// A line for each thing that a script asked for and did not get, or tried in vain while it ran.
pub fn refusals(policy: &Policy, finished: Option<&Finished>) -> Vec<Map<String, Value>> {
    let denials = finished.map_or(&[][..], |finished| &finished.denials);
    let all = policy.refusals.len() + denials.len();
    let reasons = policy.refusals.iter().chain(denials).take(MOST_REFUSALS).map(|refusal| reason(refusal).to_owned());
    let rest = all.saturating_sub(MOST_REFUSALS);
    let rest = (rest > 0).then(|| format!("and {}", counted(rest, "more thing")));
    let line = |reason: String| {
        object(json!({
            "kind": "refusal",
            "time": now(),
            "root": policy.root,
            "skill": policy.skill_path,
            "script": policy.script,
            "reason": reason,
        }))
    };
    reasons.chain(rest).map(line).collect()
}

/// What a refusal says, without what to do about it.
fn reason(refusal: &str) -> &str {
    short(refusal.lines().next().unwrap_or_default())
}

pub fn limits(limits: &Limits) -> Value {
    json!({
        "timeout_seconds": limits.time.as_secs(),
        "memory_bytes": limits.memory,
        "fuel": limits.fuel,
        "max_output_bytes": limits.output,
        "scratch_bytes": limits.scratch_bytes,
        "scratch_files": limits.scratch_files,
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
