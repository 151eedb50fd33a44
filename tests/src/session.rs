//! A server process, and a conversation with it.

use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything a test waits for, on the slowest machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// How a server is started.
pub struct Launch {
    command: Command,
    /// A home of its own, so that no test sees another or the machine's.
    home: TempDir,
}

impl Launch {
    /// `skillcell serve` with nothing known of the machine it runs on.
    pub fn new(binary: impl AsRef<Path>) -> Self {
        Self::bare(binary).arg("serve")
    }

    /// The same without a command.
    pub fn bare(binary: impl AsRef<Path>) -> Self {
        let mut command = Command::new(binary.as_ref());
        for name in
            ["SKILLS_DIR", "SKILLS_REPO", "SKILLCELL_CONFIG", "SKILLCELL_LOG", "MAX_FILE_SIZE_MB", "ANALYTICS_ENDPOINT"]
        {
            command.env_remove(name);
        }
        for name in ["SKILLS_BRANCH", "REFRESH_INTERVAL_MINUTES"] {
            command.env_remove(name);
        }
        for name in ["GITHUB_TOKEN", "CIRCLECI_TOKEN", "LINEAR_API_KEY", "SKILLCELL_GATEWAY_TOKEN"] {
            command.env_remove(name);
        }
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
        let home = tempfile::tempdir().expect("a temporary folder");
        command.env("HOME", home.path());
        Self { command, home }
    }

    pub fn arg(mut self, argument: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// The home of this server, where its configuration, its records and its cache are.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Uses a home that several servers share.
    pub fn with_home(mut self, home: &Path) -> Self {
        self.command.env("HOME", home);
        self
    }

    /// Writes the operator's configuration.
    pub fn config(self, yaml: &str) -> Self {
        let folder = self.home.path().join(".config/skillcell");
        std::fs::create_dir_all(&folder).expect("a writable home");
        std::fs::write(folder.join("config.yaml"), yaml).expect("a writable home");
        self
    }

    pub fn folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// What will be run, for what only one test needs.
    pub fn command(&mut self) -> &mut Command {
        &mut self.command
    }

    /// Runs as the user `nobody` where the test runs as root, whom no permission stops.
    pub fn unprivileged(mut self) -> Self {
        const NOBODY: u32 = 65_534;
        let output = Command::new("id").arg("-u").output().expect("every Unix has `id`");
        if output.stdout.starts_with(b"0") {
            self.command.uid(NOBODY).gid(NOBODY).env_remove("HOME");
        }
        self
    }

    /// Runs a command to its end.
    pub fn output(mut self) -> std::process::Output {
        self.command.stdin(Stdio::null()).output().expect("the program starts")
    }

    /// Starts the server and says nothing to it yet.
    pub fn silent(mut self) -> Session {
        let piped = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the server starts");
        let (sender, messages) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                // Anything on standard output that is no message is a mistake that tests must see.
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"not a message": line}));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let log = Arc::new((Mutex::new(String::new()), Condvar::new()));
        let theirs = Arc::clone(&log);
        let mut stderr = child.stderr.take().expect("piped");
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stderr.read(&mut buffer) {
                theirs.0.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..length]));
                theirs.1.notify_all();
            }
        });
        let stdin = child.stdin.take();
        Session {
            child,
            stdin,
            messages: Mutex::new(messages),
            early: HashMap::new(),
            notices: VecDeque::new(),
            stateless: false,
            next_id: 1,
            log,
            home: self.home,
        }
    }

    /// Starts the server and shakes hands.
    pub fn start(self) -> Session {
        let mut session = self.silent();
        session.initialize("2025-11-25");
        session
    }

    /// Starts the server for a client of the revision without a handshake.
    pub fn modern(self) -> Session {
        let mut session = self.silent();
        session.stateless = true;
        session
    }
}

/// A running server. Ends with the value.
pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    /// Behind a lock only so that several threads can look at one session.
    messages: Mutex<Receiver<Value>>,
    /// Answers that came before they were waited for.
    early: HashMap<String, Value>,
    /// Notifications that nobody waited for yet.
    notices: VecDeque<Value>,
    /// Whether each request says everything about the client.
    stateless: bool,
    next_id: u64,
    log: Arc<(Mutex<String>, Condvar)>,
    home: TempDir,
}

impl Session {
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn initialize(&mut self, version: &str) -> Value {
        let client = json!({"name": "tests", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = self.request("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// Sends a request and waits for its whole answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.answer(&id)
    }

    /// The result of a request that must not fail.
    #[expect(clippy::needless_pass_by_value, reason = "tests read better without `&`")]
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params.clone());
        assert!(answer["result"].is_object(), "{method} {params}: {answer:.2000}");
        answer["result"].take()
    }

    /// The error of a request that must fail.
    #[expect(clippy::needless_pass_by_value, reason = "tests read better without `&`")]
    pub fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params.clone());
        assert!(answer["error"]["code"].is_i64(), "{method} {params}: {answer:.2000}");
        answer["error"].take()
    }

    /// The pages of a list, each as one result.
    pub fn pages(&mut self, method: &str) -> Vec<Value> {
        let mut pages = vec![self.result(method, json!({}))];
        let mut cursors = Vec::new();
        while let Some(cursor) = pages[pages.len() - 1].get("nextCursor").cloned() {
            assert!(!cursors.contains(&cursor), "{method} never ends");
            pages.push(self.result(method, json!({"cursor": cursor})));
            cursors.push(cursor);
        }
        pages
    }

    /// Everything that a list holds, from all its pages.
    pub fn all(&mut self, method: &str, field: &str) -> Vec<Value> {
        let mut pages = self.pages(method);
        let items = |page: &mut Value| match page[field].take() {
            Value::Array(items) => items,
            other => panic!("{method} has no list `{field}`: {other}"),
        };
        pages.iter_mut().flat_map(items).collect()
    }

    /// Sends a request without waiting; returns its id.
    pub fn post(&mut self, method: &str, mut params: Value) -> Value {
        let id = json!(self.next_id);
        self.next_id += 1;
        if let Some(params) = params.as_object_mut().filter(|_| self.stateless) {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "tests", "version": "1"});
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Calls a tool and returns the answer's `result`, or the whole message if it is an error.
    #[expect(clippy::needless_pass_by_value, reason = "tests read better without `&`")]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        answer.get("result").cloned().unwrap_or(answer)
    }

    /// Calls a tool whose last text is JSON.
    pub fn call_json(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        let blocks = result["content"].as_array().unwrap_or_else(|| panic!("no content: {result}"));
        let texts = blocks.iter().filter_map(|block| block["text"].as_str());
        let json = texts.filter_map(|text| serde_json::from_str(text).ok()).next_back();
        json.unwrap_or_else(|| panic!("no JSON: {result}"))
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    pub fn send_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().expect("input is open");
        stdin
            .write_all(line)
            .and_then(|()| stdin.write_all(b"\n"))
            .and_then(|()| stdin.flush())
            .expect("the server reads");
    }

    /// Waits for the answer to a request.
    pub fn answer(&mut self, id: &Value) -> Value {
        if let Some(answer) = self.early.remove(&id.to_string()) {
            return answer;
        }
        loop {
            let message = self.next_message();
            if message["id"] == *id {
                return message;
            }
            self.keep(message);
        }
    }

    /// Waits for the next notification with this method. Everything else is kept.
    pub fn notification(&mut self, method: &str) -> Value {
        loop {
            if let Some(place) = self.notices.iter().position(|notice| notice["method"] == method) {
                return self.notices.remove(place).expect("it was just found");
            }
            let message = self.next_message();
            self.keep(message);
        }
    }

    /// The next notification, whatever it says. Answers are kept.
    pub fn notice(&mut self) -> Value {
        while self.notices.is_empty() {
            let message = self.next_message();
            self.keep(message);
        }
        self.notices.pop_front().expect("one was waited for")
    }

    fn keep(&mut self, message: Value) {
        if message.get("id").is_none() && message.get("method").is_some() {
            self.notices.push_back(message);
        } else {
            self.early.insert(message["id"].to_string(), message);
        }
    }

    /// The next message of the server, whatever it is.
    pub fn next_message(&mut self) -> Value {
        match self.messages.get_mut().expect("no thread panicked with it").recv_timeout(PATIENCE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("no message in {PATIENCE:?}; log:\n{}", self.log()),
            Err(RecvTimeoutError::Disconnected) => panic!("the server ended; log:\n{}", self.log()),
        }
    }

    pub fn log(&self) -> String {
        self.log.0.lock().unwrap().clone()
    }

    /// Waits until the log contains a text.
    pub fn wait_for_log(&self, text: &str) {
        self.wait_for_log_that(text, |log| log.contains(text));
    }

    /// Waits until the log is as it should be.
    pub fn wait_for_log_that(&self, what: &str, holds: impl Fn(&str) -> bool) {
        let (log, changed) = &*self.log;
        let (log, timeout) = changed.wait_timeout_while(log.lock().unwrap(), PATIENCE, |log| !holds(log)).unwrap();
        assert!(!timeout.timed_out(), "`{what}` was never logged:\n{log}");
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it talks without a handshake.
    pub fn is_stateless(&self) -> bool {
        self.stateless
    }

    /// Sends a signal such as `TERM`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.process_id().to_string()]).status();
        assert!(sent.expect("every Unix has `kill`").success());
    }

    /// Ends the input, as a client does that goes away.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Ends the server as a crash does, and returns everything that it still said.
    pub fn kill(mut self) -> Vec<Value> {
        self.child.kill().expect("a child");
        let messages = self.messages.get_mut().expect("no thread panicked with it");
        let said = messages.iter().chain(self.early.drain().map(|(_, message)| message)).collect();
        self.child.wait().expect("a child");
        said
    }

    /// Waits for the server to end by itself.
    pub fn wait(&mut self) -> (ExitStatus, Duration) {
        let started = Instant::now();
        let status = self.child.wait().expect("a child");
        (status, started.elapsed())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
