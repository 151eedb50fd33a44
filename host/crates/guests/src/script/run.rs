//! One run of a script, and its result.

use super::{Guest, ScriptWorld};
use crate::run::{End, Lost, Run};
use sandbox::denials::Denial;
use sandbox::files::Files;
use sandbox::files::memory::Quota;
use sandbox::limits::memory::Meter;
use sandbox::limits::time::Stop;
use sandbox::limits::{LimitHit, Limits};
use sandbox::output::CapturedText;
use sandbox::state::{Capabilities, ScriptState};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use wasmtime::Store;

/// Starts a message of the host in a script's output. Clients of other skill servers know it.
const MESSAGE_PREFIX: &str = "[skills-mcp] ";

/// Exit codes as in a shell.
const KILLED: i32 = 137;
const ABORTED: i32 = 134;

/// A script that is ready to run.
pub struct Job {
    pub guest: Guest,
    /// The path of the script inside the sandbox.
    pub file: String,
    pub capabilities: Capabilities,
    pub limits: Limits,
    pub quota: Arc<Quota>,
}

/// The result of a run.
pub struct Finished {
    pub exit_code: i32,
    pub stdout: CapturedText,
    pub stderr: CapturedText,
    pub duration: Duration,
    pub limit_hit: Option<LimitHit>,
    pub fuel_used: u64,
    pub peak_memory: usize,
    /// What the script tried and was denied.
    pub denials: Vec<Denial>,
    pub cancelled: bool,
    /// The file tree as the script left it.
    pub files: Files,
}

impl ScriptWorld {
    /// Runs a script until it exits, hits a limit or is cancelled.
    pub async fn run(&self, job: Job, cancelled: CancellationToken) -> Result<Finished, Lost> {
        let Job { guest, file, capabilities, limits, quota } = job;
        let (stdout, stderr, denials) =
            (capabilities.stdout.clone(), capabilities.stderr.clone(), capabilities.denials.clone());
        let run = Run {
            name: "script",
            engine: guest.engine().clone(),
            executor: Arc::clone(&self.executor),
            time: limits.time,
            fuel: limits.fuel,
            cancelled: cancelled.clone(),
            meter: |state: &mut ScriptState| &mut state.meter,
        };
        let is_program = guest.is_program();
        let state = move || {
            let stop = Stop { deadline: Instant::now() + limits.time, cancelled };
            let state = ScriptState::new(capabilities, Meter::new(limits.memory), stop);
            if is_program { state.starting_in_work() } else { state }
        };
        let body = async move |store: &mut Store<ScriptState>| guest.call(store, &file).await;
        let outcome = run.drive(state, body, |state| state.granted.take_files()).await?;
        let (exit_code, hit, message) = result(&outcome.end, &limits);
        let (stdout, mut stderr) = (stdout.take(), stderr.take());
        let cut = stdout.truncated || stderr.truncated;
        if let Some(message) = message {
            if !stderr.text.is_empty() && !stderr.text.ends_with('\n') {
                stderr.text.push('\n');
            }
            stderr.text.push_str(MESSAGE_PREFIX);
            stderr.text.push_str(&message);
        }
        Ok(Finished {
            exit_code,
            stdout,
            stderr,
            duration: outcome.duration,
            limit_hit: hit.or(quota.was_hit().then_some(LimitHit::Scratch)).or(cut.then_some(LimitHit::Output)),
            fuel_used: outcome.fuel_used,
            peak_memory: outcome.peak_memory,
            denials: denials.take(),
            cancelled: matches!(outcome.end, End::Cancelled),
            files: outcome.left,
        })
    }
}

/// Returns the exit code, the limit that was hit, and a message for standard error.
fn result(end: &End<i32>, limits: &Limits) -> (i32, Option<LimitHit>, Option<String>) {
    let killed = |why: &str| Some(format!("Script killed: {why}."));
    match end {
        End::Returned(code) => (*code, None, None),
        End::OutOfTime => (KILLED, Some(LimitHit::Time), killed("timeout exceeded")),
        End::Cancelled => (KILLED, None, killed("the request was cancelled")),
        End::OutOfMemory => {
            (KILLED, Some(LimitHit::Memory), killed(&format!("more than {} MiB of memory", limits.memory >> 20)))
        }
        End::OutOfFuel => (KILLED, Some(LimitHit::Fuel), killed(&format!("more than {} units of fuel", limits.fuel))),
        End::Crashed(reason) => (ABORTED, None, Some(format!("Script crashed: {reason}."))),
    }
}
