//! The shape of the answer to `run_script`.

use base::place::Audience;
use base::printable::{printable_text, visible};
use library::files::media_type;
use sandbox::limits::LimitHit;
use scripts::outputs::OutputFile;
use scripts::{CompletedRun, Policy, kept};
use serde::Serialize;
use serde_json::{Value, json};

/// Text of one file that is in the answer itself.
const MAX_INLINE_BYTES: usize = 10 << 10;

/// Text of all files that is in the answer itself.
const MAX_INLINE_TOTAL: usize = 40 << 10;

/// How a run ended. What a model needs after a failure comes first.
#[derive(Serialize)]
pub struct RunView {
    pub success: bool,
    pub exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    pub stdout: String,
    pub stderr: String,
    pub files: Vec<FileView>,
    pub files_omitted: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_saved: Option<usize>,
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

/// A file that a run created or changed.
#[derive(Serialize)]
pub struct FileView {
    pub path: String,
    pub size: usize,
    pub mime_type: &'static str,
    pub sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

impl RunView {
    /// `keep` keeps files that are too large for the answer, and returns the name of the run.
    pub fn new(ran: CompletedRun, audience: Audience, keep: impl FnOnce(Vec<OutputFile>) -> String) -> Self {
        let hint = ran.hint();
        let CompletedRun { policy, finished, outputs, saved, .. } = ran;
        let refusals = policy.refusals.iter().map(|refusal| refusal.for_audience(audience));
        Self {
            success: finished.exit_code == 0,
            exit_code: finished.exit_code,
            hint,
            files_omitted: outputs.omitted,
            files_saved: saved.and_then(Result::ok),
            files: file_views(outputs.files, keep),
            truncated: finished.stdout.truncated || finished.stderr.truncated,
            stdout: finished.stdout.text,
            stderr: finished.stderr.text,
            duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
            script: visible(policy.script),
            limit_hit: finished.limit_hit,
            fuel_used: finished.fuel_used,
            peak_memory_bytes: finished.peak_memory,
            refusals: refusals.chain(finished.denials.iter().map(ToString::to_string)).collect(),
            resolved_from: policy.resolved_from.map(visible),
        }
    }
}

/// Puts short texts into the answer, and keeps the rest.
fn file_views(files: Vec<OutputFile>, keep: impl FnOnce(Vec<OutputFile>) -> String) -> Vec<FileView> {
    let mut room = MAX_INLINE_TOTAL;
    let mut kept = Vec::new();
    let mut views: Vec<FileView> = Vec::new();
    for file in files {
        let text = std::str::from_utf8(&file.bytes).ok();
        let mime_type = media_type(&file.path, text.is_some());
        let text = text.filter(|text| text.len() <= MAX_INLINE_BYTES.min(room)).map(str::to_owned);
        room -= text.as_ref().map_or(0, String::len);
        let (path, size, sha256) = (file.path.clone(), file.bytes.len(), file.digest.hex());
        if text.is_none() {
            kept.push(file);
        }
        views.push(FileView { path, size, mime_type, sha256, text, uri: None });
    }
    if !kept.is_empty() {
        let run = keep(kept);
        for view in views.iter_mut().filter(|view| view.text.is_none()) {
            view.uri = Some(kept::uri_of(&run, &view.path));
        }
    }
    views
}

/// What a script would be granted.
pub fn policy_view(policy: &Policy, audience: Audience) -> Value {
    let refusals: Vec<String> = policy.refusals.iter().map(|refusal| refusal.for_audience(audience)).collect();
    let hosts: Vec<String> = policy.hosts.iter().map(ToString::to_string).collect();
    json!({
        "dry_run": true,
        "script": printable_text(&policy.script),
        "skill_path": printable_text(&policy.skill_path),
        "root": policy.root,
        "resolved_from": policy.resolved_from.as_deref().map(printable_text),
        "runtime": policy.runner.name(audience),
        "digests": {
            "script": policy.script_digest,
            "skill": policy.skill_digest,
            "runtime": policy.runtime_digest,
            "packages": policy.packages.as_ref().ok().copied().flatten(),
        },
        "arguments": policy.argument_names,
        "argv": policy.argv,
        "stdin_bytes": policy.stdin_bytes,
        "files": policy.input_files,
        "folders": {
            "/skill": "changes stay in memory",
            "/tmp": "empty, thrown away",
            "/work": policy.working_folder.as_ref().map_or("the files of the skill and of the call; changes stay in memory".into(), |place| place.for_audience(audience)),
            "readable": policy.readable,
            "writable": policy.writable,
        },
        "variables": policy.variables,
        "hosts": hosts,
        "limits": scripts::limits(&policy.limits),
        "refusals": refusals,
    })
}
