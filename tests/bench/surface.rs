//! The speed of answers, over stdio and over HTTP with many concurrent clients: `just bench`.
//!
//! The round trip to another process costs the same on any server, so figures are printed next to those of `cat`.
//! `--seconds N` sets how long the load lasts.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde_json::{Value, json};
use skillcell_tests::http::{HttpServer, call};
use skillcell_tests::measure::{median, memory, shown};
use skillcell_tests::{Launch, write_library};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

/// Requests that are sent one at a time, and pipelined ones.
const SEQUENTIAL: usize = 2_000;
const PIPELINED: usize = 50_000;

/// Requests that are sent with several in flight, of libraries of these sizes.
const IN_FLIGHT: usize = 16;
const IN_FLIGHT_REQUESTS: usize = 20_000;
const SIZES: [usize; 3] = [10, 10_000, 100_000];

/// Clients of the load over HTTP.
const CLIENTS: usize = 64;

fn main() {
    let seconds = std::env::args().skip_while(|argument| argument != "--seconds").nth(1);
    let seconds = seconds.map_or(30, |text| text.parse().expect("a number of seconds"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_library(folder.path(), 1_000);
    over_stdio(folder.path());
    in_flight();
    over_http(folder.path(), Duration::from_secs(seconds));
}

fn over_stdio(library: &Path) {
    println!("stdio, 1,000 skills");
    let mut echo = Pipe::start(Command::new("cat"));
    let line = request(0, "tools/call", &json!({"name": "skill", "arguments": {"name": "x"}}));
    let echo_time = median((0..SEQUENTIAL).map(|_| echo.timed(&line)).collect());
    row("a line to `cat` and back, median", &shown(echo_time));

    let mut command = Command::new(SKILLCELL);
    command.args(["serve", "--quiet"]).arg(library).env("HOME", library);
    let mut server = Pipe::start(command);
    server.initialize();
    let names = server.names();
    let skill = |number: usize| {
        let name = &names[number * 7 % names.len()];
        request(number + 1_000, "tools/call", &json!({"name": "skill", "arguments": {"name": name}}))
    };
    let times: Vec<Duration> = (0..SEQUENTIAL).map(|number| server.timed(&skill(number))).collect();
    let one = median(times);
    let ratio = one.as_secs_f64() / echo_time.as_secs_f64();
    row("`skill`, one at a time, median", &format!("{} ({ratio:.1} x `cat`)", shown(one)));
    let list = request(1, "tools/list", &json!({}));
    row("`tools/list` with its catalog, median", &shown(median((0..500).map(|_| server.timed(&list)).collect())));

    let lines: Vec<u8> = (0..PIPELINED).flat_map(skill).collect();
    let rate = server.rate(&lines, PIPELINED);
    let echo_rate = echo.rate(&lines, PIPELINED);
    row("`skill`, pipelined", &format!("{rate:.0} a second (`cat` {echo_rate:.0})"));
}

/// Asks for skills with several requests in flight, of libraries of several sizes.
fn in_flight() {
    println!("\nstdio, `skill` of one skill after the other, {IN_FLIGHT} requests in flight");
    let mut smallest: Option<(f64, f64)> = None;
    for skills in SIZES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        write_library(folder.path(), skills);
        let mut command = Command::new(SKILLCELL);
        command.args(["serve", "--quiet"]).arg(folder.path()).env("HOME", folder.path());
        let mut server = Pipe::start(command);
        server.initialize();
        let names = server.names();
        let lines: Vec<Vec<u8>> = (0..IN_FLIGHT_REQUESTS)
            .map(|number| {
                let name = &names[number * 7_919 % names.len()];
                request(number + 1_000, "tools/call", &json!({"name": "skill", "arguments": {"name": name}}))
            })
            .collect();
        // The second engine is ready when the server has been idle for a moment.
        skillcell_tests::eventually("an idle server", || is_idle(server.child.id()));
        let before = processor_time(server.child.id());
        let rate = server.rate_in_flight(&lines);
        let time = (processor_time(server.child.id()) - before) / count_of(lines.len());
        let (first_rate, first_time) = *smallest.get_or_insert((rate, time));
        let figure = format!(
            "{rate:.0} a second ({:.0} % of the smallest), {:.1} µs of CPU each ({:.2} x), {:.0} MB",
            100.0 * rate / first_rate,
            time * 1e6,
            time / first_time,
            memory(server.child.id()),
        );
        row(&format!("{skills} skills"), &figure);
    }
}

/// Whether a process uses no processor for a while.
fn is_idle(process: u32) -> bool {
    let before = processor_time(process);
    std::thread::park_timeout(Duration::from_millis(300));
    processor_time(process) - before < 0.01
}

/// Returns the seconds of processor time that a process used.
fn processor_time(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("the process runs");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("a name").split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("a number");
    (ticks(11) + ticks(12)) / 100.0
}

fn over_http(library: &Path, time: Duration) {
    println!("\nHTTP, {CLIENTS} clients at once for {} s", time.as_secs());
    let server = Launch::new(SKILLCELL).arg("--quiet").arg(library).http();
    let names = names_over_http(&server);
    let (answers, errors) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_over = AtomicBool::new(false);
    let mut early = 0.0;
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (names, server, answers, errors, is_over) = (&names, &server, &answers, &errors, &is_over);
            scope.spawn(move || {
                let mut connection = server.connect();
                let mut number = client;
                while !is_over.load(Ordering::Relaxed) {
                    let name = &names[number % names.len()];
                    let id = u64::try_from(number).unwrap_or(0);
                    connection.send(&server.message("2025-11-25", &call(id, "skill", &json!({"name": name}))));
                    let reply = connection.reply();
                    let is_right = reply.status == 200 && reply.body.contains(&format!("Loading: {name}\\n"));
                    (if is_right { answers } else { errors }).fetch_add(1, Ordering::Relaxed);
                    number += CLIENTS;
                }
            });
        }
        // The measurement begins when the clients have been served a few times.
        while answers.load(Ordering::Relaxed) < 10 * CLIENTS {
            std::thread::yield_now();
        }
        let started = Instant::now();
        // A load test has to wait.
        let wait = |until: Duration| std::thread::park_timeout(until.saturating_sub(started.elapsed()));
        wait(Duration::from_secs(1));
        early = memory(server.session.process_id());
        while started.elapsed() < time {
            wait(time);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let late = memory(server.session.process_id());
    let answers = answers.load(Ordering::Relaxed);
    let rate = rate(answers, time);
    row("answers", &format!("{answers} ({rate:.0} a second)"));
    row("errors", &errors.load(Ordering::Relaxed).to_string());
    row("memory after one second, and at the end", &format!("{early:.1} MB, {late:.1} MB"));
}

fn names_over_http(server: &HttpServer) -> Vec<String> {
    let answer = server.call(1, "skills_list", json!({}));
    names_in(&answer)
}

fn names_in(answer: &Value) -> Vec<String> {
    let skills = answer["result"]["structuredContent"]["skills"].as_array().expect("a list of skills");
    skills.iter().map(|skill| skill["meta"]["name"].as_str().expect("a name").to_owned()).collect()
}

/// A process that answers lines.
struct Pipe {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Pipe {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::with_capacity(1 << 20, child.stdout.take().expect("piped"));
        Self { child, input, output }
    }

    fn initialize(&mut self) {
        let client = json!({"name": "bench", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.ask(&request(0, "initialize", &params));
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.input.write_all(format!("{initialized}\n").as_bytes()).expect("the server reads");
    }

    fn names(&mut self) -> Vec<String> {
        let list = request(0, "tools/call", &json!({"name": "skills_list", "arguments": {}}));
        names_in(&serde_json::from_str(&self.ask(&list)).expect("JSON"))
    }

    fn ask(&mut self, line: &[u8]) -> String {
        self.input.write_all(line).expect("the process reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("the process answers");
        answer
    }

    fn timed(&mut self, line: &[u8]) -> Duration {
        let started = Instant::now();
        self.ask(line);
        started.elapsed()
    }

    /// Returns the answers per second if all requests are written without waiting.
    fn rate(&mut self, lines: &[u8], count: usize) -> f64 {
        let started = Instant::now();
        std::thread::scope(|scope| {
            let input = &mut self.input;
            scope.spawn(move || input.write_all(lines).expect("the process reads"));
            let mut answered = 0;
            let mut buffer = vec![0; 1 << 20];
            while answered < count {
                let length = self.output.read(&mut buffer).expect("the process answers");
                assert!(length > 0, "the process ended");
                answered += buffer[..length].split(|byte| *byte == b'\n').count() - 1;
            }
        });
        rate(count, started.elapsed())
    }
}

impl Pipe {
    /// Returns the answers per second with a few requests in flight.
    fn rate_in_flight(&mut self, lines: &[Vec<u8>]) -> f64 {
        let started = Instant::now();
        let mut answer = String::new();
        for sent in 0..lines.len() + IN_FLIGHT {
            if let Some(line) = lines.get(sent) {
                self.input.write_all(line).expect("the process reads");
            }
            if sent >= IN_FLIGHT {
                answer.clear();
                self.output.read_line(&mut answer).expect("the process answers");
                assert!(answer.contains("Loading: "), "{answer}");
            }
        }
        rate(lines.len(), started.elapsed())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn rate(count: usize, time: Duration) -> f64 {
    count_of(count) / time.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "a count of less than a billion")]
fn count_of(count: usize) -> f64 {
    count as f64
}

fn request(id: usize, method: &str, params: &Value) -> Vec<u8> {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).into_bytes()
}

fn row(what: &str, figure: &str) {
    println!("  {what:<44} {figure}");
}
