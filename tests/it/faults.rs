//! Everything that writes, with each fault at each of its calls: nothing is lost that was acknowledged, nothing is half
//! written, and the message says what happened.

mod commands;
mod record;
mod repositories;
mod server;

use crate::SKILLCELL;
use serde_json::{Value, json};
use skillcell_tests::faults::{Fault, Faults};
use skillcell_tests::{Launch, files_below, write_files};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// The most calls that one fault is tried at; of more, a part that is spread evenly. `FAULTS=all` tries every call.
const MAX_TRIALS: usize = 30;

/// The same for scenarios with hundreds of calls.
const FEW_TRIALS: usize = 8;

/// One run of a scenario, with a fault or, to count its calls, without.
struct Trial {
    folder: TempDir,
    fault: Option<Fault>,
    faults: Faults,
}

impl Trial {
    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Prepares a command with a home in the scene. Everything it writes is in the scene.
    fn launch(&self) -> Launch {
        let launch = Launch::bare(SKILLCELL).with_home(&self.path("home")).folder(self.folder.path());
        launch.env("TMPDIR", &self.path("home").display().to_string())
    }

    /// Runs a command with the fault.
    fn harm(&self, launch: Launch) -> Output {
        without_panics(launch.with_faults(&self.faults).output())
    }

    /// Runs a command without it.
    fn spare(launch: Launch) -> Output {
        without_panics(launch.output())
    }

    /// Whether the process was killed by the fault.
    fn is_killed(&self) -> bool {
        self.faults.struck().is_some() && self.fault.is_some_and(Fault::kills)
    }

    /// Whether what was begun cannot be cleaned up.
    fn is_hopeless(&self) -> bool {
        let is_removal = self.faults.struck().is_some_and(|call| call.kind == skillcell_tests::faults::Kind::Remove);
        self.is_killed() || self.fault == Some(Fault::BrokenDisk) || is_removal
    }

    /// Checks that no temporary files are left below a folder, unless nothing could be done about them.
    fn assert_tidy(&self, folder: &str) {
        let is_temporary =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".skillcell-"));
        let left: Vec<PathBuf> = files_below(&self.path(folder)).into_iter().filter(is_temporary).collect();
        assert!(left.is_empty() || self.is_hopeless(), "{left:?} are left");
    }
}

fn without_panics(output: Output) -> Output {
    let log = error_text(&output);
    assert!(!log.contains("panicked"), "{log}");
    output
}

fn error_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The first warning or error in a log.
fn complaint(log: &str) -> Option<&str> {
    log.lines().find(|line| line.contains(" WARN ") || line.contains("ERROR") || line.starts_with("error"))
}

/// Runs a scenario that begins with some files, as `try_calls` does.
fn at_every_call(files: &[(&str, &str)], watched: &str, scenario: impl Fn(&Trial) + Sync) {
    try_calls(MAX_TRIALS, |folder| write_files(folder, files), watched, scenario);
}

#[expect(clippy::disallowed_methods, reason = "the switch of `just faults`")]
fn tries_every_call() -> bool {
    std::env::var("FAULTS").is_ok_and(|which| which == "all")
}

/// Runs a scenario without faults, to count its calls below the folder `watched`, and then once for each fault and call, but
/// at most `limit` calls.
fn try_calls(limit: usize, begin: impl Fn(&Path) + Sync, watched: &str, scenario: impl Fn(&Trial) + Sync) {
    let prepare = |fault: Option<(Fault, usize)>| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        begin(folder.path());
        let below = folder.path().join(watched);
        std::fs::create_dir_all(&below).expect("a writable folder");
        let faults = fault.map_or_else(|| Faults::none(&below), |(fault, nth)| Faults::at(fault, nth, &below));
        Trial { folder, fault: fault.map(|(fault, _)| fault), faults }
    };
    let counting = prepare(None);
    scenario(&counting);
    let limit = if tries_every_call() { usize::MAX } else { limit };
    let mut trials: Vec<(Fault, usize)> = Vec::new();
    for fault in Fault::ALL {
        let calls = counting.faults.concerned(fault);
        let count = calls.min(limit);
        trials.extend((0..count).map(|index| (fault, 1 + index * calls / count)));
    }
    assert!(!trials.is_empty(), "nothing was written");
    eprintln!("{watched}: {} calls, {} trials", counting.faults.calls().len(), trials.len());
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(order) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let trial = prepare(Some(*order));
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| scenario(&trial))) {
                        let text = panic.downcast_ref::<String>().map(String::as_str);
                        let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or("a panic").to_owned();
                        let call = trial.faults.struck().map(|call| format!("{:?} {}", call.kind, call.path.display()));
                        let call = call.unwrap_or_default().replace(&*trial.folder.path().to_string_lossy(), "");
                        failures.lock().unwrap().push(format!("{order:?} at {call}: {text}"));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(failures.is_empty(), "{} of {} trials failed:\n{}", failures.len(), trials.len(), failures.join("\n"));
}

/// A client that sends one request at a time, and goes on if the server is gone.
struct Conversation {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    log: File,
    next_id: u64,
    /// Its home is removed with it.
    _launch: Launch,
}

impl Conversation {
    fn start(mut launch: Launch) -> Self {
        let log = tempfile::tempfile().expect("a temporary file");
        let command = launch.command().stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(log.try_clone().expect("a descriptor")).spawn().expect("the server starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, input, output, log, next_id: 1, _launch: launch }
    }

    /// Calls a tool and returns the text of its last block, or of its error. Returns `None` if the server is gone.
    fn ask(&mut self, tool: &str, arguments: &Value) -> Option<String> {
        let id = self.next_id;
        self.next_id += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let _ = writeln!(self.input.as_mut().expect("it is open"), "{request}");
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("text");
            let message: Value = serde_json::from_str(&line).ok()?;
            if message["id"] == id {
                let last = message["result"]["content"].as_array().and_then(|blocks| blocks.last());
                return Some(
                    last.map_or(message.to_string(), |block| block["text"].as_str().unwrap_or_default().into()),
                );
            }
        }
    }

    /// Closes the input, waits for the end, and returns the log.
    fn end(mut self) -> String {
        drop(self.input.take());
        self.child.wait().expect("a child");
        let mut log = String::new();
        self.log.rewind().expect("a file");
        self.log.read_to_string(&mut log).expect("text");
        assert!(!log.contains("panicked"), "{log}");
        log
    }
}
