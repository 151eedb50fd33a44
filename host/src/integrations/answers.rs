//! Answers that are given again for a short while.

use crate::git::context::Context;
use crate::sha256::Sha256;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most answers that are kept. Each has at most a hundred thousand characters.
const MOST: usize = 50;

/// Who was asked what, where.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Asked {
    integration: String,
    /// Of the component. Another one may answer otherwise.
    digest: Sha256,
    question: String,
    context: Context,
}

impl Asked {
    pub fn new(integration: &str, digest: Sha256, question: &str, context: &Context) -> Self {
        Self { integration: integration.to_owned(), digest, question: folded(question), context: context.clone() }
    }
}

/// A question without what makes no difference. Upper and lower case may: names of branches have both.
fn folded(question: &str) -> String {
    question.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What was answered of late.
pub struct Answers {
    /// How long an answer is good.
    pub time: Duration,
    kept: Mutex<HashMap<Asked, (Instant, String)>>,
}

impl Answers {
    pub fn new(time: Duration) -> Self {
        Self { time, kept: Mutex::default() }
    }

    /// An answer that is still good, and its age.
    pub fn get(&self, asked: &Asked) -> Option<(String, Duration)> {
        let kept = self.kept();
        let (since, text) = kept.get(asked)?;
        let age = since.elapsed();
        (age < self.time).then(|| (text.clone(), age))
    }

    pub fn keep(&self, asked: Asked, text: &str) {
        if self.time.is_zero() {
            return;
        }
        let mut kept = self.kept();
        kept.retain(|_, (since, _)| since.elapsed() < self.time);
        if kept.len() >= MOST {
            let oldest = kept.iter().min_by_key(|(_, (since, _))| *since).map(|(asked, _)| asked.clone());
            oldest.and_then(|oldest| kept.remove(&oldest));
        }
        kept.insert(asked, (Instant::now(), text.to_owned()));
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Asked, (Instant, String)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(question: &str, commit: &str) -> Asked {
        let context = Context { commit: Some(commit.to_owned()), ..Context::default() };
        Asked::new("github", Sha256::of(b"component"), question, &context)
    }

    #[test]
    fn the_same_question_at_the_same_commit_has_the_same_answer() {
        let answers = Answers::new(Duration::from_mins(1));
        answers.keep(asked("List open PRs", "a"), "none");
        let text = |asked: &Asked| answers.get(asked).map(|(text, _)| text);
        assert_eq!(text(&asked("  List open\nPRs ", "a")).as_deref(), Some("none"));
        let same = || asked("List open PRs", "a");
        let on_branch = Context { branch: Some("main".to_owned()), ..same().context };
        for other in [
            asked("List open PRs", "b"),
            asked("List PRs", "a"),
            asked("list open prs", "a"),
            Asked { integration: "linear".to_owned(), ..same() },
            Asked { digest: Sha256::of(b"another component"), ..same() },
            Asked { context: on_branch, ..same() },
        ] {
            assert_eq!(text(&other), None, "{other:?}");
        }
    }

    #[test]
    fn nothing_is_kept_for_longer_than_told_or_without_end() {
        let none = Answers::new(Duration::ZERO);
        none.keep(asked("q", "a"), "text");
        assert!(none.get(&asked("q", "a")).is_none() && none.kept().is_empty());
        let short = Answers::new(Duration::from_nanos(1));
        short.keep(asked("q", "a"), "text");
        assert!(short.get(&asked("q", "a")).is_none());
        let long = Answers::new(Duration::from_mins(1));
        for number in 0..MOST + 10 {
            long.keep(asked(&number.to_string(), "a"), "text");
        }
        assert_eq!(long.kept().len(), MOST);
        assert!(long.get(&asked("0", "a")).is_none() && long.get(&asked("59", "a")).is_some());
    }
}
