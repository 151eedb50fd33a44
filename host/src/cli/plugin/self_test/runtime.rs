//! A runtime is given an empty script.

use super::{Outcome, cache, no_sandbox};
use crate::cli::plugin::report::Tried;
use crate::sandbox::denials::Denials;
use crate::sandbox::files::Files;
use crate::sandbox::files::memory::{Memory, Quota};
use crate::sandbox::gate::Gate;
use crate::sandbox::limits::Limits;
use crate::sandbox::nature::Nature;
use crate::sandbox::output::Output;
use crate::sandbox::run::{self, Job};
use crate::sandbox::runtimes::{Guest, Role, Runtimes};
use crate::sandbox::state::Lent;
use crate::sha256::Sha256;
use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Where the script is, in the folder that is lent.
const SCRIPT: &str = "empty";

/// Time for a script in which there is nothing to do.
const TIME: Duration = Duration::from_secs(10);

pub fn runtime(bytes: &[u8]) -> Outcome {
    Outcome::of(|outcome| {
        let began = Instant::now();
        let runtimes = Runtimes::new(cache()).map_err(no_sandbox)?;
        let guest = runtimes.load(bytes, Sha256::of(bytes), Role::Runtime).map_err(|error| error.to_string())?;
        outcome.tried.push(Tried::since(began, "it loads"));
        let began = Instant::now();
        let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let threads = threads.map_err(|error| format!("cannot start the runtime: {error}"))?;
        let finished = threads.block_on(run::run(job(&runtimes, guest), CancellationToken::new()));
        let finished = finished.map_err(|lost| lost.to_string())?;
        if let Some(crash) = finished.stderr.text.split("[skills-mcp] Script ").nth(1) {
            return Err(format!("it ended an empty script badly: {crash}"));
        }
        outcome.tried.push(Tried::since(began, format!("an empty script ends with {}", finished.exit_code)));
        Ok(())
    })
}

/// An empty script that may do nothing but compute.
fn job(runtimes: &Runtimes, guest: Guest) -> Job {
    let limits = Limits { time: TIME, ..Limits::default() };
    let quota = Quota::new(limits.scratch_bytes, limits.scratch_files);
    let denials = Denials::default();
    let mut files = Files::new(denials.clone());
    files.mount("skill", Memory::frozen([(SCRIPT.to_owned(), Bytes::new())]));
    files.mount("tmp", Memory::scratch(Arc::clone(&quota)));
    let file = format!("/skill/{SCRIPT}");
    let lent = Lent {
        files,
        arguments: vec![file.clone()],
        variables: Vec::new(),
        stdout: Output::new(limits.output),
        stderr: Output::new(limits.output),
        nature: Nature::new(true),
        gate: Gate::new(&[], denials.clone()),
        denials,
    };
    Job { guest, file, lent, limits, quota, ticker: runtimes.ticker() }
}
