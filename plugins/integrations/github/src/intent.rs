//! Parses what a question asks for, and what it names.

use crate::rules::{RULES, Topic, VOCABULARY};
use integration_kit::words::fillers::FILLERS;
use integration_kit::words::{Parsed, Words, asks_for_a_change, choose};

/// A supported question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub topic: Topic,
    pub parsed: Parsed,
    pub number: Option<u64>,
    pub branch: Option<String>,
    pub commit: Option<String>,
    /// Owner and name.
    pub repository: Option<(String, String)>,
    pub person: Option<String>,
    pub label: Option<String>,
}

/// Words before a repository, as in `pull requests of octo-org/hello`.
#[rustfmt::skip]
const BEFORE_REPOSITORY: &[&str] = &[
    "of", "in", "for", "from", "on", "at", "repo", "repository", "project", "about", "describe", "show",
];

/// Common prefixes of branch names.
#[rustfmt::skip]
const BRANCH_FOLDERS: &[&str] = &[
    "bug", "bugfix", "chore", "ci", "dependabot", "docs", "feat", "feature", "fix", "hotfix", "perf", "refactor",
    "release", "renovate", "test", "user", "users", "wip",
];

/// Branches that are recognized without the word `branch`.
const COMMON_BRANCHES: &[&str] = &["main", "master", "develop", "trunk", "staging", "production"];

/// Words before a branch.
const BEFORE_BRANCH: &[&str] = &["on", "for", "of", "into", "from", "to", "is", "did", "does", "has"];

/// Sort orders, which follow `by` but are not people.
const ORDERS: &[&str] = &["age", "date", "time", "name", "file", "line", "size", "priority", "activity"];

impl Intent {
    /// Returns none if no rule matches the question.
    pub fn of(question: &str) -> Option<Self> {
        let mut words = Words::of(question);
        if asks_for_a_change(&words.remaining()) {
            return None;
        }
        let link = words.take(|word, _| Link::of(word).is_some()).and_then(Link::of);
        let branch = branch(&mut words);
        let commit = words.take(is_commit).map(str::to_lowercase);
        let named = words.take(|word, before| {
            is_repository(word)
                && before.is_some_and(|before| BEFORE_REPOSITORY.iter().any(|known| before.eq_ignore_ascii_case(known)))
        });
        let number = words.take_number(&["pr", "request", "mr", "issue", "ticket", "bug", "pull"]);
        let person = person(&mut words);
        let label = label(&mut words);

        let mut parsed = VOCABULARY.parse(&words);
        let number = number.or(link.and_then(|link| link.number));
        let found = [
            ("number", number.is_some()),
            ("branch", branch.is_some()),
            ("commit", commit.is_some()),
            ("person", person.is_some()),
            ("label", label.is_some()),
            ("pr", link.is_some_and(|link| link.kind == Some("pull"))),
            ("issue", link.is_some_and(|link| link.kind == Some("issues"))),
            // `this` alone is not a question, but a repository alone is.
            ("repository", named.is_some() || link.is_some()),
        ];
        parsed.concepts.extend(found.into_iter().filter(|(_, found)| *found).map(|(concept, _)| concept));
        let topic = choose(RULES, &parsed)?;
        let repository = named.and_then(|named| named.split_once('/')).or(link.map(|link| (link.owner, link.name)));
        Some(Self {
            topic,
            parsed,
            number,
            branch: branch.map(str::to_owned),
            commit,
            repository: repository.map(|(owner, name)| (owner.to_owned(), name.to_owned())),
            person,
            label,
        })
    }

    pub fn has(&self, concept: &str) -> bool {
        self.parsed.has(concept)
    }
}

fn branch<'a>(words: &mut Words<'a>) -> Option<&'a str> {
    let text = words.remaining().join(" ");
    if ["this branch", "current branch", "my branch", "default branch"].iter().any(|known| text.contains(known)) {
        return None;
    }
    let in_folder = |word: &str| word.split_once('/').is_some_and(|(folder, _)| BRANCH_FOLDERS.contains(&folder));
    words.take_after(&["branch"], is_name).or_else(|| words.take_before(&["branch"], is_name)).or_else(|| {
        words.take(|word, before| {
            let on = before.is_some_and(|before| BEFORE_BRANCH.contains(&before.to_lowercase().as_str()));
            on && (in_folder(word) || COMMON_BRANCHES.contains(&word))
        })
    })
}

/// `@ada`, `by ada` or `assigned to ada`.
fn person<'a>(words: &mut Words<'a>) -> Option<String> {
    let is_login = |word: &str| {
        is_name(word)
            && !ORDERS.contains(&word)
            && word.chars().all(|char| char.is_ascii_alphanumeric() || "-_[]".contains(char))
    };
    let is_mention = |word: &str| word.strip_prefix('@').is_some_and(|login| !login.is_empty() && !login.contains('/'));
    let assigned = words.remaining().join(" ").contains("assigned to");
    let after_to = |words: &mut Words<'a>| if assigned { words.take_after(&["to"], is_login) } else { None };
    let mentioned = words.take(|word, _| is_mention(word));
    let named = mentioned.or_else(|| words.take_after(&["by"], is_login)).or_else(|| after_to(words));
    named.map(|name| name.trim_start_matches('@').to_owned())
}

/// `labelled docs`, `label docs` or `the docs label`.
fn label(words: &mut Words) -> Option<String> {
    const LABELLED: &[&str] = &["label", "labelled", "labeled", "tagged"];
    let is_label = |word: &str| !word.is_empty() && !FILLERS.contains(&word) && !LABELLED.contains(&word);
    let label = words.take_after(LABELLED, is_label).or_else(|| words.take_before(&["label"], is_label))?;
    words.take(|word, _| LABELLED.contains(&word));
    Some(label.to_owned())
}

/// Whether a word can only be a name, because it has no other meaning here.
fn is_name(word: &str) -> bool {
    let lower = word.to_lowercase();
    let means_something = !VOCABULARY.parse(&Words::of(word)).concepts.is_empty();
    let is_filler =
        FILLERS.contains(&lower.as_str()) || (VOCABULARY.fillers.contains(&lower.as_str()) && lower != "main");
    !word.is_empty() && !is_filler && (!means_something || word.contains(['/', '_'])) && !word.starts_with(['#', '-'])
}

/// Whether a word is a prefix of a commit hash: after a word that says so, or because it can be nothing else.
fn is_commit(word: &str, before: Option<&str>) -> bool {
    let is_hexadecimal = (7..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_announced =
        before.is_some_and(|before| ["commit", "sha", "revision"].contains(&before.to_lowercase().as_str()));
    let is_mixed =
        word.bytes().any(|byte| byte.is_ascii_digit()) && word.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_hexadecimal && (is_announced || is_mixed)
}

fn is_repository(word: &str) -> bool {
    let legal = |part: &str| {
        !part.is_empty()
            && part.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char))
            && !part.starts_with('.')
    };
    word.split_once('/').is_some_and(|(owner, name)| legal(owner) && legal(name))
}

/// A URL of the website, as in `https://github.com/octo-org/hello/pull/42`.
#[derive(Debug, Clone, Copy)]
struct Link<'a> {
    owner: &'a str,
    name: &'a str,
    kind: Option<&'a str>,
    number: Option<u64>,
}

impl<'a> Link<'a> {
    fn of(word: &'a str) -> Option<Self> {
        let (has_scheme, rest) = match word.split_once("://") {
            Some((_, rest)) => (true, rest),
            None => (false, word),
        };
        let mut parts = rest.split(['/', '?', '#']);
        let host = parts.next()?;
        let (owner, name) = (parts.next()?, parts.next()?.trim_end_matches(".git"));
        let is_host = host.contains('.') && (has_scheme || host.starts_with("github.") || host.contains(".github."));
        let (kind, number) = (parts.next(), parts.next().and_then(|number| number.parse().ok()));
        let legal = is_host && !owner.is_empty() && !name.is_empty() && owner.is_ascii() && name.is_ascii();
        legal.then_some(Self { owner, name, kind: kind.filter(|_| number.is_some()), number })
    }
}
