//! A scorer for skillcell: the share of a task's words that a skill has, weighted by where they occur.
//!
//! `wit/scoring.wit` describes the interface and the limits. The ranking is plain Rust, so `cargo test` runs without a
//! sandbox; the last part of this file exports it as a component.

mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "scorer" });
}

use bindings::exports::skillcell::plugin::scoring::{Guest, GuestPrepared};
use bindings::skillcell::plugin::log;
use bindings::skillcell::plugin::types::{Scored, SkillText, TextChange};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Weight of a word in the skill's name, and in its other parts.
const NAME: f64 = 1.0;
const KEYWORDS: f64 = 0.9;
const DESCRIPTION: f64 = 0.6;
const BODY: f64 = 0.2;

/// Words without meaning for a task.
const STOP_WORDS: [&str; 14] = [
    "a", "an", "and", "for", "how", "i", "in", "is", "my", "of", "on", "the", "to", "with",
];

/// The skills by number, each with its words and their weights.
///
/// Both maps are sorted, so that answers are in the order of the numbers and reproducible.
#[derive(Default)]
struct Ranking {
    skills: BTreeMap<u32, BTreeMap<String, f64>>,
}

impl Ranking {
    fn update(&mut self, changes: Vec<TextChange>) {
        for change in changes {
            match change {
                TextChange::Put(skill) => self.skills.insert(skill.number, weighted_words(&skill)),
                TextChange::Gone(number) => self.skills.remove(&number),
            };
        }
    }

    fn score(&self, task: &str) -> Vec<Scored> {
        let task: BTreeSet<String> = words(task).collect();
        self.skills
            .values()
            .map(|skill| fit(&task, skill))
            .collect()
    }
}

/// Returns the words of a skill. A word in several places gets the highest weight.
fn weighted_words(skill: &SkillText) -> BTreeMap<String, f64> {
    let listed = [skill.keywords.join(" "), skill.aliases.join(" ")].join(" ");
    let places = [
        (&skill.body, BODY),
        (&skill.description, DESCRIPTION),
        (&listed, KEYWORDS),
        (&skill.name, NAME),
    ];
    let mut weights = BTreeMap::new();
    for (text, weight) in places {
        weights.extend(words(text).map(|word| (word, weight)));
    }
    weights
}

/// Returns 0 if no word of the task matches, and 1 if all are in the name.
fn fit(task: &BTreeSet<String>, skill: &BTreeMap<String, f64>) -> Scored {
    let found: Vec<(&str, f64)> = task
        .iter()
        .filter_map(|word| Some((word.as_str(), *skill.get(word)?)))
        .collect();
    let sum: f64 = found.iter().map(|(_, weight)| weight).sum();
    let names: Vec<&str> = found.iter().map(|(word, _)| *word).collect();
    Scored {
        // An empty task matches nothing; without this the score would be 0 / 0.
        score: sum / task.len().max(1) as f64,
        reason: if names.is_empty() {
            String::new()
        } else {
            format!("words: {}", names.join(", "))
        },
    }
}

/// Returns the words of a text in lower case, without stop words.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty() && !STOP_WORDS.contains(&word.as_str()))
}

struct Scorer;

impl Guest for Scorer {
    type Prepared = Prepared;
}

/// The ranking, which skillcell keeps between calls.
struct Prepared(RefCell<Ranking>);

impl GuestPrepared for Prepared {
    fn new() -> Self {
        // Without this hook a panic is only a trap; with it the operator sees the message and the line.
        std::panic::set_hook(Box::new(|panic| {
            log::write(log::Level::Warn, &panic.to_string())
        }));
        Self(RefCell::default())
    }

    fn update(&self, changes: Vec<TextChange>) {
        self.0.borrow_mut().update(changes);
    }

    fn score(&self, task: String) -> Vec<Scored> {
        self.0.borrow().score(&task)
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Scorer with_types_in bindings);

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(number: u32, name: &str, description: &str) -> TextChange {
        TextChange::Put(SkillText {
            number,
            name: name.to_owned(),
            path: name.to_owned(),
            description: description.to_owned(),
            keywords: vec![],
            aliases: vec![],
            body: String::new(),
        })
    }

    fn scores(ranking: &Ranking, task: &str) -> Vec<f64> {
        ranking
            .score(task)
            .iter()
            .map(|scored| scored.score)
            .collect()
    }

    #[test]
    fn a_word_in_the_name_counts_more_than_one_in_the_description() {
        let mut ranking = Ranking::default();
        ranking.update(vec![
            skill(7, "login", "Sign-in screens"),
            skill(3, "forms", "Fields of a login form"),
        ]);
        // In the order of the numbers: 3, then 7.
        assert_eq!(scores(&ranking, "the login"), [DESCRIPTION, NAME]);
        assert_eq!(ranking.score("login")[1].reason, "words: login");
    }

    #[test]
    fn every_score_is_between_0_and_1() {
        let mut ranking = Ranking::default();
        ranking.update(vec![skill(1, "login", "login login login")]);
        for task in ["", "login login", "?!", "nothing of it", "Ünïcödé 登录"] {
            let found = scores(&ranking, task);
            assert!(
                found.iter().all(|score| (0.0..=1.0).contains(score)),
                "{task}: {found:?}"
            );
        }
    }

    #[test]
    fn a_skill_that_changed_or_is_gone_counts_as_it_is_now() {
        let mut ranking = Ranking::default();
        ranking.update(vec![skill(1, "login", ""), skill(2, "forms", "")]);
        ranking.update(vec![skill(1, "logout", ""), TextChange::Gone(2)]);
        assert_eq!(scores(&ranking, "login"), [0.0]);
        assert_eq!(scores(&ranking, "logout"), [1.0]);
    }
}
