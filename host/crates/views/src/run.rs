//! The shape of the answer to `run_script`.

use base::place::Audience;
use sandbox::limits::LimitHit;
use scripts::{CompletedRun, Policy};
use serde::Serialize;
use serde_json::{Value, json};

/// How a run ended.
#[derive(Serialize)]
pub struct RunView {
    pub success: bool,
    pub exit_code: i32,
    pub stdout: String,
    pub stderr: String,
    pub duration_ms: u64,
    pub script: String,
    pub limit_hit: Option<LimitHit>,
    pub truncated: bool,
    pub fuel_used: u64,
    pub peak_memory_bytes: usize,
    pub refusals: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_from: Option<String>,
}

impl RunView {
    pub fn new(ran: CompletedRun, audience: Audience) -> Self {
        let CompletedRun { policy, finished } = ran;
        let refusals = policy.refusals.iter().map(|refusal| refusal.for_audience(audience));
        Self {
            success: finished.exit_code == 0,
            exit_code: finished.exit_code,
            truncated: finished.stdout.truncated || finished.stderr.truncated,
            stdout: finished.stdout.text,
            stderr: finished.stderr.text,
            duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
            script: policy.script,
            limit_hit: finished.limit_hit,
            fuel_used: finished.fuel_used,
            peak_memory_bytes: finished.peak_memory,
            refusals: refusals.chain(finished.denials.iter().map(ToString::to_string)).collect(),
            resolved_from: policy.resolved_from,
        }
    }
}

/// What a script would be granted.
pub fn policy_view(policy: &Policy, audience: Audience) -> Value {
    let refusals: Vec<String> = policy.refusals.iter().map(|refusal| refusal.for_audience(audience)).collect();
    let hosts: Vec<String> = policy.hosts.iter().map(ToString::to_string).collect();
    json!({
        "dry_run": true,
        "script": policy.script,
        "skill_path": policy.skill_path,
        "root": policy.root,
        "resolved_from": policy.resolved_from,
        "runtime": policy.runner.name(audience),
        "digests": {
            "script": policy.script_digest,
            "skill": policy.skill_digest,
            "runtime": policy.runtime_digest,
        },
        "arguments": policy.argument_names,
        "folders": {
            "/skill": "read-only",
            "/tmp": "empty, thrown away",
            "/work": policy.working_folder.as_ref().map(|place| place.for_audience(audience)),
            "readable": policy.readable,
            "writable": policy.writable,
        },
        "variables": policy.variables,
        "hosts": hosts,
        "limits": scripts::limits(&policy.limits),
        "refusals": refusals,
    })
}
