//! How well skills fit a task, by their keywords.

use crate::skill::Skill;
use crate::text::fold;
use crate::tokens;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

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
    /// Share of the keywords, or of the task's words, that match; or what a scorer gave.
    pub base: f64,
    /// The final number: base and priority.
    pub score: f64,
}

/// The keywords of all skills, prepared for many questions.
#[derive(Default)]
pub struct Keywords {
    /// Every distinct folded keyword, and beside it its letters and the skills that have it.
    distinct: Vec<Rc<str>>,
    letters: Vec<Letters>,
    holders: Vec<Vec<u32>>,
    /// Where each keyword is in these three.
    position: BTreeMap<Rc<str>, usize>,
    /// Words of name and description of the skills that have no keywords, with those skills.
    words: BTreeMap<String, Vec<u32>>,
    /// For each skill its number of keywords and its priority.
    count: Vec<usize>,
    priority: Vec<f64>,
}

impl Keywords {
    pub fn new<'skill>(skills: impl Iterator<Item = &'skill Skill>) -> Self {
        let mut table = Self::default();
        for (number, skill) in (0..).zip(skills) {
            table.enter(number, skill);
            table.count.push(skill.keywords.len());
            table.priority.push(skill.priority);
        }
        table
    }

    /// Puts a skill in the place of another.
    pub fn replace(&mut self, number: usize, before: &Skill, after: &Skill) {
        self.count[number] = after.keywords.len();
        self.priority[number] = after.priority;
        if let Ok(number) = u32::try_from(number) {
            self.leave(number, before);
            self.enter(number, after);
        }
    }

    fn enter(&mut self, number: u32, skill: &Skill) {
        if skill.keywords.is_empty() {
            for word in words_of(skill) {
                add(self.words.entry(word).or_default(), number);
            }
        }
        for keyword in &skill.keywords {
            let keyword = fold(keyword);
            let at = self.position.get(keyword.as_str()).copied().unwrap_or_else(|| self.add_keyword(&keyword));
            add(&mut self.holders[at], number);
        }
    }

    fn add_keyword(&mut self, keyword: &str) -> usize {
        let (at, shared) = (self.distinct.len(), Rc::<str>::from(keyword));
        self.letters.push(Letters::of(keyword));
        self.distinct.push(Rc::clone(&shared));
        self.holders.push(Vec::new());
        self.position.insert(shared, at);
        at
    }

    /// Forgets the words of a skill, and keywords that nobody else has.
    fn leave(&mut self, number: u32, skill: &Skill) {
        if skill.keywords.is_empty() {
            for word in words_of(skill) {
                let Some(holders) = self.words.get_mut(&word) else { continue };
                remove(holders, number);
                if holders.is_empty() {
                    self.words.remove(&word);
                }
            }
        }
        for keyword in &skill.keywords {
            let Some(at) = self.position.get(fold(keyword).as_str()).copied() else { continue };
            remove(&mut self.holders[at], number);
            if self.holders[at].is_empty() {
                self.remove_keyword(at);
            }
        }
    }

    fn remove_keyword(&mut self, at: usize) {
        self.position.remove(&self.distinct[at]);
        self.distinct.swap_remove(at);
        self.letters.swap_remove(at);
        self.holders.swap_remove(at);
        if let Some(moved) = self.distinct.get(at) {
            self.position.insert(Rc::clone(moved), at);
        }
    }

    /// Every skill with at least one match, best first: by base, then priority, then position in the catalog.
    pub fn rank(&self, tokens: &[String]) -> Vec<Fit> {
        let mut hits = vec![0; self.count.len()];
        let by_keyword = self.matched(tokens).into_iter().flat_map(|keyword| &self.holders[keyword]);
        let by_word = tokens.iter().filter_map(|token| self.words.get(token)).flatten();
        let mut found = Vec::new();
        for skill in by_keyword.chain(by_word).map(|skill| *skill as usize) {
            if hits[skill] == 0 {
                found.push(skill);
            }
            hits[skill] += 1;
        }
        let fit = |skill: usize| {
            let all = if self.count[skill] == 0 { tokens.len() } else { self.count[skill] };
            self.fit(skill, share(hits[skill], all))
        };
        self.sorted(found.into_iter().map(fit).collect())
    }

    /// Every skill to which a scorer gave more than nothing, in the same order.
    pub fn rank_by(&self, scores: impl Iterator<Item = (usize, f64)>) -> Vec<Fit> {
        self.sorted(scores.filter(|(_, score)| *score > 0.0).map(|(skill, score)| self.fit(skill, score)).collect())
    }

    fn sorted(&self, mut fits: Vec<Fit>) -> Vec<Fit> {
        fits.sort_by(|left, right| {
            let priority = |fit: &Fit| self.priority[fit.skill];
            (right.base.total_cmp(&left.base))
                .then(priority(right).total_cmp(&priority(left)))
                .then(left.skill.cmp(&right.skill))
        });
        fits
    }

    /// The fit of one skill, which may be none at all.
    pub fn fit_of(&self, number: usize, skill: &Skill, tokens: &[String]) -> Fit {
        let all = if skill.keywords.is_empty() { tokens.len() } else { skill.keywords.len() };
        let hits = matched_keywords(skill, tokens).len();
        self.fit(number, if hits == 0 { 0.0 } else { share(hits, all) })
    }

    /// A skill with this share, or this score of a scorer.
    pub fn fit(&self, skill: usize, base: f64) -> Fit {
        let score = base + self.priority[skill] * PRIORITY_POINT;
        // Six digits read better than 0.7010000000000001; the order goes by the exact share.
        Fit { skill, base, score: (score * 1e6).round() / 1e6 }
    }

    /// Positions of the keywords that match any token.
    fn matched(&self, tokens: &[String]) -> BTreeSet<usize> {
        let mut matched = BTreeSet::new();
        for token in tokens {
            let letters = Letters::of(token);
            // Nearly all keywords are ruled out by their letters alone, so a whole block is looked at before any single one.
            let (blocks, rest) = self.letters.as_chunks::<BLOCK>();
            let possible =
                |block: &[Letters; BLOCK]| block.iter().fold(false, |any, other| any | letters.may_match(*other));
            let in_blocks = blocks.iter().enumerate().filter(|(_, block)| possible(block));
            let in_blocks = in_blocks.flat_map(|(number, _)| number * BLOCK..(number + 1) * BLOCK);
            let all = in_blocks.chain(self.letters.len() - rest.len()..self.letters.len());
            let possible = all.filter(|at| letters.may_match(self.letters[*at]));
            matched.extend(possible.filter(|at| matches(token, &self.distinct[*at])));
        }
        matched
    }
}

/// Adds a number to a sorted list of them.
fn add(numbers: &mut Vec<u32>, number: u32) {
    let place = if numbers.last().is_none_or(|last| *last <= number) {
        numbers.len()
    } else {
        numbers.partition_point(|other| *other <= number)
    };
    numbers.insert(place, number);
}

fn remove(numbers: &mut Vec<u32>, number: u32) {
    let first = numbers.partition_point(|other| *other < number);
    let beyond = numbers.partition_point(|other| *other <= number);
    numbers.drain(first..beyond);
}

/// Keywords whose letters are compared at once.
const BLOCK: usize = 16;

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
    let tokens: Vec<(&String, Letters)> = tokens.iter().map(|token| (token, Letters::of(token))).collect();
    let matches_any = |keyword: &&String| {
        let keyword = fold(keyword);
        let letters = Letters::of(&keyword);
        tokens.iter().any(|(token, other)| letters.may_match(*other) && matches(token, &keyword))
    };
    skill.keywords.iter().filter(matches_any).cloned().collect()
}

/// What of a skill matches, for people.
pub fn reason(skill: &Skill, tokens: &[String]) -> String {
    let matched = matched_keywords(skill, tokens);
    let (all, what) = match skill.keywords.len() {
        0 => (tokens.len(), "words of the task in name and description"),
        keywords => (keywords, "keywords"),
    };
    if matched.is_empty() {
        return String::new();
    }
    format!("{} of {all} {what}: {}", matched.len(), matched.join(", "))
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
