//! Recent answers, by question and state of the repository.

use base::digest::Sha256;
use git::context::Context;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Each answer has at most a hundred thousand characters.
const MAX_ANSWERS: usize = 50;

/// What an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    integration: String,
    /// Digest of the component. Another version may answer differently.
    digest: Sha256,
    question: String,
    context: Context,
}

impl Key {
    pub fn new(integration: &str, digest: Sha256, question: &str, context: &Context) -> Self {
        // White space is collapsed. Case is kept, because branch names are case-sensitive.
        let question = question.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { integration: integration.to_owned(), digest, question, context: context.clone() }
    }
}

pub struct AnswerCache {
    /// How long an answer is valid.
    pub ttl: Duration,
    entries: Mutex<HashMap<Key, (Instant, String)>>,
}

impl AnswerCache {
    pub fn new(ttl: Duration) -> Self {
        Self { ttl, entries: Mutex::default() }
    }

    /// Returns an answer that is still valid, and its age.
    pub fn get(&self, key: &Key) -> Option<(String, Duration)> {
        let entries = self.entries();
        let (since, text) = entries.get(key)?;
        let age = since.elapsed();
        (age < self.ttl).then(|| (text.clone(), age))
    }

    pub fn insert(&self, key: Key, text: &str) {
        if self.ttl.is_zero() {
            return;
        }
        let mut entries = self.entries();
        entries.retain(|_, (since, _)| since.elapsed() < self.ttl);
        if entries.len() >= MAX_ANSWERS {
            let oldest = entries.iter().min_by_key(|(_, (since, _))| *since).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| entries.remove(&oldest));
        }
        entries.insert(key, (Instant::now(), text.to_owned()));
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Key, (Instant, String)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(question: &str, commit: &str) -> Key {
        let context = Context { commit: Some(commit.to_owned()), ..Context::default() };
        Key::new("github", Sha256::of(b"component"), question, &context)
    }

    #[test]
    fn the_same_question_at_the_same_commit_has_the_same_answer() {
        let answers = AnswerCache::new(Duration::from_mins(1));
        answers.insert(key("List open PRs", "a"), "none");
        let text = |key: &Key| answers.get(key).map(|(text, _)| text);
        assert_eq!(text(&key("  List open\nPRs ", "a")).as_deref(), Some("none"));
        let same = || key("List open PRs", "a");
        let on_branch = Context { branch: Some("main".to_owned()), ..same().context };
        for other in [
            key("List open PRs", "b"),
            key("List PRs", "a"),
            key("list open prs", "a"),
            Key { integration: "linear".to_owned(), ..same() },
            Key { digest: Sha256::of(b"another component"), ..same() },
            Key { context: on_branch, ..same() },
        ] {
            assert_eq!(text(&other), None, "{other:?}");
        }
    }

    #[test]
    fn entries_expire_and_their_number_is_bounded() {
        let none = AnswerCache::new(Duration::ZERO);
        none.insert(key("q", "a"), "text");
        assert!(none.get(&key("q", "a")).is_none() && none.entries().is_empty());
        let short = AnswerCache::new(Duration::from_nanos(1));
        short.insert(key("q", "a"), "text");
        assert!(short.get(&key("q", "a")).is_none());
        let long = AnswerCache::new(Duration::from_mins(1));
        for number in 0..MAX_ANSWERS + 10 {
            long.insert(key(&number.to_string(), "a"), "text");
        }
        assert_eq!(long.entries().len(), MAX_ANSWERS);
        assert!(long.get(&key("0", "a")).is_none() && long.get(&key("59", "a")).is_some());
    }
}
