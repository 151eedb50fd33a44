//! Parses what a question asks for.

use crate::criteria::{Criteria, Cycle, Kind, Priority, State};
use integration_kit::words::{Parsed, Rule, Vocabulary, Words, asks_for_a_change, choose};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub topic: Topic,
    /// A note on ignored words.
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topic {
    /// One issue, as in `ENG-123`.
    Issue(String),
    /// The issue whose key is in the name of the branch.
    IssueOfBranch,
    Issues(Criteria),
    Search {
        term: String,
        criteria: Criteria,
    },
    Projects {
        name: Vec<String>,
        mine: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Branch,
    Issues,
    Projects,
}

const VOCABULARY: Vocabulary = Vocabulary {
    concepts: &[
        ("ours", &["my team", "our team", "my team s"]),
        (
            "mine",
            &[
                "my",
                "mine",
                "assigned to me",
                "am i",
                "do i",
                "should i",
                "i have",
                "i am",
                "on me",
                "for me",
                "i m",
                "did i",
                "on my plate",
                "have i",
            ],
        ),
        ("assigned", &["assigned", "assignment", "assignee", "assigned to me", "on my plate", "owned"]),
        ("unassigned", &["unassigned", "not assigned", "without assignee", "nobody", "no assignee", "no one"]),
        ("issue", &["issue", "ticket", "task", "story", "stories", "card", "item", "work", "todo list"]),
        ("bug", &["bug", "defect", "bug report"]),
        ("cycle", &["cycle", "sprint", "iteration"]),
        ("next", &["next", "upcoming", "coming"]),
        ("previous", &["previous", "last", "past"]),
        ("current", &["current", "active", "ongoing", "running"]),
        ("high", &["high priority", "high prio", "highest priority", "important", "critical", "severe", "high", "p1"]),
        ("urgent", &["urgent", "urgent priority", "blocker", "top priority", "p0"]),
        ("medium", &["medium priority", "medium", "normal priority"]),
        ("low", &["low priority", "low prio", "low"]),
        ("unranked", &["no priority", "without priority"]),
        (
            "open",
            &[
                "open",
                "unresolved",
                "not done",
                "not closed",
                "remaining",
                "outstanding",
                "unfinished",
                "left",
                "pending",
            ],
        ),
        ("started", &["in progress", "working on", "started", "work on", "in review"]),
        ("todo", &["to do", "todo", "unstarted", "not started"]),
        ("done", &["done", "completed", "closed", "finished", "resolved", "finish", "complete"]),
        ("canceled", &["canceled", "cancelled"]),
        ("backlog", &["backlog"]),
        ("triage", &["triage"]),
        ("project", &["project", "roadmap"]),
        (
            "status",
            &[
                "status",
                "state",
                "health",
                "update",
                "going",
                "overview",
                "progress",
                "doing",
                "lead",
                "on track",
                "at risk",
                "off track",
                "target date",
            ],
        ),
        ("team", &["team"]),
        ("branch", &["branch"]),
    ],
    fillers: &[
        "comment",
        "existing",
        "label",
        "labeled",
        "labelled",
        "labels",
        "linear",
        "new",
        "plan",
        "planned",
        "prio",
        "priority",
        "recent",
        "tag",
        "tagged",
        "tags",
        "title",
        "workspace",
    ],
};

const RULES: &[Rule<About>] = &[
    Rule { topic: About::Branch, needs: "issue|bug branch", may: "status mine current assigned" },
    Rule {
        topic: About::Issues,
        needs: "issue|bug",
        may: "ours mine assigned unassigned cycle next previous current high urgent medium low unranked open started \
              todo done canceled backlog triage project status team bug issue",
    },
    Rule {
        topic: About::Issues,
        needs: "cycle",
        may: "mine assigned unassigned next previous current high urgent medium low open started todo done status team",
    },
    Rule {
        topic: About::Issues,
        needs: "mine assigned|started|todo|open|high|urgent|backlog|done",
        may: "status current team assigned started todo open high urgent backlog done",
    },
    Rule {
        topic: About::Issues,
        needs: "unassigned|urgent|high|backlog|triage|started|assigned",
        may: "team open current",
    },
    Rule { topic: About::Projects, needs: "project", may: "status mine current open started team done previous" },
];

/// Phrases that introduce a search term.
const SEARCHES: [&str; 14] = [
    "related to",
    "relating to",
    "about",
    "regarding",
    "concerning",
    "mentioning",
    "that mention",
    "containing",
    "matching",
    "dealing with",
    "search for",
    "search linear for",
    "search issues for",
    "search",
];

/// Words about times, which are not search terms.
const TIMES: [&str; 18] = [
    "ago",
    "changed",
    "created",
    "day",
    "days",
    "due",
    "month",
    "months",
    "opened",
    "overdue",
    "recently",
    "since",
    "today",
    "tomorrow",
    "updated",
    "week",
    "weeks",
    "yesterday",
];

/// Returns none if the question is not supported.
pub fn understand(question: &str) -> Option<Intent> {
    let mut words = Words::of(question);
    if asks_for_a_change(&words.remaining()) {
        return None;
    }
    let term = words.take_rest(&SEARCHES).filter(|term| !is_empty_talk(term));
    if term.is_none()
        && let Some(key) = words.take(is_key)
    {
        return Some(Intent { topic: Topic::Issue(key.to_uppercase()), note: None });
    }
    let assignee = take_assignee(&mut words);
    let label = words.take_after(&["label", "labeled", "labelled", "tagged", "tag"], is_name).map(str::to_owned);
    let project = take_name(&mut words, "project");
    let team = take_name(&mut words, "team").or_else(|| take_team_key(&mut words));
    let parsed = VOCABULARY.parse(&words);
    let criteria = Criteria {
        assignee,
        label,
        team: team.map(|words| words.join(" ")),
        project: project.clone().unwrap_or_default(),
        ..criteria(&parsed)
    };
    if let Some(term) = term {
        let is_about_something_else = parsed.concepts.is_empty() && !parsed.unknown.is_empty();
        if is_about_something_else {
            return None;
        }
        let topic = Topic::Search { term, criteria };
        return Some(Intent { topic, note: parsed.note() });
    }
    let about = choose(RULES, &parsed)?;
    let (times, terms): (Vec<_>, Vec<_>) =
        parsed.unknown.iter().cloned().partition(|word| TIMES.contains(&word.as_str()));
    let other = Parsed { unknown: times, ..Parsed::default() };
    Some(match about {
        About::Branch => Intent { topic: Topic::IssueOfBranch, note: parsed.note() },
        About::Projects => {
            let name = project.into_iter().flatten().chain(parsed.unknown.iter().cloned()).collect();
            Intent { topic: Topic::Projects { name, mine: parsed.has("mine") }, note: None }
        }
        // `authentication issues` are issues related to authentication.
        About::Issues if !terms.is_empty() && !criteria.mine && criteria.cycle.is_none() => {
            Intent { topic: Topic::Search { term: terms.join(" "), criteria }, note: other.note() }
        }
        About::Issues => {
            let mut criteria = criteria;
            // A cycle is shown as a whole; other lists show open issues only.
            if criteria.cycle.is_none() {
                criteria.state = criteria.state.or(Some(State::Open));
            }
            Intent { topic: Topic::Issues(criteria), note: parsed.note() }
        }
    })
}

/// Converts the concepts of a question to criteria for issues.
fn criteria(parsed: &Parsed) -> Criteria {
    let first = |concepts: &[&str]| concepts.iter().position(|concept| parsed.has(concept));
    let cycle = if parsed.has("cycle") {
        Some(first(&["next", "previous"]).map_or(Cycle::Current, |at| [Cycle::Next, Cycle::Previous][at]))
    } else {
        None
    };
    let states =
        [State::Started, State::Todo, State::Done, State::Canceled, State::Backlog, State::Triage, State::Open];
    let state = first(&["started", "todo", "done", "canceled", "backlog", "triage", "open"]).map(|at| states[at]);
    let priorities = [Priority::Urgent, Priority::High, Priority::Medium, Priority::Low, Priority::None];
    Criteria {
        kind: if parsed.has("bug") { Kind::Bug } else { Kind::Issue },
        mine: parsed.has("mine"),
        unassigned: parsed.has("unassigned"),
        priority: first(&["urgent", "high", "medium", "low", "unranked"]).map(|at| priorities[at]),
        state,
        cycle,
        my_teams: parsed.has("ours"),
        ..Criteria::default()
    }
}

/// As in `ENG-123`, but not `UTF-8`, unless it is called an issue.
fn is_key(word: &str, before: Option<&str>) -> bool {
    const NAMES: [&str; 5] = ["issue", "ticket", "bug", "task", "story"];
    const NO_TEAMS: [&str; 16] = [
        "utf", "sha", "md", "iso", "http", "rfc", "cve", "tls", "ssl", "aes", "base", "step", "phase", "level", "top",
        "v",
    ];
    let is_one_of = |text: &str, known: &[&str]| known.iter().any(|name| text.eq_ignore_ascii_case(name));
    let team = word.split('-').next().unwrap_or_default();
    let is_named = before.is_some_and(|before| is_one_of(before, &NAMES));
    key_in(word).is_some_and(|key| key.len() == word.len()) && (is_named || !is_one_of(team, &NO_TEAMS))
}

/// Returns the first issue key in a text, such as the name of a branch.
pub fn key_in(text: &str) -> Option<&str> {
    let is_part = |char: char| char.is_ascii_alphanumeric();
    let mut starts =
        text.char_indices().filter(|(at, char)| char.is_ascii_alphabetic() && !text[..*at].ends_with(is_part));
    starts.find_map(|(start, _)| {
        let rest = &text[start..];
        let team = rest.find(|char: char| !is_part(char)).filter(|end| (1..=10).contains(end))?;
        let number = rest[team..].strip_prefix('-')?;
        let digits = number.find(|char: char| !char.is_ascii_digit()).unwrap_or(number.len());
        let ends = !number[digits..].starts_with(is_part);
        ((1..=7).contains(&digits) && ends).then(|| &rest[..team + 1 + digits])
    })
}

/// As in `issues assigned to Ada`.
fn take_assignee(words: &mut Words) -> Option<String> {
    let left = words.remaining();
    let is_assigned =
        left.windows(2).any(|pair| ["assigned", "belong", "belonging"].contains(&pair[0].as_str()) && pair[1] == "to");
    let follows = |before: Option<&str>| before.is_some_and(|word| word.eq_ignore_ascii_case("to"));
    words.take(|word, before| is_assigned && follows(before) && is_name(word)).map(str::to_owned)
}

/// Takes a name next to its noun, as in `project Mobile App` and `the Mobile App project`.
fn take_name(words: &mut Words, named: &str) -> Option<Vec<String>> {
    if let Some(first) = words.take_after(&[named], is_name) {
        let mut name = vec![first.to_owned()];
        // A word that was taken leaves an empty one.
        while let Some(next) = words.take(|word, before| before == Some("") && is_name(word)) {
            name.push(next.to_owned());
        }
        return Some(name);
    }
    let last = words.take_before(&[named], is_name)?;
    let mut name = vec![last.to_owned()];
    while let Some(earlier) = words.take_before(&[""], is_name) {
        name.insert(0, earlier.to_owned());
    }
    Some(name)
}

/// As in `of ENG` and `for ENG`.
fn take_team_key(words: &mut Words) -> Option<Vec<String>> {
    let is_team = |word: &str| (2..=5).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase());
    let follows = |before: Option<&str>| before.is_some_and(|word| ["of", "for", "in"].contains(&word));
    words.take(|word, before| is_team(word) && follows(before) && is_name(word)).map(|key| vec![key.to_owned()])
}

/// Whether a word can only be a name.
fn is_name(word: &str) -> bool {
    !word.is_empty() && !VOCABULARY.parse(&Words::of(word)).unknown.is_empty()
}

/// Whether a search term has no meaning, as in `what is it about`.
fn is_empty_talk(term: &str) -> bool {
    let parsed = VOCABULARY.parse(&Words::of(term));
    parsed.unknown.is_empty() && parsed.concepts.is_empty()
}

#[cfg(test)]
mod tests;
