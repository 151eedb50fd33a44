//! `run_script`: a script of a skill, in the sandbox.

use crate::analytics::Event;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use crate::sandbox::limits::LimitHit;
use crate::scripts::{self, Policy, Progress, Ran, Request, ScriptError};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

pub async fn run_script(
    server: &Skillcell,
    mut arguments: Arguments,
    cancelled: CancellationToken,
    progress: Progress,
) -> Result<Answer, ToolError> {
    let request = Request {
        skill: arguments.required_text("skill_path")?,
        file: arguments.required_text("file")?,
        arguments: arguments.required_texts("args")?,
        working_folder: arguments.text("cwd")?.map(PathBuf::from),
        dry_run: arguments.boolean("dry_run")?.unwrap_or(false),
    };
    arguments.finish()?;
    let args_provided: Vec<String> = request.arguments.keys().cloned().collect();
    let answered = if request.dry_run {
        server.scripts.dry_run(request).await.map(|policy| Answer::json(&shown(server, policy_view(&policy))))
    } else {
        server.scripts.run(request, cancelled, progress).await.map(|ran| {
            let skill_path = ran.policy.address.clone();
            let mut view = RunView::new(ran);
            server.usage.raise(view.event(skill_path, args_provided));
            view.refusals = view.refusals.into_iter().map(|refusal| server.shown_message(refusal)).collect();
            Answer::json(&view)
        })
    };
    match answered {
        Err(ScriptError::Denied(denied)) => Ok(Answer::Refused(server.shown_message(denied.to_string()))),
        Err(ScriptError::Catalog(error)) => Err(error.into()),
        other => Ok(other?),
    }
}

/// What a policy says, as far as this client may know it.
fn shown(server: &Skillcell, value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(server.shown_message(text)),
        Value::Array(items) => items.into_iter().map(|item| shown(server, item)).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, shown(server, value))).collect(),
        other => other,
    }
}

/// How a run ended, as a client reads it.
#[derive(Serialize)]
pub struct RunView {
    success: bool,
    exit_code: i32,
    stdout: String,
    stderr: String,
    duration_ms: u64,
    script: String,
    limit_hit: Option<LimitHit>,
    truncated: bool,
    fuel_used: u64,
    peak_memory_bytes: usize,
    refusals: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_from: Option<String>,
}

impl RunView {
    pub fn new(ran: Ran) -> Self {
        let Ran { policy, finished } = ran;
        Self {
            success: finished.exit_code == 0,
            exit_code: finished.exit_code,
            truncated: finished.stdout.cut || finished.stderr.cut,
            stdout: finished.stdout.text,
            stderr: finished.stderr.text,
            duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
            script: policy.script,
            limit_hit: finished.limit_hit,
            fuel_used: finished.fuel_used,
            peak_memory_bytes: finished.peak_memory,
            refusals: policy.refusals.into_iter().chain(finished.denials).collect(),
            resolved_from: policy.resolved_from,
        }
    }
}

impl RunView {
    fn event(&self, skill_path: String, args_provided: Vec<String>) -> Event {
        Event::ScriptExecuted {
            skill_path,
            file: self.script.clone(),
            execution_mode: "server",
            success: self.success,
            exit_code: self.exit_code,
            duration_ms: self.duration_ms,
            args_provided,
        }
    }
}

/// What a script would get.
pub fn policy_view(policy: &Policy) -> Value {
    let hosts: Vec<String> = policy.hosts.iter().map(ToString::to_string).collect();
    json!({
        "dry_run": true,
        "script": policy.script,
        "skill_path": policy.skill_path,
        "root": policy.root,
        "resolved_from": policy.resolved_from,
        "runtime": policy.runtime,
        "digests": {
            "script": policy.script_digest,
            "skill": policy.skill_digest,
            "runtime": policy.runtime_digest,
        },
        "arguments": policy.argument_names,
        "folders": {
            "/skill": "read-only",
            "/tmp": "empty, thrown away",
            "/work": policy.working_folder,
            "readable": policy.readable,
            "writable": policy.writable,
        },
        "variables": policy.variables,
        "hosts": hosts,
        "limits": scripts::limits(&policy.limits),
        "refusals": policy.refusals,
    })
}
