//! How well skills fit a task, by their keywords.

use crate::skill::Skill;
use crate::text::fold;
use crate::tokens;
use std::collections::{BTreeMap, BTreeSet};

/// Shorter words match only themselves: `go` is not `golang`.
const SHORTEST_PART: usize = 3;

/// Distances and thresholds closer than this are equal: 0.6 and 0.5 are 0.1 apart.
pub const TOLERANCE: f64 = 1e-9;

/// Worth of one point of priority.
const PRIORITY_POINT: f64 = 0.001;

/// Whether a folded word of the task and a folded keyword mean each other.
pub fn matches(token: &str, keyword: &str) -> bool {
    if token == keyword {
        return true;
    }
    let long = |word: &str| word.chars().nth(SHORTEST_PART - 1).is_some();
    long(token) && long(keyword) && (token.contains(keyword) || keyword.contains(token))
}

/// One skill's fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Position of the skill in the catalog.
    pub skill: usize,
    /// Share of the keywords, or of the task's words, that match.
    pub base: f64,
    /// The final number: base and priority.
    pub score: f64,
}

/// The keywords of all skills, prepared for many questions.
#[derive(Default)]
pub struct Keywords {
    /// Every distinct folded keyword.
    distinct: Vec<Keyword>,
    /// For each skill its keywords, as positions in `distinct`.
    of_skill: Vec<Box<[u32]>>,
    /// Words of name and description of the skills that have no keywords.
    words: BTreeMap<String, Vec<usize>>,
    priority: Vec<f64>,
}

struct Keyword {
    text: String,
    letters: Letters,
}

impl Keywords {
    pub fn new<'skill>(skills: impl Iterator<Item = &'skill Skill>) -> Self {
        let mut table = Self::default();
        let mut position: BTreeMap<String, u32> = BTreeMap::new();
        for (at, skill) in skills.enumerate() {
            if skill.keywords.is_empty() {
                for word in words_of(skill) {
                    table.words.entry(word).or_default().push(at);
                }
            }
            let mut number = |keyword: &String| {
                let text = fold(keyword);
                *position.entry(text).or_insert_with_key(|text| {
                    table.distinct.push(Keyword { text: text.clone(), letters: Letters::of(text) });
                    u32::try_from(table.distinct.len() - 1).expect("fewer keywords than bytes of memory")
                })
            };
            let numbers = skill.keywords.iter().map(&mut number).collect();
            table.of_skill.push(numbers);
            table.priority.push(skill.priority);
        }
        table
    }

    /// Every skill with at least one match, best first: by base, then priority, then position in the catalog.
    pub fn rank(&self, tokens: &[String]) -> Vec<Fit> {
        let matched = self.matched(tokens);
        let mut fits: Vec<Fit> = Vec::new();
        for (skill, keywords) in self.of_skill.iter().enumerate() {
            let hits = keywords.iter().filter(|keyword| matched[**keyword as usize]).count();
            if hits > 0 {
                fits.push(self.fit(skill, share(hits, keywords.len())));
            }
        }
        let mut hits: BTreeMap<usize, usize> = BTreeMap::new();
        for skill in tokens.iter().filter_map(|token| self.words.get(token)).flatten() {
            *hits.entry(*skill).or_default() += 1;
        }
        fits.extend(hits.into_iter().map(|(skill, hits)| self.fit(skill, share(hits, tokens.len()))));
        fits.sort_by(|left, right| {
            let priority = |fit: &Fit| self.priority[fit.skill];
            (right.base.total_cmp(&left.base))
                .then(priority(right).total_cmp(&priority(left)))
                .then(left.skill.cmp(&right.skill))
        });
        fits
    }

    /// The fit of one skill, which may be none at all.
    pub fn fit_of(&self, skill: usize, tokens: &[String]) -> Fit {
        self.rank(tokens).into_iter().find(|fit| fit.skill == skill).unwrap_or_else(|| self.fit(skill, 0.0))
    }

    fn fit(&self, skill: usize, base: f64) -> Fit {
        let score = base + self.priority[skill] * PRIORITY_POINT;
        // Six digits are more than any two different shares need, and read better than 0.7010000000000001.
        Fit { skill, base, score: (score * 1e6).round() / 1e6 }
    }

    fn matched(&self, tokens: &[String]) -> Vec<bool> {
        let tokens: Vec<(&str, Letters)> = tokens.iter().map(|token| (token.as_str(), Letters::of(token))).collect();
        let matches_any = |keyword: &Keyword| {
            tokens.iter().any(|(token, letters)| letters.may_match(keyword.letters) && matches(token, &keyword.text))
        };
        self.distinct.iter().map(matches_any).collect()
    }
}

/// Whether the best two of a ranking are too close to tell which is meant. Priority only breaks ties.
pub fn is_ambiguous(best: &Fit, second: &Fit, threshold: f64) -> bool {
    let tie = best.base - second.base <= TOLERANCE;
    let distance = if tie { best.score - second.score } else { best.base - second.base };
    distance < threshold - TOLERANCE
}

/// The words by which a skill without keywords is found: those of its name, also apart, and of its description.
fn words_of(skill: &Skill) -> BTreeSet<String> {
    let apart = skill.name.replace('-', " ");
    tokens::words(&skill.name).chain(tokens::words(&apart)).chain(tokens::words(&skill.description)).collect()
}

/// The keywords of a skill that match, as its author wrote them; without keywords, the words of the task that do.
pub fn matched_keywords(skill: &Skill, tokens: &[String]) -> Vec<String> {
    if skill.keywords.is_empty() {
        let words = words_of(skill);
        return tokens.iter().filter(|token| words.contains(*token)).cloned().collect();
    }
    let matches_any = |keyword: &&String| {
        let keyword = fold(keyword);
        tokens.iter().any(|token| matches(token, &keyword))
    };
    skill.keywords.iter().filter(matches_any).cloned().collect()
}

#[expect(clippy::cast_precision_loss, reason = "a skill has far fewer than 2^52 keywords")]
fn share(hits: usize, all: usize) -> f64 {
    hits as f64 / all as f64
}

/// Which letters a word has, one bit for each class of letters: tells cheaply that neither word contains the other.
#[derive(Clone, Copy)]
struct Letters(u64);

impl Letters {
    fn of(word: &str) -> Self {
        Self(word.bytes().fold(0, |letters, byte| letters | 1 << (byte % 64)))
    }

    fn may_match(self, other: Self) -> bool {
        let shared = self.0 & other.0;
        shared == self.0 || shared == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_of_the_specification() {
        for (token, keyword, expected) in [
            ("react", "react", true),
            ("authentication", "auth", true),
            ("auth", "authentication", true),
            ("react", "reactjs", true),
            ("go", "golang", false),
            ("golang", "go", false),
            ("js", "json", false),
            ("ts", "ts", true),
            ("été", "étés", true),
            ("éé", "été", false),
        ] {
            assert_eq!(matches(token, keyword), expected, "{token} {keyword}");
        }
    }

    proptest! {
        #[test]
        fn letters_never_hide_a_match(token in "[a-d\u{e9}\u{4e2d}]{1,5}", keyword in "[a-d\u{e9}\u{4e2d}]{1,5}") {
            if matches(&token, &keyword) {
                prop_assert!(Letters::of(&token).may_match(Letters::of(&keyword)));
            }
        }

        #[test]
        fn matching_goes_both_ways(token in "\\PC{0,6}", keyword in "\\PC{0,6}") {
            prop_assert_eq!(matches(&token, &keyword), matches(&keyword, &token));
        }
    }
}
