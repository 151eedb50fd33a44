//! Tests a runtime with an empty script.

use super::{Report, cache, wasm_error};
use base::digest::Sha256;
use bytes::Bytes;
use guests::executor::Executor;
use guests::script::{Guest, Job, Role, ScriptWorld};
use sandbox::denials::Denials;
use sandbox::files::Files;
use sandbox::files::memory::{Memory, Quota};
use sandbox::limits::Limits;
use sandbox::state::Capabilities;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The time limit of an empty script.
const TIME_LIMIT: Duration = Duration::from_secs(10);

pub fn runtime(bytes: &[u8], report: &mut Report) -> Result<(), String> {
    let start = Instant::now();
    let executor = Arc::new(Executor::for_scripts(cache()).map_err(wasm_error)?);
    let world = ScriptWorld::new(executor).map_err(wasm_error)?;
    let guest = world.load(bytes, Sha256::of(bytes), Role::Runtime).map_err(|fault| format!("it {fault}"))?;
    report.pass(start, "it loads");
    let start = Instant::now();
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let threads = threads.map_err(|error| format!("cannot start the runtime: {error}"))?;
    let finished = threads.block_on(world.run(job(guest), CancellationToken::new()));
    let finished = finished.map_err(|lost| lost.to_string())?;
    if let Some(crash) = finished.stderr.text.split("[skills-mcp] Script ").nth(1) {
        return Err(format!("it failed on an empty script: {crash}"));
    }
    report.pass(start, format!("an empty script exits with {}", finished.exit_code));
    Ok(())
}

/// A job for an empty script without grants.
fn job(guest: Guest) -> Job {
    let limits = Limits { time: TIME_LIMIT, ..Limits::default() };
    let quota = Quota::new(limits.scratch_bytes, limits.scratch_files);
    let denials = Denials::default();
    let mut files = Files::new(denials.clone());
    files.mount("skill", Memory::frozen([("empty".to_owned(), Bytes::new())]));
    files.mount("tmp", Memory::scratch(Arc::clone(&quota)));
    let file = "/skill/empty".to_owned();
    let capabilities = Capabilities::of_files(files, vec![file.clone()], limits.output, denials);
    Job { guest, file, capabilities, limits, quota }
}
