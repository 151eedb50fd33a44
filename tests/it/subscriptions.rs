//! Notifications that a list or a resource changed: once, and only those that a client asked for.

mod lists;
mod listening;
mod constant_changes;
mod updates;

use crate::resources::skill;
use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, put_file, write_files};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const UPDATED: &str = "notifications/resources/updated";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A skill that every client of these tests subscribes to. Its edits change no list. When the notification of an edit arrives,
/// all earlier ones were sent.
const FENCE: &str = "skill://fence";

/// The debounce of list changes.
const DEBOUNCE: Duration = Duration::from_millis(500);

const PDF: &str = "---\nname: pdf\ndescription: Read portable documents\n---\n\nUse the reader.\n";

/// A library, and a client that gets notifications about it.
struct Client {
    folder: TempDir,
    session: Session,
    edits: usize,
}

impl Client {
    /// Starts a client with a handshake.
    fn legacy(files: &[(&str, &str)]) -> Self {
        Self::with_launch(files, |launch| launch)
    }

    fn with_launch(files: &[(&str, &str)], configure: impl FnOnce(Launch) -> Launch) -> Self {
        let folder = library_with_fence(files);
        let mut session = configure(serve_verbose(folder.path())).start();
        session.result("resources/subscribe", json!({"uri": FENCE}));
        Self::when_ready(folder, session)
    }

    /// Starts a client without a handshake that listens to this and to the fence. Returns the id of its subscription as well.
    fn modern(files: &[(&str, &str)], mut filter: Value) -> (Self, Value) {
        let folder = library_with_fence(files);
        let mut session = serve_verbose(folder.path()).modern();
        let uris = filter["resourceSubscriptions"].as_array().cloned().unwrap_or_default();
        filter["resourceSubscriptions"] = uris.into_iter().chain([json!(FENCE)]).collect();
        session.result("prompts/list", json!({}));
        let id = listen(&mut session, &filter);
        (Self::when_ready(folder, session), id)
    }

    /// Returns a client once the server announces changes of its lists.
    fn when_ready(folder: TempDir, session: Session) -> Self {
        wait_until_announcing(&session);
        Self { folder, session, edits: 0 }
    }

    /// Writes a file in one step.
    fn put(&self, path: &str, text: &str) {
        put_file(self.folder.path(), path, text);
    }

    fn remove(&self, path: &str) {
        let path = self.folder.path().join(path);
        let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.unwrap();
    }

    /// Returns all notifications since the last call, sorted: `tools`, `prompts` or `resources` for a list, else the URI.
    fn notified(&mut self) -> Vec<String> {
        let mut notified: Vec<String> = self.notifications().iter().map(summarize).collect();
        notified.sort();
        notified
    }

    /// Returns all notifications since the last call, in order.
    fn notifications(&mut self) -> Vec<Value> {
        self.wait_until_settled();
        let mut notifications = Vec::new();
        // Changed resources are notified together, in any order. All notifications of the first fence were sent at the second.
        for _ in 0..2 {
            self.edits += 1;
            self.put("fence/SKILL.md", &skill("fence", &format!("edit {}", self.edits)));
            loop {
                let notification = self.session.notice();
                if notification["method"] == UPDATED && notification["params"]["uri"] == FENCE {
                    break;
                }
                notifications.push(notification);
            }
        }
        notifications
    }

    /// Waits until the server has applied all changes and has compared its lists with those it announced last.
    fn wait_until_settled(&mut self) {
        // A list contains everything that changed before it was requested.
        self.session.fresh(|session| session.result("prompts/list", json!({})));
        let newest = newest(&self.session.log(), "INFO generation ");
        self.session.wait_for_log_that("generation compared", |log| newest_compared(log) >= newest);
    }

    /// Makes a change of many steps in each of several rounds, and checks that each of these lists is announced once for it.
    ///
    /// A change whose steps took longer than the debounce may be announced in parts: a busy machine may have paused the writer
    /// in the middle. Such a round is repeated. A shorter one is announced in parts only if the periodic rescan comes in the
    /// middle of it, which does not happen twice.
    fn assert_announced_once(&mut self, rounds: usize, lists: &[&str], mut change: impl FnMut(&mut Self, usize)) {
        const MAX_ROUNDS: usize = 30;
        let (mut done, mut split) = (0, 0);
        for round in 0..MAX_ROUNDS {
            self.wait_until_settled();
            let started = Instant::now();
            change(self, round);
            let was_quick = started.elapsed() < DEBOUNCE;
            let mut notified = self.notified();
            done += usize::from(notified == lists);
            split += usize::from(notified != lists && was_quick);
            notified.dedup();
            assert_eq!(notified, lists, "round {round}");
            assert!(split <= 1, "announced in parts in round {round}:\n{}", self.session.log());
            if done == rounds {
                return;
            }
        }
        panic!("announced at once only {done} times in {MAX_ROUNDS} rounds");
    }
}

/// Waits until a verbose server has its first lists: what changes from now on is announced.
pub fn wait_until_announcing(session: &Session) {
    session.wait_for_log_that("the first lists", |log| newest_compared(log) > 0);
}

fn newest_compared(log: &str) -> u64 {
    newest(log, "the lists of generation ")
}

/// The last number after this text.
fn newest(log: &str, prefix: &str) -> u64 {
    let number = |rest: &str| rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok();
    log.rsplit(prefix).next().filter(|rest| rest.len() < log.len()).and_then(number).unwrap_or(0)
}

/// Prepares a server that logs when it compares lists.
fn serve_verbose(folder: &Path) -> Launch {
    serve(folder).arg("--verbose")
}

fn library_with_fence(files: &[(&str, &str)]) -> TempDir {
    let folder = library(files);
    write_files(folder.path(), &[("fence/SKILL.md", &skill("fence", "edit 0"))]);
    folder
}

fn summarize(notification: &Value) -> String {
    let method = notification["method"].as_str().unwrap();
    match method.strip_prefix("notifications/").and_then(|method| method.strip_suffix("/list_changed")) {
        Some(list) => list.to_owned(),
        None if method == UPDATED => notification["params"]["uri"].as_str().unwrap().to_owned(),
        None => panic!("{notification}"),
    }
}

/// Begins to listen and waits for the acknowledgement.
fn listen(session: &mut Session, filter: &Value) -> Value {
    let id = session.post("subscriptions/listen", json!({"notifications": filter}));
    let first = session.notification(ACKNOWLEDGED);
    assert_eq!(first["params"]["notifications"], *filter, "{first}");
    assert_eq!(first["params"]["_meta"][SUBSCRIPTION], id, "{first}");
    id
}

fn cancel(session: &mut Session, id: &Value) {
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
}

/// Returns the answers to the three lists, sorted by name.
fn lists(session: &mut Session) -> [(&'static str, Vec<Value>); 3] {
    ["prompts", "resources", "tools"].map(|list| (list, session.all(&format!("{list}/list"), list)))
}

/// Returns a skill with files, another skill, and a tree skill with a parent.
fn watched_files() -> Vec<(&'static str, &'static str)> {
    let parent = "---\nkeywords: [r]\ndescription: Rules\n---\nBe kind.\n";
    let files = [("pdf/SKILL.md", PDF), ("pdf/a.txt", "a"), ("pdf/docs/deep/b.txt", "b"), ("_root.md", parent)];
    let other = ("other/SKILL.md", "---\nname: other\ndescription: d\n---\n");
    files.into_iter().chain([SMALL[0], other]).collect()
}
