//! The figures of the README, measured on this machine: `just bench`.
//!
//! Absolute times differ between machines, so each is printed next to the time to read the files, or next to the time of the
//! same engine without its sandbox.

#![expect(clippy::print_stdout, reason = "a report for people")]

use bindings::catalog::OperatorSettings;
use guests::engine::{EngineInstance, EngineWorld, Quarantine, Terms};
use guests::executor::Executor;
use library::{roots, scan, snapshot::Snapshot};
use rmcp::{ServerHandler, ServiceExt as _};
use scripts::Options as Scripts;
use serde_json::{Value, json};
use skillcell_tests::measure::{median, memory, shown, timed};
use skillcell_tests::{Launch, Session, files_below, native_catalog, write_library};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

/// Starts of the server for each figure, of which the median is printed.
const STARTS: usize = 7;

/// The argument with which this program is a server that does nothing, for comparison. As a program it is nearly as large.
const MINIMAL: &str = "--minimal-server";

struct Minimal;

impl ServerHandler for Minimal {}

fn main() {
    if std::env::args().any(|argument| argument == MINIMAL) {
        return minimal_server();
    }
    let size = std::fs::metadata(SKILLCELL).expect("the binary").len();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{cores} cores, binary of {:.1} MB\n", megabytes(size));
    for skills in [10, 1_000, 10_000, 100_000] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let library = folder.path().join("library");
        let task = write_library(&library, skills);
        println!("{skills} skills of 2 to 6 KB");
        measure_start(&library, &task);
        measure_answers(&library, &task);
        measure_calls(&library, &task);
        println!();
    }
}

fn minimal_server() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let session = Minimal.serve(rmcp::transport::stdio()).await.expect("a client");
        let _ = session.waiting().await;
    });
    runtime.shutdown_background();
}

/// Returns how long a server takes to answer `initialize`.
fn handshake(launch: Launch) -> (Session, Duration) {
    let started = Instant::now();
    let mut session = launch.silent();
    session.initialize("2025-11-25");
    (session, started.elapsed())
}

fn measure_start(library: &Path, task: &str) {
    let reading = median((0..STARTS).map(|_| timed(|| read_all(library))).collect());
    let this = std::env::current_exe().expect("the path of this program");
    let (mut handshakes, mut minimal, mut first_answers) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        minimal.push(handshake(Launch::bare(&this).arg(MINIMAL)).1);
        let started = Instant::now();
        let (mut session, time) = handshake(Launch::new(SKILLCELL).arg("--quiet").arg(library));
        handshakes.push(time);
        find(&mut session, task);
        first_answers.push(started.elapsed());
    }
    let (first, handshake, minimal) = (median(first_answers), median(handshakes), median(minimal));
    row("reading the files alone, one thread", &shown(reading));
    let ratio = handshake.as_secs_f64() / minimal.as_secs_f64();
    let figure = format!("{} ({ratio:.1} x a server without skills, {})", shown(handshake), shown(minimal));
    row("from start to `initialize` answered", &figure);
    let ratio = first.as_secs_f64() / reading.as_secs_f64();
    row("from start to first `get_skill` answered", &format!("{} ({ratio:.1} x reading)", shown(first)));
}

fn measure_answers(library: &Path, task: &str) {
    let mut session = Launch::new(SKILLCELL).arg("--verbose").arg(library).start();
    find(&mut session, task);
    session.wait_for_log("is in slot 0");
    session.wait_for_log("is in slot 1");
    row("memory with both engines ready", &format!("{:.0} MB", memory(session.process_id())));
    for (name, arguments) in [
        ("get_skill", json!({"context": task})),
        ("skills_search", json!({"query": "bade ta"})),
        ("skills_list", json!({})),
        ("list_skills", json!({})),
    ] {
        let times = (0..200).map(|_| timed(|| drop(session.call(name, arguments.clone())))).collect();
        row(&format!("`{name}`, question to answer over stdio"), &shown(median(times)));
    }
    row("memory after these questions", &format!("{:.0} MB", memory(session.process_id())));
}

/// Measures the engine's own time for a question, with and without the sandbox.
fn measure_calls(library: &Path, task: &str) {
    let mut engine = engine(library);
    let inside = bindings::catalog::Request { context: task.to_owned(), chosen: None };
    let catalog = native_catalog(library);
    let outside = skillcell_tests::Request { context: task.to_owned(), chosen: None };
    assert!(
        matches!(engine.find(&inside, None), Ok(Ok(bindings::catalog::Answer::Matched(_)))),
        "the task has an answer"
    );
    let sandboxed = median((0..500).map(|_| timed(|| drop(engine.find(&inside, None)))).collect());
    let native = median((0..500).map(|_| timed(|| drop(catalog.find(&outside, None)))).collect());
    let empty_call = median((0..500).map(|_| timed(|| drop(engine.problems(0)))).collect());
    let ratio = sandboxed.as_secs_f64() / native.as_secs_f64();
    row("matching in the engine component", &shown(sandboxed));
    row("matching in the same engine, native", &format!("{} (component {ratio:.2} x)", shown(native)));
    let share = 100.0 * empty_call.as_secs_f64() / sandboxed.as_secs_f64();
    row("one empty call over the border and back", &format!("{} ({share:.0} % of matching)", shown(empty_call)));
}

fn engine(library: &Path) -> EngineInstance {
    let choice = roots::RootOptions { given: vec![library.display().to_string()], ..roots::RootOptions::default() };
    let roots = roots::resolve(&choice).expect("a root").into();
    let terms = Terms {
        roots,
        quarantine: Arc::new(Quarantine::default()),
        file_limit: 1 << 20,
        operator: OperatorSettings {
            scripts: Scripts::default().terms(),
            max_size_bytes: 1 << 20,
            inline_text_max_bytes: None,
            min_score: None,
            ambiguity_threshold: None,
            max_results: None,
            default_max_results: 3,
            refresh_enabled: None,
            refresh_interval_minutes: None,
        },
        duplicates: bindings::catalog::Duplicates::Refuse,
    };
    let world =
        EngineWorld::bundled(Arc::new(Executor::for_engines(None).expect("a runtime"))).expect("the bundled engine");
    let mut engine = world.instantiate(&terms).expect("an engine");
    let scan = scan::scan(&terms.roots, &Snapshot::default(), terms.file_limit).ok().flatten().expect("a library");
    assert!(engine.update(Arc::new(scan.snapshot), &scan.changes).is_ok(), "the library is valid");
    engine
}

fn find(session: &mut Session, task: &str) -> Value {
    session.call("get_skill", json!({"context": task}))
}

/// Lists every folder and reads every file.
fn read_all(folder: &Path) {
    for file in files_below(folder) {
        std::hint::black_box(std::fs::read(file).expect("a readable file"));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size of a few megabytes")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn row(what: &str, figure: &str) {
    println!("  {what:<44} {figure}");
}
