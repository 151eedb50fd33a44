//! A server process, and a conversation with it.

use crate::{MAX_WAIT, PATIENCE, SOON};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::fs::{File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How a server or another command is started.
pub struct Launch {
    command: Command,
    /// A home folder of its own, which isolates tests from each other and from the machine.
    home: TempDir,
}

impl Launch {
    /// Runs `skillcell serve` in a clean environment.
    pub fn new(binary: impl AsRef<Path>) -> Self {
        Self::bare(binary).arg("serve")
    }

    /// Runs the binary in a clean environment, without a subcommand.
    pub fn bare(binary: impl AsRef<Path>) -> Self {
        let mut command = Command::new(binary.as_ref());
        for name in
            ["SKILLS_DIR", "SKILLS_REPO", "SKILLCELL_CONFIG", "SKILLCELL_LOG", "MAX_FILE_SIZE_MB", "ANALYTICS_ENDPOINT"]
        {
            command.env_remove(name);
        }
        for name in ["SKILLS_BRANCH", "REFRESH_INTERVAL_MINUTES", "PIP_INDEX_URL", "PIP_CERT"] {
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

    /// The home folder, with the configuration, the records and the cache.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Uses a home folder that several servers share.
    pub fn with_home(mut self, home: &Path) -> Self {
        self.command.env("HOME", home).env_remove("XDG_CACHE_HOME");
        self
    }

    /// Writes the operator's configuration.
    pub fn config(self, yaml: &str) -> Self {
        let folder = self.home.path().join(".config/skillcell");
        std::fs::create_dir_all(&folder).expect("a writable home");
        let file = folder.join("config.yaml");
        std::fs::write(&file, yaml).expect("a writable home");
        // Whatever the umask is: others must not be able to change it.
        std::fs::set_permissions(file, Permissions::from_mode(0o644)).expect("a writable home");
        self
    }

    pub fn folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Gives access to the command, for what only one test needs.
    pub fn command(&mut self) -> &mut Command {
        &mut self.command
    }

    /// Shares compiled code with other tests, so that each component is compiled once.
    pub fn with_shared_cache(mut self) -> Self {
        let settings = self.home.path().join(".config/skillcell");
        std::fs::create_dir_all(&settings).expect("a writable home");
        // The server trusts only code that its own key signed.
        let key = settings.join("cache.key");
        std::fs::write(&key, [1; 32]).expect("a writable home");
        std::fs::set_permissions(&key, Permissions::from_mode(0o600)).expect("a writable home");
        self.command.env("XDG_CACHE_HOME", Path::new(env!("COMPONENTS")).join("compiled"));
        self
    }

    /// Runs as the user `nobody` if the test runs as root, which no permission stops.
    pub fn unprivileged(mut self) -> Self {
        const NOBODY: u32 = 65_534;
        let output = Command::new("id").arg("-u").output().expect("every Unix has `id`");
        if output.stdout.starts_with(b"0") {
            self.command.uid(NOBODY).gid(NOBODY).env_remove("HOME");
        }
        self
    }

    /// Runs the command to completion.
    pub fn output(mut self) -> std::process::Output {
        self.command.stdin(Stdio::null()).output().expect("the program starts")
    }

    /// Starts the server without sending anything.
    pub fn silent(mut self) -> Session {
        let log = Log::default();
        let piped = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log.writer());
        let mut child = piped.spawn().expect("the server starts");
        let (sender, messages) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                // Anything else on standard output is a bug that tests must see.
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"not a message": line}));
                if sender.send(message).is_err() {
                    break;
                }
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
            asked: HashMap::new(),
            slowest: Duration::ZERO,
            log: Mutex::new(log),
            home: self.home,
        }
    }

    /// Starts the server and completes the handshake.
    pub fn start(self) -> Session {
        let mut session = self.silent();
        session.initialize("2025-11-25");
        session
    }

    /// Starts the server for a client of the stateless revision, which has no handshake.
    pub fn modern(self) -> Session {
        let mut session = self.silent();
        session.stateless = true;
        session
    }
}

/// A running server. Killed when the value is dropped.
pub struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    /// In a lock only so that several threads can share a session.
    messages: Mutex<Receiver<Value>>,
    /// Answers that arrived before they were waited for.
    early: HashMap<String, Value>,
    /// Notifications that were not consumed yet.
    notices: VecDeque<Value>,
    /// Whether each request carries everything about the client.
    stateless: bool,
    next_id: u64,
    /// When requests were sent that have no answer yet.
    asked: HashMap<String, Instant>,
    /// The longest that an answer took since `fresh` began.
    slowest: Duration,
    log: Mutex<Log>,
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

    /// Sends a request and waits for its answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.answer(&id)
    }

    /// Returns the result of a request that must succeed.
    #[expect(clippy::needless_pass_by_value, reason = "tests read better without `&`")]
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params.clone());
        assert!(answer["result"].is_object(), "{method} {params}: {answer:.2000}");
        answer["result"].take()
    }

    /// Returns the error of a request that must fail.
    #[expect(clippy::needless_pass_by_value, reason = "tests read better without `&`")]
    pub fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.request(method, params.clone());
        assert!(answer["error"]["code"].is_i64(), "{method} {params}: {answer:.2000}");
        answer["error"].take()
    }

    /// Returns the pages of a list, each as one result.
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

    /// Returns the items of a list, from all its pages.
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
        self.asked.insert(id.to_string(), Instant::now());
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Returns what `ask` does, and asks again if an answer took so long that the server may have stopped waiting for the
    /// disk: such an answer need not be fresh.
    pub fn fresh<T>(&mut self, mut ask: impl FnMut(&mut Self) -> T) -> T {
        // Answers about one skill wait less than others. Quick answers of both kinds are fresh.
        const QUICK: Duration = Duration::from_millis(200);
        const TRIES: usize = 20;
        let began = Instant::now();
        for attempt in 0.. {
            self.slowest = Duration::ZERO;
            let answer = ask(self);
            let limit = if attempt < TRIES { QUICK } else { MAX_WAIT };
            if self.slowest < limit {
                return answer;
            }
            assert!(began.elapsed() < PATIENCE, "every answer takes {MAX_WAIT:?}; log:\n{}", self.log());
        }
        unreachable!("it returns or panics")
    }

    /// Calls a tool and returns the `result`, or the whole message if it is an error.
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

    /// Returns all skills, page by page.
    pub fn all_skills(&mut self) -> Vec<Value> {
        let mut skills = Vec::new();
        loop {
            let page = self.call_json("skills_list", json!({"offset": skills.len()}));
            skills.extend(page["skills"].as_array().unwrap_or_else(|| panic!("no skills: {page}")).iter().cloned());
            if page.get("note").is_none() {
                return skills;
            }
        }
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
        let answer = self.early.remove(&id.to_string()).unwrap_or_else(|| {
            loop {
                let message = self.next_message();
                if message["id"] == *id {
                    break message;
                }
                self.keep(message);
            }
        });
        if let Some(asked) = self.asked.remove(&id.to_string()) {
            self.slowest = self.slowest.max(asked.elapsed());
        }
        answer
    }

    /// Whether the answer to a request arrived before the message that was received last.
    pub fn is_answered(&self, id: &Value) -> bool {
        self.early.contains_key(&id.to_string())
    }

    /// Waits for the next notification with this method. Keeps everything else.
    pub fn notification(&mut self, method: &str) -> Value {
        loop {
            if let Some(place) = self.notices.iter().position(|notice| notice["method"] == method) {
                return self.notices.remove(place).expect("it was just found");
            }
            let message = self.next_message();
            self.keep(message);
        }
    }

    /// Waits for the next notification of any method. Keeps answers.
    pub fn notice(&mut self) -> Value {
        while self.notices.is_empty() {
            let message = self.next_message();
            self.keep(message);
        }
        self.notices.pop_front().expect("it was just received")
    }

    fn keep(&mut self, message: Value) {
        if message.get("id").is_none() && message.get("method").is_some() {
            self.notices.push_back(message);
        } else {
            self.early.insert(message["id"].to_string(), message);
        }
    }

    /// Waits for the next message of the server.
    pub fn next_message(&mut self) -> Value {
        match self.messages.get_mut().expect("no thread panicked with it").recv_timeout(PATIENCE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("no message in {PATIENCE:?}; log:\n{}", self.log()),
            Err(RecvTimeoutError::Disconnected) => panic!("the server ended; log:\n{}", self.log()),
        }
    }

    /// Receives messages until the server closes its output.
    pub fn remaining_messages(&mut self) -> Vec<Value> {
        let messages = self.messages.get_mut().expect("no thread panicked with it");
        let mut received = Vec::new();
        loop {
            match messages.recv_timeout(PATIENCE) {
                Ok(message) => received.push(message),
                Err(RecvTimeoutError::Disconnected) => return received,
                Err(RecvTimeoutError::Timeout) => panic!("the output stays open for {PATIENCE:?}"),
            }
        }
    }

    /// Everything that the server has logged. What it logged before it sent a message is there when the message is.
    pub fn log(&self) -> String {
        self.log.lock().expect("no thread panicked with it").text().to_owned()
    }

    /// Waits until the log contains a text.
    pub fn wait_for_log(&self, text: &str) {
        self.wait_for_log_that(text, |log| log.contains(text));
    }

    /// Waits until a condition on the log holds.
    pub fn wait_for_log_that(&self, what: &str, holds: impl Fn(&str) -> bool) {
        let began = Instant::now();
        let mut log = self.log.lock().expect("no thread panicked with it");
        while !holds(log.text()) {
            assert!(began.elapsed() < PATIENCE, "`{what}` was never logged:\n{}", log.text());
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the client is of the stateless revision.
    pub fn is_stateless(&self) -> bool {
        self.stateless
    }

    /// Sends a signal such as `TERM`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.process_id().to_string()]).status();
        assert!(sent.expect("every Unix has `kill`").success());
    }

    /// Closes the input, as a client that exits does.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Kills the server, as a crash would, and returns the messages that it had sent.
    pub fn kill(mut self) -> Vec<Value> {
        self.child.kill().expect("a child");
        let messages = self.messages.get_mut().expect("no thread panicked with it");
        let said = messages.iter().chain(self.early.drain().map(|(_, message)| message)).collect();
        self.child.wait().expect("a child");
        said
    }

    /// Waits for the server to exit by itself.
    pub fn wait(&mut self) -> (ExitStatus, Duration) {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return (status, began.elapsed());
            }
            assert!(began.elapsed() < PATIENCE, "the server runs for another {PATIENCE:?}; log:\n{}", self.log());
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// Waits for the server to exit with success, without waiting for anything that hangs.
    pub fn exits_soon(&mut self) {
        let (status, took) = self.wait();
        assert!(status.success() && took < SOON, "{status} after {took:?}; log:\n{}", self.log());
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The standard error of a server, in a file: unlike a pipe it has no reader that can fall behind.
struct Log {
    file: File,
    /// How much of the file was read.
    read: u64,
    /// The end of the file, if it is the beginning of a character.
    rest: Vec<u8>,
    text: String,
}

impl Default for Log {
    fn default() -> Self {
        let file = tempfile::tempfile().expect("a temporary file");
        Self { file, read: 0, rest: Vec::new(), text: String::new() }
    }
}

impl Log {
    fn writer(&self) -> File {
        self.file.try_clone().expect("a file descriptor")
    }

    /// Reads what was added to the file.
    fn text(&mut self) -> &str {
        let mut buffer = [0; 1 << 14];
        // Reads at a position, because the server writes at the position that both share.
        while let Ok(length @ 1..) = self.file.read_at(&mut buffer, self.read) {
            self.read += length as u64;
            self.rest.extend_from_slice(&buffer[..length]);
        }
        let complete = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        self.text.push_str(&String::from_utf8_lossy(&self.rest[..complete]));
        self.rest.drain(..complete);
        &self.text
    }
}
