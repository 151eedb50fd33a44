//! Parses what a question asks for.

use integration_kit::words::{Rule, Vocabulary, Words, asks_for_a_change, choose};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub topic: Topic,
    pub scope: Scope,
    pub runs: Runs,
    /// The name of a workflow or job, if the question is limited to it.
    pub part: Option<String>,
    /// A note on ignored words.
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    FailedJobs,
    FailedTests,
    Runs,
    FailedRuns,
    Status,
}

/// Which build is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The build of the branch that is checked out, or of the commit for a detached head.
    Here,
    Branch(String),
    /// A commit by a prefix of its hash, or the one that is checked out.
    Commit(Option<String>),
    Pipeline(u64),
    Job(u64),
}

/// The extent of a list of pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs {
    pub max: usize,
    pub everywhere: bool,
}

/// Number of pipelines listed by default.
const DEFAULT_RUNS: usize = 10;

const VOCABULARY: Vocabulary = Vocabulary {
    concepts: &[
        ("runs", &["builds", "pipelines", "runs", "history", "pipeline runs", "ci runs", "build runs"]),
        ("test", &["test", "spec", "test case", "unit test", "testcase", "assertion"]),
        (
            "failed",
            &[
                "failed",
                "fail",
                "failing",
                "failure",
                "broken",
                "broke",
                "break",
                "red",
                "error",
                "errored",
                "unsuccessful",
                "not pass",
                "not passing",
                "not passed",
                "not green",
                "went wrong",
                "wrong",
                "crashed",
                "timed out",
            ],
        ),
        ("why", &["why", "reason", "cause", "how come", "error message", "failure message", "message", "stack trace"]),
        (
            "passed",
            &[
                "pass",
                "passing",
                "passed",
                "green",
                "succeed",
                "succeeded",
                "success",
                "successful",
                "ok",
                "okay",
                "fine",
            ],
        ),
        (
            "running",
            &[
                "running",
                "finished",
                "done",
                "complete",
                "completed",
                "pending",
                "in progress",
                "queued",
                "on hold",
                "stuck",
            ],
        ),
        ("status", &["status", "state", "outcome", "health", "result", "conclusion", "overview", "progress"]),
        ("ci", &["ci", "circleci", "circle ci", "circle", "continuous integration"]),
        ("job", &["job", "check", "step", "stage"]),
        ("workflow", &["workflow"]),
        ("build", &["build", "pipeline", "run"]),
        ("recent", &["recent", "recently", "last", "latest", "newest", "previous", "past", "most recent"]),
        ("branch", &["branch", "pr", "pull request", "mr", "merge request"]),
        ("commit", &["commit", "head", "sha", "revision", "push"]),
        (
            "everywhere",
            &["all branches", "every branch", "any branch", "each branch", "across branches", "all of the branches"],
        ),
    ],
    fillers: &[
        "code",
        "current",
        "duration",
        "far",
        "happened",
        "long",
        "my",
        "name",
        "number",
        "project",
        "ran",
        "repo",
        "repository",
        "so",
        "still",
        "take",
        "took",
        "trigger",
        "triggered",
        "yet",
    ],
};

const RULES: &[Rule<Topic>] = &[
    Rule {
        topic: Topic::FailedTests,
        needs: "test",
        may: "failed why passed running status ci job workflow build runs recent branch commit",
    },
    Rule {
        topic: Topic::FailedTests,
        needs: "why failed|ci|job|workflow|build",
        may: "runs recent branch commit status ci job workflow build failed",
    },
    Rule { topic: Topic::FailedRuns, needs: "runs failed", may: "ci recent branch everywhere build" },
    Rule { topic: Topic::FailedRuns, needs: "failed everywhere", may: "ci recent build job workflow runs branch" },
    Rule { topic: Topic::Runs, needs: "runs", may: "ci recent branch everywhere build status passed running workflow" },
    Rule { topic: Topic::Runs, needs: "everywhere", may: "ci recent build job workflow runs branch status" },
    Rule {
        topic: Topic::Status,
        needs: "failed passed",
        may: "ci job workflow build runs recent branch commit status running",
    },
    Rule {
        topic: Topic::FailedJobs,
        needs: "failed",
        may: "ci job workflow build runs recent branch commit status running",
    },
    Rule {
        topic: Topic::Status,
        needs: "status|passed|running",
        may: "ci job workflow build runs recent branch commit",
    },
    Rule { topic: Topic::Status, needs: "ci|build|job|workflow", may: "recent branch commit" },
];

/// Returns none if the question is not supported.
pub fn understand(question: &str) -> Option<Intent> {
    let mut words = Words::of(question);
    let before = words.remaining();
    if asks_for_a_change(&before) {
        return None;
    }
    let has = |word: &str| before.iter().any(|known| known == word || known.strip_suffix('s') == Some(word));
    let number = words.take_number(&["pipeline", "run", "build", "workflow", "job", "check"]);
    // CircleCI does not know pull requests by their number.
    if number.is_some() && ["pr", "pull", "mr", "merge"].into_iter().any(has) {
        return None;
    }
    let max = take_count(&mut words, &before);
    let scope = match number {
        Some(number) if has("job") || has("check") => Scope::Job(number),
        Some(number) => Scope::Pipeline(number),
        None => take_place(&mut words, &before),
    };
    let part = take_part(&mut words);
    let parsed = VOCABULARY.parse(&words);
    let topic = choose(RULES, &parsed)?;
    let scope = match scope {
        Scope::Here if parsed.has("commit") && !parsed.has("branch") => Scope::Commit(None),
        scope => scope,
    };
    let runs = Runs { max: max.unwrap_or(DEFAULT_RUNS), everywhere: parsed.has("everywhere") };
    Some(Intent { topic: narrowed(topic, &scope, part.is_some()), scope, runs, part, note: parsed.note() })
}

/// A list of pipelines makes no sense if one, or a part of one, is named.
fn narrowed(topic: Topic, scope: &Scope, names_part: bool) -> Topic {
    let names_one = names_part || matches!(scope, Scope::Pipeline(_) | Scope::Job(_) | Scope::Commit(_));
    match topic {
        Topic::Runs if names_one => Topic::Status,
        Topic::FailedRuns if names_one => Topic::FailedJobs,
        _ => topic,
    }
}

/// Takes the requested number, as in `the last 5 builds`, but not `the last 5 days`.
fn take_count(words: &mut Words, before: &[String]) -> Option<usize> {
    const UNITS: [&str; 5] = ["minute", "hour", "day", "week", "month"];
    if before.iter().any(|word| UNITS.contains(&word.strip_suffix('s').unwrap_or(word))) {
        return None;
    }
    let is_number = |word: &str| word.len() <= 3 && word.bytes().all(|byte| byte.is_ascii_digit());
    words.take(|word, _| is_number(word))?.parse().ok()
}

/// Takes the named commit or branch.
fn take_place(words: &mut Words, before: &[String]) -> Scope {
    let is_hex = |word: &str| (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_mixed = |word: &str| {
        word.bytes().any(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let after_commit = |before: Option<&str>| before.is_some_and(|word| word.eq_ignore_ascii_case("commit"));
    if let Some(commit) = words.take(|word, before| is_hex(word) && (is_mixed(word) || after_commit(before))) {
        return Scope::Commit(Some(commit.to_lowercase()));
    }
    match take_branch(words, before) {
        Some(branch) => Scope::Branch(branch),
        None => Scope::Here,
    }
}

/// As in `on branch main`, `on the main branch`, `on main` and `on feature/login`.
fn take_branch(words: &mut Words, before: &[String]) -> Option<String> {
    const OURS: [&str; 5] = ["this", "current", "my", "our", "same"];
    const COMMON_BRANCHES: [&str; 7] = ["main", "master", "develop", "dev", "trunk", "staging", "production"];
    let is_ours = before.windows(2).any(|pair| OURS.contains(&pair[0].as_str()) && pair[1] == "branch");
    if is_ours {
        return None;
    }
    let follows =
        |before: Option<&str>, words: &[&str]| before.is_some_and(|word| words.contains(&word.to_lowercase().as_str()));
    let is_common = |word: &str| COMMON_BRANCHES.contains(&word.to_lowercase().as_str());
    let found =
        words.take_after(&["branch"], is_name).or_else(|| words.take_before(&["branch"], is_name)).or_else(|| {
            words.take(|word, before| {
                (follows(before, &["on", "for", "of", "in"]) && is_common(word))
                    || (follows(before, &["on"]) && word.contains('/'))
            })
        });
    found.map(str::to_owned)
}

/// As in `workflow build-and-test` and `the deploy job`.
fn take_part(words: &mut Words) -> Option<String> {
    const PARTS: [&str; 2] = ["workflow", "job"];
    const COUNTING: [&str; 7] = ["each", "every", "first", "second", "single", "slowest", "whole"];
    let is_part =
        |word: &str| (is_name(word) || word.contains(['-', '_'])) && !COUNTING.contains(&word.to_lowercase().as_str());
    words.take_after(&PARTS, is_part).or_else(|| words.take_before(&PARTS, is_part)).map(str::to_owned)
}

/// Whether a word next to `branch` can only be its name.
fn is_name(word: &str) -> bool {
    const KINDS: [&str; 9] = ["default", "feature", "git", "local", "other", "remote", "today", "topic", "yesterday"];
    !KINDS.contains(&word.to_lowercase().as_str()) && !VOCABULARY.parse(&Words::of(word)).unknown.is_empty()
}

#[cfg(test)]
mod tests;
