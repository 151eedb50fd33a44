//! Entries of the audit record. They contain the names of arguments, never their values.

use super::check::Request;
use super::denied::Denied;
use super::policy::Policy;
use base::place::Audience;
use base::printable::counted;
use base::timestamp::now;
use guests::script::Finished;
use sandbox::limits::Limits;
use serde_json::{Map, Value, json};

/// Texts of a request are truncated to this many bytes.
const MAX_LENGTH: usize = 300;

/// Names of arguments are truncated to this many bytes.
const MAX_NAME_LENGTH: usize = 64;

/// Refusals of one run that have an entry each. Another one counts the rest.
const MAX_REFUSALS: usize = 20;

/// Names of arguments in one entry.
const MAX_NAMES: usize = 50;

fn truncated(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LENGTH)]
}

fn truncated_names<'name>(names: impl Iterator<Item = &'name String>) -> Vec<&'name str> {
    names.take(MAX_NAMES).map(|name| &name[..name.floor_char_boundary(MAX_NAME_LENGTH)]).collect()
}

/// The entry of a request that is refused.
pub fn refused_entry(request: &Request, denied: &Denied) -> Map<String, Value> {
    object(json!({
        "kind": "refusal",
        "time": now(),
        "skill": truncated(&request.skill),
        "script": truncated(&request.file),
        "arguments": truncated_names(request.input.named.keys()),
        "reason": reason(&denied.for_audience(Audience::Local)),
    }))
}

/// The terms of a run, known before it begins.
pub fn run_entry(policy: &Policy) -> Map<String, Value> {
    let hosts: Vec<String> = policy.hosts.iter().map(ToString::to_string).collect();
    object(json!({
        "kind": "run",
        "time": now(),
        "root": policy.root,
        "skill": policy.skill_path,
        "script": policy.script,
        "script_digest": policy.script_digest,
        "skill_digest": policy.skill_digest,
        "runtime": policy.runner.name(Audience::Local),
        "runtime_digest": policy.runtime_digest,
        "packages_digest": policy.packages.as_ref().ok().copied().flatten(),
        "arguments": truncated_names(policy.argument_names.iter()),
        "argv": policy.argv,
        "stdin_bytes": policy.stdin_bytes,
        "files": policy.input_files,
        "grants": {
            "cwd": policy.working_folder.as_ref().map(|place| place.for_audience(Audience::Local)),
            "read": policy.readable,
            "write": policy.writable,
            "env": policy.variables,
            "hosts": hosts,
        },
        "limits": limits(&policy.limits),
    }))
}

/// The entry of a run that ended. `finished` is `None` if the result was lost.
pub fn ended_entry(policy: &Policy, finished: Option<&Finished>) -> Map<String, Value> {
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
    let mut entry = run_entry(policy);
    entry.extend(object(json!({
        "outcome": outcome.unwrap_or_else(|| json!("lost")),
        "duration_ms": finished.map(|finished| u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX)),
    })));
    entry
}

/// One entry for each thing that was not granted before the run, or denied during it.
pub fn refusal_entries(policy: &Policy, finished: Option<&Finished>) -> Vec<Map<String, Value>> {
    let denials = finished.map_or(&[][..], |finished| &finished.denials);
    let all = policy.refusals.len() + denials.len();
    let refusals = policy.refusals.iter().map(|refusal| refusal.for_audience(Audience::Local));
    let denials = denials.iter().map(ToString::to_string);
    let reasons = refusals.chain(denials).take(MAX_REFUSALS).map(|refusal| reason(&refusal).to_owned());
    let rest = all.saturating_sub(MAX_REFUSALS);
    let rest = (rest > 0).then(|| format!("and {}", counted(rest, "more thing")));
    let entry = |reason: String| {
        object(json!({
            "kind": "refusal",
            "time": now(),
            "root": policy.root,
            "skill": policy.skill_path,
            "script": policy.script,
            "reason": reason,
        }))
    };
    reasons.chain(rest).map(entry).collect()
}

/// Returns the message of a refusal without its hint.
fn reason(refusal: &str) -> &str {
    truncated(refusal.lines().next().unwrap_or_default())
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
    if let Value::Object(object) = value { object } else { Map::new() }
}
