//! Comments on a pull request: in its conversation, in reviews, and on lines of files.

use crate::hub::Hub;
use crate::people::author;
use crate::pull::{self, Pull};
use crate::topics::reviews;
use integration_kit::QueryError;
use integration_kit::json::{Json, Value};
use integration_kit::service::paging::Pages;
use integration_kit::text::{Answer, count};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of characters of one comment.
const COMMENT_CHARS: usize = 2_000;

pub fn answer(hub: &Hub, pull: &Pull) -> Result<String, QueryError> {
    let reviews = reviews::read(hub, pull)?;
    let comments = Comments::read(hub, pull, &reviews)?;
    let number = comments.number();
    let summary = if number == 0 { "No comments".to_owned() } else { count(number, "comment") };
    let by = hub.intent.person.as_deref().map(|person| format!(" with {person}")).unwrap_or_default();
    let mut answer =
        Answer::new(&format!("{summary}{by} on pull request {} of {}", pull::title(&pull.value), pull.repo));
    pull::introduce(hub, pull, &mut answer);
    comments.show(hub, &mut answer, true);
    Ok(answer.finish())
}

/// All comments on one pull request, or those by or to one person.
pub struct Comments<'a> {
    conversation: Vec<Value>,
    lines: Vec<Value>,
    /// Reviews with a text.
    summaries: Vec<&'a Value>,
    cut: bool,
}

impl<'a> Comments<'a> {
    pub fn read(hub: &Hub, pull: &Pull, reviews: &'a Pages) -> Result<Self, QueryError> {
        let (repo, number) = (&pull.repo, pull.number);
        hub.progress(&format!("reading comments of pull request #{number}"));
        let what = format!("comments of pull request #{number} of {repo}");
        let conversation = hub.list(&repo.path(&format!("/issues/{number}/comments")), "", &what)?;
        let lines = hub.list(&repo.path(&format!("/pulls/{number}/comments")), "", &what)?;
        let cut = conversation.cut || lines.cut || reviews.cut;
        let summaries = reviews.items.iter().filter(|review| review.text("body").is_some()).collect();
        let mut comments = Self { conversation: conversation.items, lines: lines.items, summaries, cut };
        if let Some(person) = &hub.intent.person {
            comments.keep(person);
        }
        hub.progress(&format!("arranging {}", count(comments.number(), "comment")));
        Ok(comments)
    }

    pub fn show(&self, hub: &Hub, answer: &mut Answer, with_summaries: bool) {
        if !self.conversation.is_empty() {
            answer.section("Conversation");
            for comment in &self.conversation {
                add_comment(hub, answer, comment, "");
            }
        }
        if with_summaries && !self.summaries.is_empty() {
            answer.section("Reviews");
            for review in &self.summaries {
                add_comment(hub, answer, review, verdict(review));
            }
        }
        for thread in threads(&self.lines) {
            answer.section(&place(thread[0]));
            if let Some(code) = thread[0].text("diff_hunk").and_then(|hunk| hunk.lines().last()) {
                answer.code(code);
            }
            for (at, comment) in thread.iter().enumerate() {
                add_comment(hub, answer, comment, if at == 0 { "" } else { "replied" });
            }
        }
        answer.note_cut(self.cut, self.number(), "comments");
        if hub.intent.has("unresolved") && !self.lines.is_empty() {
            answer.note("GitHub's REST API does not report which threads are resolved, so all of them are shown.");
        }
    }

    fn number(&self) -> usize {
        self.conversation.len() + self.lines.len() + self.summaries.len()
    }

    /// Keeps the comments of a person, and the threads they take part in.
    fn keep(&mut self, person: &str) {
        let is_theirs = |comment: &Value| author(comment).eq_ignore_ascii_case(person);
        let theirs: BTreeSet<u64> = self.lines.iter().filter(|comment| is_theirs(comment)).map(thread).collect();
        self.lines.retain(|comment| theirs.contains(&thread(comment)));
        self.conversation.retain(is_theirs);
        self.summaries.retain(|review| is_theirs(review));
    }
}

/// Returns the number of the comment that started a thread.
fn thread(comment: &Value) -> u64 {
    comment.number("in_reply_to_id").or_else(|| comment.number("id")).unwrap_or_default()
}

/// Groups comments with their replies, sorted by file and line.
fn threads(comments: &[Value]) -> Vec<Vec<&Value>> {
    let mut threads: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for comment in comments {
        threads.entry(thread(comment)).or_default().push(comment);
    }
    let mut threads: Vec<_> = threads.into_values().collect();
    for thread in &mut threads {
        // The comment that started the thread is not a reply.
        thread.sort_by_key(|comment| (comment.number("in_reply_to_id").is_some(), comment.text("created_at")));
    }
    threads.sort_by_key(|thread| (thread[0].text("path"), line(thread[0])));
    threads
}

/// Returns the line of a comment, or its line before the file changed.
fn line(comment: &Value) -> Option<u64> {
    comment.number("line").or_else(|| comment.number("original_line"))
}

/// As in `src/login.rs, line 12` or `src/login.rs, lines 8 to 12 (outdated)`.
fn place(comment: &Value) -> String {
    let path = comment.text("path").unwrap_or("unknown file");
    let Some(end) = line(comment).filter(|_| comment.text("subject_type") != Some("file")) else {
        return format!("{path}, the whole file");
    };
    let outdated = if comment.number("line").is_none() { " (outdated: the code has changed since)" } else { "" };
    let start = comment.number("start_line").or_else(|| comment.number("original_start_line"));
    match start.filter(|start| *start < end) {
        Some(start) => format!("{path}, lines {start} to {end}{outdated}"),
        None => format!("{path}, line {end}{outdated}"),
    }
}

fn verdict(review: &Value) -> &'static str {
    match review.text("state").unwrap_or_default() {
        "APPROVED" => "approved",
        "CHANGES_REQUESTED" => "requested changes",
        "DISMISSED" => "gave a review that was dismissed",
        _ => "commented",
    }
}

fn add_comment(hub: &Hub, answer: &mut Answer, comment: &Value, did: &str) {
    let when = comment.text("created_at").or_else(|| comment.text("submitted_at"));
    let when = hub.age(when);
    let link = comment.text("html_url").map(|link| format!(": {link}")).unwrap_or_default();
    let did = if did.is_empty() { String::new() } else { format!(" {did}") };
    answer.item(&format!("{}{did}{when}{link}", author(comment)));
    answer.quote(comment.text("body").unwrap_or("(no text)"), COMMENT_CHARS);
}
