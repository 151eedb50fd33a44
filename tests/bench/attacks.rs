//! What attacks cost: the memory of the server, and how long another client waits meanwhile: `just attacks`. Fails when a limit is
//! missed.

#![expect(clippy::print_stdout, reason = "a report for people")]

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use skillcell_tests::git_server::pack::{delta_bomb, delta_chain};
use skillcell_tests::git_server::{Fault, GitServer, On};
use skillcell_tests::http::{Client, Connection, HttpServer, call};
use skillcell_tests::measure::{peak_memory, shown};
use skillcell_tests::{Launch, Upstream, eventually, put_file, write_files};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

/// The other client waits no longer than this, 99 times in 100.
const MAX_P99: Duration = Duration::from_millis(50);

const MAX_PEAK_MIB: u64 = 512;

/// The other client pauses between questions, and asks at least this many. It does not ask as fast as it can, because most of its
/// questions would then be those that were answered fast.
const PAUSE: Duration = Duration::from_millis(5);
const MIN_QUESTIONS: usize = 300;

/// What the other client asks for.
const SMALL: [(&str, &str); 2] = [
    ("forms.md", "---\nkeywords: [form, validation]\ndescription: Forms\n---\n\nValidate on submit.\n"),
    ("pdf/SKILL.md", "---\nname: pdf\ndescription: Read portable documents\n---\n\nUse the reader.\n"),
];

fn main() -> ExitCode {
    let limit = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: limit, maximum: limit }).expect("the own maximum");
    println!("{:<46} {:>9} {:>9} {:>9} {:>9} {:>9}  peak", "attack", "took", "questions", "median", "p99", "longest");
    // `cargo bench` adds an option; a name selects attacks.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut table = Table { missed: 0 };
    for (name, attack) in ATTACKS {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted)) {
            attack(&mut table);
        }
    }
    if table.missed > 0 {
        println!("{} limits were missed", table.missed);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

type Attack = fn(&mut Table);

const ATTACKS: [(&str, Attack); 7] = [
    ("nothing", Table::nothing),
    ("programs", Table::programs),
    ("refused", Table::refused_calls),
    ("links", Table::links),
    ("packs", Table::packs),
    ("connections", Table::half_open_connections),
    ("waiting", Table::waiting_runs),
];

struct Table {
    /// The number of missed limits.
    missed: usize,
}

impl Table {
    /// Attacks a server while another client asks, and prints what came of it.
    fn measure(&mut self, what: &str, server: &HttpServer, attack: impl FnOnce(Client) + Send) {
        let client = **server;
        let is_over = AtomicBool::new(false);
        let (took, mut times) = std::thread::scope(|scope| {
            let other = scope.spawn(|| ask_until(client, &is_over));
            let started = Instant::now();
            attack(client);
            let took = started.elapsed();
            is_over.store(true, Ordering::Relaxed);
            (took, other.join().expect("an answer for the other client"))
        });
        times.sort_unstable();
        let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        let longest = times[times.len() - 1];
        let peak = peak_memory(server.session.process_id());
        let missed = p99 > MAX_P99 || peak > MAX_PEAK_MIB;
        self.missed += usize::from(missed);
        let columns = [shown(took), times.len().to_string(), shown(median), shown(p99), shown(longest)];
        let columns = columns.map(|column| format!("{column:>9}")).join(" ");
        println!("{what:<46} {columns}  {peak} MiB{}", if missed { "  MISSED" } else { "" });
    }

    fn nothing(&mut self) {
        let library = library(&[]);
        self.measure("nothing", &serve(library.path()).http(), |_| {});
    }

    fn programs(&mut self) {
        self.run_programs("programs that take long to compile: refused", 20, branchy);
        self.run_programs("programs that take long to compile: accepted", 4, many_functions);
    }

    /// Runs programs, each of them new to the cache.
    fn run_programs(&mut self, what: &str, count: usize, program: fn(usize) -> String) {
        let library = tool(&(0..count).map(|number| format!("{number}.wasm")).collect::<Vec<_>>());
        for number in 0..count {
            let bytes = wat::parse_str(program(number)).expect("valid text");
            assert!(bytes.len() < 200_000, "{} bytes", bytes.len());
            put_file(library.path(), &format!("tool/{number}.wasm"), bytes);
        }
        self.measure(what, &serve(library.path()).http(), |client| {
            for number in 0..count {
                for dry_run in [true, false] {
                    client.call(1, "run_script", run(&format!("{number}.wasm"), dry_run));
                }
            }
        });
    }

    /// Fills the record with refusals.
    fn refused_calls(&mut self) {
        let library = tool(&[]);
        let names: Value = (0..100).map(|number| (format!("{number}{}", "n".repeat(100)), json!("x"))).collect();
        let arguments = json!({"skill_path": "tool", "file": "../../x.sh", "args": names});
        let server = serve(library.path()).http();
        self.measure("5,200 refused calls with long arguments", &server, |client| {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let mut connection = client.connect();
                        for id in 0..1_300 {
                            connection.send(&client.message("2025-11-25", &call(id, "run_script", &arguments)));
                            assert_eq!(connection.reply().json()["result"]["isError"], true);
                        }
                    });
                }
            });
        });
    }

    /// Has many links followed into a chain of links, at the start, after changes, and by a script that lists them.
    fn links(&mut self) {
        let library = tool(&["list.py".to_owned()]);
        let inside = library.path().join("tool");
        write_files(
            &inside,
            &[("list.py", "import os\nprint(len(os.listdir('/skill/wide')))\n"), ("chain/x/end.md", "")],
        );
        for number in 0..38 {
            let next = if number == 37 { "x".to_owned() } else { format!("{}", number + 1) };
            symlink("x/../".repeat(31) + &next, inside.join(format!("chain/{number}"))).expect("a writable folder");
        }
        std::fs::create_dir(inside.join("wide")).expect("a writable folder");
        for number in 0..30_000 {
            symlink("../chain/0", inside.join(format!("wide/{number}.md"))).expect("a writable folder");
        }
        let server = serve(library.path()).http();
        self.measure("30,000 links into a chain of 38", &server, |client| {
            for round in 0..3 {
                write_files(&inside, &[("wide/new.md", &format!("{round}\n"))]);
                client.call(1, "refresh_skills", json!({}));
                client.call(2, "run_script", run("list.py", false));
            }
        });
    }

    /// Fetches packs that are small and expand.
    fn packs(&mut self) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let upstream = Upstream::with(folder.path(), "skills", &SMALL);
        let remote = GitServer::http(folder.path());
        let server = Launch::new(SKILLCELL).folder(folder.path()).env("SKILLS_REPO", &remote.url("skills")).http();
        eventually("the skills are cloned", || is_answered(*server));
        let packs = [delta_bomb(), delta_chain()];
        self.measure("git packs of some KB that are gigabytes", &server, |client| {
            for (number, pack) in packs.into_iter().enumerate() {
                upstream.push("main", &[("new.md", &format!("{number}\n"))]);
                remote.misbehave(On::Pack, Fault::Pack(pack));
                let refused = client.call(1, "refresh_skills", json!({}));
                assert!(
                    refused.to_string().contains("the limit is") || refused.to_string().contains("more than"),
                    "{refused}"
                );
            }
        });
    }

    /// Opens connections that never send a whole request with a token.
    fn half_open_connections(&mut self) {
        let library = library(&[]);
        let server = serve(library.path()).http();
        let without_token = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n";
        let texts = ["", "POST /mcp HTTP/1.1\r\nHost: loc", without_token];
        self.measure("1,500 half-open connections, thrice", &server, |client| {
            for _ in 0..3 {
                let open = |number: usize| {
                    let mut connection = client.connect();
                    connection.write(texts[number % texts.len()].as_bytes());
                    connection
                };
                let half_open: Vec<Connection> = (0..1_500).map(open).collect();
                // They stay for a while.
                pause(100);
                drop(half_open);
            }
        });
    }

    /// Has runs of large scripts wait for a slot.
    fn waiting_runs(&mut self) {
        let large = "# padding that makes the script as large as one may be\n".repeat(76_000);
        let scripts: Vec<String> = (0..50).map(|number| format!("{number}.sh")).collect();
        let library = tool(&[&scripts[..], &["spin.sh".to_owned()]].concat());
        for script in &scripts {
            put_file(library.path(), &format!("tool/{script}"), &large);
        }
        put_file(library.path(), "tool/spin.sh", "while :; do :; done\n");
        let server = serve(library.path())
            .config("scripts: {runs_at_once: 1, timeout_seconds: 600, fuel: 1000000000000}\n")
            .http();
        self.measure("300 waiting runs of scripts of 4 MiB", &server, |client| {
            let post = |script: &str| client.message("2025-11-25", &call(1, "run_script", &run(script, false))).send();
            let spinning = post("spin.sh");
            let waiting: Vec<Connection> = (0..300).map(|number| post(&scripts[number % scripts.len()])).collect();
            pause(400);
            // The runs end with their connections.
            drop((waiting, spinning));
        });
    }
}

/// Asks until the attack is over, and returns how long each answer took.
fn ask_until(client: Client, is_over: &AtomicBool) -> Vec<Duration> {
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) || times.len() < MIN_QUESTIONS {
        let started = Instant::now();
        assert!(is_answered(client), "a wrong answer");
        times.push(started.elapsed());
        pause(1);
    }
    times
}

#[expect(clippy::disallowed_methods, reason = "what happens in a time is measured")]
fn pause(times: u32) {
    std::thread::sleep(times * PAUSE);
}

fn is_answered(client: Client) -> bool {
    client.call(1, "get_skill", json!({"context": "form validation"})).to_string().contains("Validate on submit.")
}

fn serve(folder: &Path) -> Launch {
    Launch::new(SKILLCELL).arg(folder)
}

fn run(script: &str, dry_run: bool) -> Value {
    json!({"skill_path": "tool", "file": script, "args": {}, "dry_run": dry_run})
}

fn library(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_files(folder.path(), &[&SMALL[..], files].concat());
    folder
}

/// A library with a skill that declares these scripts.
fn tool(scripts: &[String]) -> TempDir {
    let declared: String =
        scripts.iter().map(|script| format!("  - {{file: {script}, execution: server}}\n")).collect();
    let text = format!("---\nname: tool\ndescription: Tools\nscripts:\n{declared}---\n");
    library(&[("tool/SKILL.md", &text)])
}

/// A function with many locals that are changed on one side of many branches.
fn branchy(number: usize) -> String {
    let branch = |local: usize| format!("(if (local.get 0) (then (local.set {local} (i32.const {number}))))");
    let branches: String = (0..10_000).map(|at| branch(at % 1_000)).collect();
    let uses: String = (0..1_000).map(|local| format!("(drop (local.get {local}))")).collect();
    format!("(module (func (export \"_start\") (local {}) {branches} {uses}))", "i32 ".repeat(1_000))
}

/// As many functions as are accepted, each of which can be called from outside.
fn many_functions(number: usize) -> String {
    let functions = "(func)".repeat(19_999);
    let elements: String = (0..19_999).map(|at| format!("{at} ")).collect();
    let start = format!("(func (export \"_start\") (drop (i32.const {number})))");
    format!("(module {functions} {start} (table 19999 funcref) (elem (i32.const 0) func {elements}))")
}
