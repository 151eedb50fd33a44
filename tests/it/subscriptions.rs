//! Telling clients that a list or a resource changed: in time, once, and only what they want to know.

mod lists;
mod listening;
mod restless;
mod updates;

use crate::resources::skill;
use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, write_files};
use std::path::Path;
use tempfile::TempDir;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const UPDATED: &str = "notifications/resources/updated";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A skill that every client of these tests watches. Its edits change no list, and when one is told, everything before it was
/// told as well.
const MARK: &str = "skill://mark";

const PDF: &str = "---\nname: pdf\ndescription: Read portable documents\n---\n\nUse the reader.\n";

/// A library, and a client that is told what happens in it.
struct Client {
    folder: TempDir,
    session: Session,
    edits: usize,
}

impl Client {
    /// One that shook hands.
    fn legacy(files: &[(&str, &str)]) -> Self {
        Self::launched(files, |launch| launch)
    }

    fn launched(files: &[(&str, &str)], how: impl FnOnce(Launch) -> Launch) -> Self {
        let folder = with_mark(files);
        let mut session = how(talkative(folder.path())).start();
        session.result("resources/subscribe", json!({"uri": MARK}));
        Self { folder, session, edits: 0 }
    }

    /// One without a handshake, which listens to this and to the mark. Returns the id of its subscription too.
    fn modern(files: &[(&str, &str)], mut filter: Value) -> (Self, Value) {
        let folder = with_mark(files);
        let mut session = talkative(folder.path()).modern();
        let uris = filter["resourceSubscriptions"].as_array().cloned().unwrap_or_default();
        filter["resourceSubscriptions"] = uris.into_iter().chain([json!(MARK)]).collect();
        session.result("prompts/list", json!({}));
        let id = listen(&mut session, &filter);
        (Self { folder, session, edits: 0 }, id)
    }

    /// Writes a file in one step, as editors do that write beside it and rename.
    fn put(&self, path: &str, text: &str) {
        put(self.folder.path(), path, text);
    }

    fn remove(&self, path: &str) {
        let path = self.folder.path().join(path);
        let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.unwrap();
    }

    /// Everything that was told since the last time, sorted: `tools`, `prompts` or `resources` for a list, else the URI.
    fn told(&mut self) -> Vec<String> {
        let mut told: Vec<String> = self.notices().iter().map(in_short).collect();
        told.sort();
        told
    }

    /// The same as it was sent.
    fn notices(&mut self) -> Vec<Value> {
        // A list is made from everything that changed so far, and so that is brought in before the mark.
        self.session.result("prompts/list", json!({}));
        self.wait_until_compared();
        let mut notices = Vec::new();
        // All resources that changed are told in one go, in any order. What came with the first mark is complete at the second.
        for _ in 0..2 {
            self.edits += 1;
            self.put("mark/SKILL.md", &skill("mark", &format!("edit {}", self.edits)));
            loop {
                let notice = self.session.notice();
                if notice["method"] == UPDATED && notice["params"]["uri"] == MARK {
                    break;
                }
                notices.push(notice);
            }
        }
        notices
    }
}

impl Client {
    /// Waits until the server has compared all lists that it answered with what it told: what it tells about them comes next.
    fn wait_until_compared(&mut self) {
        // The log is read by another thread. When it has this word, it has everything before it.
        const WORD: &str = "ignored a notification";
        let words = self.session.log().matches(WORD).count();
        self.session.send_line(br#"{"method": "nonsense"}"#);
        self.session.wait_for_log_that(WORD, |log| log.matches(WORD).count() > words);
        let newest = newest(&self.session.log(), "INFO generation ");
        self.session.wait_for_log_that("generation compared", |log| newest_compared(log) >= newest);
    }
}

fn newest_compared(log: &str) -> u64 {
    newest(log, "the lists of generation ")
}

/// The last number behind these words.
fn newest(log: &str, words: &str) -> u64 {
    let number = |rest: &str| rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok();
    log.rsplit(words).next().filter(|rest| rest.len() < log.len()).and_then(number).unwrap_or(0)
}

/// A server that logs what it compares.
fn talkative(folder: &Path) -> Launch {
    serve(folder).arg("--verbose")
}

fn with_mark(files: &[(&str, &str)]) -> TempDir {
    let folder = library(files);
    write_files(folder.path(), &[("mark/SKILL.md", &skill("mark", "edit 0"))]);
    folder
}

fn put(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    let above = file.parent().unwrap();
    std::fs::create_dir_all(above).unwrap();
    std::fs::write(above.join(".next"), text).unwrap();
    std::fs::rename(above.join(".next"), file).unwrap();
}

fn in_short(notice: &Value) -> String {
    let method = notice["method"].as_str().unwrap();
    match method.strip_prefix("notifications/").and_then(|method| method.strip_suffix("/list_changed")) {
        Some(list) => list.to_owned(),
        None if method == UPDATED => notice["params"]["uri"].as_str().unwrap().to_owned(),
        None => panic!("{notice}"),
    }
}

/// Begins to listen and waits until the server says that it does.
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

/// The answers to the three lists, in the order of their names.
fn lists(session: &mut Session) -> [(&'static str, Vec<Value>); 3] {
    ["prompts", "resources", "tools"].map(|list| (list, session.all(&format!("{list}/list"), list)))
}

/// A skill with files, a neighbour, and a tree skill with a parent.
fn watched_files() -> Vec<(&'static str, &'static str)> {
    let parent = "---\nkeywords: [r]\ndescription: Rules\n---\nBe kind.\n";
    let files = [("pdf/SKILL.md", PDF), ("pdf/a.txt", "a"), ("pdf/docs/deep/b.txt", "b"), ("_root.md", parent)];
    let other = ("other/SKILL.md", "---\nname: other\ndescription: d\n---\n");
    files.into_iter().chain([SMALL[0], other]).collect()
}
