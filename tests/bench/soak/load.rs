//! What clients, editors and pushers do during a soak, and what they check.

use crate::scene::Scene;
use serde_json::{Value, json};
use skillcell_tests::http::{Client, Connection, call};
use skillcell_tests::{MAX_WAIT, Numbers, PATIENCE, Session};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Scripts that run into a limit: skill, script without its extension, limit.
const LIMITS: [(&str, &str, &str); 13] = [
    ("hostile-python", "scripts/eat-memory.py", "memory"),
    ("hostile-python", "scripts/flood.py", "output"),
    ("hostile-python", "scripts/fill-bytes.py", "scratch"),
    ("hostile-python", "scripts/fill-files.py", "scratch"),
    ("hostile-javascript", "scripts/eat-memory.js", "memory"),
    ("hostile-javascript", "scripts/flood.js", "output"),
    ("hostile-javascript", "scripts/fill-bytes.js", "scratch"),
    ("hostile-javascript", "scripts/fill-files.js", "scratch"),
    ("hostile-shell", "scripts/flood.sh", "output"),
    ("hostile-shell", "scripts/fill-bytes.sh", "scratch"),
    ("hostile-shell", "scripts/fill-files.sh", "scratch"),
    ("spinning-shell", "scripts/spin.sh", "fuel"),
    ("hostile-shell", "scripts/spin.sh", "time"),
];

/// Scripts that succeed.
const SCRIPTS: [&str; 3] = ["a.py", "a.js", "a.sh"];

/// The load, and what came of it.
pub struct Load<'a> {
    scene: &'a Scene,
    is_over: AtomicBool,
    failures: Mutex<Vec<String>>,
    latencies: Mutex<Vec<Duration>>,
    work: Mutex<BTreeMap<&'static str, usize>>,
    /// Editions of the edited skill that may be on disk already, and that are for sure.
    begun: AtomicUsize,
    written: AtomicUsize,
}

/// A client, whatever its transport.
trait Ask {
    /// Calls a tool and returns its result.
    fn ask(&mut self, tool: &str, arguments: Value) -> Value;
}

impl Ask for Session {
    fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments)
    }
}

/// Uses a connection for each request.
impl Ask for Client {
    fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        result(self.call(1, tool, arguments))
    }
}

/// Uses one connection for many requests, and another if the server closed it: a busy machine can be idle for long.
struct Connected {
    client: Client,
    connection: Connection,
    id: u64,
}

impl Connected {
    fn new(client: Client) -> Self {
        Self { client, connection: client.connect(), id: 0 }
    }
}

impl Ask for Connected {
    fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        self.id += 1;
        let request = self.client.message("2025-11-25", &call(self.id, tool, &arguments));
        self.connection.send(&request);
        let reply = self.connection.next_reply().unwrap_or_else(|| {
            self.connection = self.client.connect();
            self.connection.send(&request);
            self.connection.reply()
        });
        result(reply.json())
    }
}

/// The result in an answer, or all of it if there is none.
fn result(mut answer: Value) -> Value {
    if answer["result"].is_object() { answer["result"].take() } else { answer }
}

impl<'a> Load<'a> {
    pub fn new(scene: &'a Scene) -> Self {
        Self {
            scene,
            is_over: AtomicBool::new(false),
            failures: Mutex::default(),
            latencies: Mutex::default(),
            work: Mutex::default(),
            begun: AtomicUsize::new(0),
            written: AtomicUsize::new(0),
        }
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub fn failures(&self) -> Vec<String> {
        self.failures.lock().expect("no thread panics with it").clone()
    }

    pub fn take_latencies(&self) -> Vec<Duration> {
        std::mem::take(&mut *self.latencies.lock().expect("no thread panics with it"))
    }

    /// How often each kind of work was done.
    pub fn work_done(&self) -> String {
        let mut text = String::from("| work | times |\n|---|---:|\n");
        for (kind, count) in &*self.work.lock().expect("no thread panics with it") {
            let _ = writeln!(text, "| {kind} | {count} |");
        }
        text
    }

    /// Starts the servers and the load, and stops both when `watch`, which gets the ids of both processes, returns.
    pub fn run(&self, watch: impl FnOnce([u32; 2])) {
        let mut http = self.scene.http();
        let mut stdio = self.scene.stdio();
        let client = *http;
        let processes = [http.session.process_id(), stdio.process_id()];
        std::thread::scope(|scope| {
            let workers: Vec<_> = vec![
                ("a reader", scope.spawn(|| self.worker(|| self.read_over_http(client, 1)))),
                ("another reader", scope.spawn(|| self.worker(|| self.read_over_http(client, 2)))),
                ("the client over stdio", scope.spawn(|| self.worker(|| self.read_over_stdio(&mut stdio)))),
                ("the runner of scripts", scope.spawn(|| self.worker(|| self.run_scripts(client)))),
                ("the editor", scope.spawn(|| self.worker(|| self.edit_files()))),
                ("the pusher", scope.spawn(|| self.worker(|| self.push_commits(client)))),
                ("the swapper of scorers", scope.spawn(|| self.worker(|| self.swap_scorers(client)))),
                ("the listener", scope.spawn(|| self.worker(|| self.listen(client)))),
                ("the visitor", scope.spawn(|| self.worker(|| self.visit()))),
            ];
            watch(processes);
            self.is_over.store(true, Ordering::Relaxed);
            // Wakes the listener.
            self.scene.edit(self.begun.fetch_add(1, Ordering::SeqCst) + 1);
            for (name, worker) in workers {
                if worker.join().is_err() {
                    self.fail(format!("{name} panicked; its message is above"));
                }
            }
        });
        stdio.close_input();
        stdio.exits_soon();
        http.session.signal("TERM");
        http.session.exits_soon();
    }

    /// Ends the load for all if this worker panics.
    fn worker(&self, work: impl FnOnce()) {
        struct EndOnDrop<'a>(&'a AtomicBool);
        impl Drop for EndOnDrop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _end = EndOnDrop(&self.is_over);
        work();
    }

    fn fail(&self, what: String) {
        self.failures.lock().expect("no thread panics with it").push(what);
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn check(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(what());
        }
    }

    /// Bounds the load.
    fn pause(&self, milliseconds: u64) {
        let end = Instant::now() + Duration::from_millis(milliseconds);
        while !self.is_over() && Instant::now() < end {
            let rest = end.saturating_duration_since(Instant::now());
            std::thread::park_timeout(rest.min(Duration::from_millis(500)));
        }
    }

    fn count(&self, kind: &'static str) {
        *self.work.lock().expect("no thread panics with it").entry(kind).or_default() += 1;
    }

    /// Calls a tool that only reads, and measures it.
    fn timed(&self, client: &mut impl Ask, tool: &str, arguments: Value) -> (Value, Duration) {
        let sent = Instant::now();
        let answer = client.ask(tool, arguments);
        let took = sent.elapsed();
        self.latencies.lock().expect("no thread panics with it").push(took);
        (answer, took)
    }

    /// Asks one of several questions, and checks the answer.
    fn read(&self, client: &mut impl Ask, numbers: &mut Numbers) {
        self.count("questions");
        match numbers.below(8) {
            0 => {
                let (answer, _) = self.timed(client, "skills_search", json!({"query": "edition"}));
                self.check(answer["isError"] != true, || format!("skills_search: {answer:.300}"));
            }
            1 => {
                let (answer, _) = self.timed(client, "skills_list", json!({}));
                let skills = answer["structuredContent"]["skills"].as_array().map_or(0, Vec::len);
                self.check(skills >= 200, || format!("skills_list has {skills} skills: {answer:.300}"));
            }
            2 => {
                let (answer, _) = self.timed(client, "get_skill", json!({"context": "grapes"}));
                self.check(answer["isError"] != true, || format!("get_skill: {answer:.300}"));
            }
            3 | 4 => {
                let known = self.written.load(Ordering::SeqCst);
                let (answer, took) = self.timed(client, "skill", json!({"name": "edited"}));
                let newest = self.begun.load(Ordering::SeqCst);
                let edition = number_after(&answer, "Edition ");
                let is_right =
                    edition.is_some_and(|edition| (took >= MAX_WAIT || edition >= known) && edition <= newest);
                self.check(is_right, || {
                    format!("edition {known} to {newest} is on disk, after {took:?} the answer is {answer:.300}")
                });
            }
            _ => {
                let name = format!("skill-{}", 2 * numbers.below(100));
                let (answer, _) = self.timed(client, "skill", json!({"name": name}));
                let is_right = text(&answer).starts_with(&format!("Loading: {name}\n"));
                self.check(is_right, || format!("skill {name}: {answer:.300}"));
            }
        }
    }

    fn read_over_http(&self, client: Client, seed: u64) {
        let mut numbers = Numbers(seed);
        while !self.is_over() {
            let mut connected = Connected::new(client);
            for _ in 0..100 {
                self.read(&mut connected, &mut numbers);
                self.pause(50);
                if self.is_over() {
                    return;
                }
            }
            // Leaves without waiting for the answer.
            self.count("clients that hang up");
            connected
                .connection
                .send(&client.message("2025-11-25", &call(0, "skills_list", &json!({"includeBody": true}))));
            connected.connection.hang_up();
        }
    }

    fn read_over_stdio(&self, session: &mut Session) {
        let mut numbers = Numbers(3);
        session.result("resources/subscribe", json!({"uri": "skill://edited"}));
        for round in 1_usize.. {
            if self.is_over() {
                return;
            }
            self.read(session, &mut numbers);
            if round.is_multiple_of(40) {
                self.run_well(session, round);
            }
            if round.is_multiple_of(100) {
                self.count("cancelled scripts");
                let arguments = json!({"skill_path": "hostile-shell", "file": "scripts/spin.sh", "args": {}});
                let id = session.post("tools/call", json!({"name": "run_script", "arguments": arguments}));
                session
                    .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
            }
            self.pause(100);
        }
    }

    fn run_well(&self, client: &mut impl Ask, round: usize) {
        self.count("scripts that succeed");
        let file = SCRIPTS[round / 40 % SCRIPTS.len()];
        let arguments = json!({"skill_path": "tool", "file": file, "args": {"n": round.to_string()}});
        let answer = client.ask("run_script", arguments);
        let is_right = parsed(&answer)["stdout"] == format!("ran {round}\n");
        self.check(is_right, || format!("{file} {round}: {answer:.600}"));
    }

    fn run_scripts(&self, mut client: Client) {
        for round in 0.. {
            self.pause(3_000);
            if self.is_over() {
                return;
            }
            let (skill, file, limit) = LIMITS[round % LIMITS.len()];
            self.count("scripts that hit a limit");
            let answer = client.ask("run_script", json!({"skill_path": skill, "file": file, "args": {}}));
            let hit = parsed(&answer)["limit_hit"].clone();
            // A busy machine may be too slow for the others.
            self.check(hit == limit || hit == "time", || format!("{file}: {limit}, not {hit}: {answer:.600}"));
            if round % 4 == 0 {
                self.count("modules that are compiled");
                self.scene.put_module(round);
                let arguments = json!({"skill_path": "tool", "file": "a.wasm", "args": {}});
                let answer = client.ask("run_script", arguments);
                self.check(parsed(&answer)["exit_code"] == 42, || format!("a.wasm: {answer:.600}"));
            }
            if round % 5 == 0 {
                self.count("refused scripts");
                let arguments = json!({"skill_path": "tool", "file": "../x.sh", "args": {}});
                let answer = client.ask("run_script", arguments);
                self.check(answer["isError"] == true, || format!("not refused: {answer:.600}"));
            }
        }
    }

    fn edit_files(&self) {
        let mut numbers = Numbers(4);
        for edition in 1.. {
            self.pause(200 + numbers.below(400) as u64);
            if self.is_over() {
                return;
            }
            self.count("edits");
            self.begun.store(edition, Ordering::SeqCst);
            self.scene.edit(edition);
            self.written.store(edition, Ordering::SeqCst);
            if edition % 8 == 0 {
                self.count("skills added or removed");
                self.scene.toggle(numbers.below(5));
            }
        }
    }

    fn push_commits(&self, mut client: Client) {
        for edition in 1.. {
            self.pause(10_000);
            if self.is_over() {
                return;
            }
            self.count("pushes");
            self.scene.push(edition);
            // Another refresh may be running, which began before the push.
            let began = Instant::now();
            loop {
                client.ask("refresh_skills", json!({}));
                let answer = client.ask("skill", json!({"name": "pushed"}));
                if number_after(&answer, "Commit ") == Some(edition) {
                    break;
                }
                if began.elapsed() > PATIENCE {
                    return self.fail(format!("commit {edition} is not served: {answer:.300}"));
                }
                self.pause(500);
            }
        }
    }

    fn swap_scorers(&self, mut client: Client) {
        for round in 0_usize.. {
            self.pause(15_000);
            if self.is_over() {
                return;
            }
            self.count("exchanged scorers");
            if round.is_multiple_of(4) {
                self.scene.put_invalid_scorer();
                self.pause(2_000);
            }
            let (edition, score) = if round.is_multiple_of(2) { (2, 0.8) } else { (1, 0.9) };
            self.scene.put_scorer(edition);
            let began = Instant::now();
            loop {
                let answer = client.ask("get_skill", json!({"context": "grapes"}));
                if parsed(&answer)["score"] == score || self.is_over() {
                    break;
                }
                if began.elapsed() > PATIENCE {
                    return self.fail(format!("edition {edition} of the scorer is not used: {answer:.300}"));
                }
                self.pause(500);
            }
        }
    }

    /// Listens for changes, and leaves after a few.
    fn listen(&self, client: Client) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "soak", "version": "1"},
        });
        let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["skill://edited"]});
        let params = json!({"notifications": filter, "_meta": meta});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
        while !self.is_over() {
            let mut connection = client.message("2026-07-28", &message).send();
            let head = connection.head();
            self.check(head.status == 200, || format!("subscriptions/listen: {head:?}"));
            for _ in 0..10 {
                if self.is_over() || connection.event().is_none() {
                    break;
                }
                self.count("notifications");
            }
            connection.hang_up();
        }
    }

    /// A client that starts a server of its own, asks and exits.
    fn visit(&self) {
        for round in 1_usize.. {
            self.pause(20_000);
            if self.is_over() {
                return;
            }
            self.count("servers that come and go");
            let mut session = self.scene.stdio();
            self.run_well(&mut session, 40 * round);
            session.close_input();
            session.exits_soon();
        }
    }
}

/// The first text of a result.
fn text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap_or_default()
}

/// The last text of a result that is JSON.
fn parsed(answer: &Value) -> Value {
    let blocks = answer["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.filter_map(|text| serde_json::from_str(text).ok()).next_back().unwrap_or_default()
}

fn number_after(answer: &Value, word: &str) -> Option<usize> {
    let (_, rest) = text(answer).rsplit_once(word)?;
    rest.split('.').next()?.parse().ok()
}
