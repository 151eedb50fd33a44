//! Scores skills for a task by their keywords.

use crate::skill::Skill;
use crate::text::fold;
use crate::tokens;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Shorter words match only themselves: `go` does not match `golang`.
const MIN_PART: usize = 3;

/// Numbers closer than this are equal, because 0.6 - 0.5 is not exactly 0.1.
pub const TOLERANCE: f64 = 1e-9;

const PRIORITY_POINT: f64 = 0.001;

/// Whether a word of the task matches a keyword. Both are case-folded.
pub fn matches(token: &str, keyword: &str) -> bool {
    if token == keyword {
        return true;
    }
    let long = |word: &str| word.chars().nth(MIN_PART - 1).is_some();
    long(token) && long(keyword) && (token.contains(keyword) || keyword.contains(token))
}

/// The score of one skill.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Position of the skill in the index.
    pub skill: usize,
    /// Share of the keywords, or of the task's words, that match; or a scorer's score.
    pub base: f64,
    /// The base plus priority.
    pub score: f64,
}

/// The keywords of all skills, indexed for matching.
#[derive(Default)]
pub struct Keywords {
    /// Every distinct folded keyword; the next two vectors are parallel to it.
    distinct: Vec<Rc<str>>,
    letters: Vec<Letters>,
    holders: Vec<Vec<u32>>,
    /// Position of each keyword in these vectors.
    position: BTreeMap<Rc<str>, usize>,
    /// For skills without keywords: the words of name and description, with the skills that contain them.
    words: BTreeMap<String, Vec<u32>>,
    /// For each skill its number of keywords, its root and its priority.
    count: Vec<usize>,
    root: Vec<u32>,
    priority: Vec<f64>,
}

impl Keywords {
    pub fn new<'skill>(skills: impl Iterator<Item = &'skill Skill>) -> Self {
        let mut table = Self::default();
        for (number, skill) in (0..).zip(skills) {
            table.insert_skill(number, skill);
            table.count.push(skill.keywords.len());
            table.root.push(skill.root);
            table.priority.push(skill.priority);
        }
        table
    }

    pub fn replace(&mut self, number: usize, before: &Skill, after: &Skill) {
        self.count[number] = after.keywords.len();
        self.priority[number] = after.priority;
        if let Ok(number) = u32::try_from(number) {
            self.remove_skill(number, before);
            self.insert_skill(number, after);
        }
    }

    fn insert_skill(&mut self, number: u32, skill: &Skill) {
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

    /// Removes the words of a skill, and keywords that no other skill has.
    fn remove_skill(&mut self, number: u32, skill: &Skill) {
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

    /// Returns every skill with at least one match, best first: by base, then priority within a root, then position.
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

    /// Returns every skill that a scorer gave a score above 0, best first.
    pub fn rank_by(&self, scores: impl Iterator<Item = (usize, f64)>) -> Vec<Fit> {
        self.sorted(scores.filter(|(_, score)| *score > 0.0).map(|(skill, score)| self.fit(skill, score)).collect())
    }

    fn sorted(&self, mut fits: Vec<Fit>) -> Vec<Fit> {
        fits.sort_by(|left, right| right.base.total_cmp(&left.base).then(left.skill.cmp(&right.skill)));
        for ties in fits.chunk_by_mut(|left, right| left.base.total_cmp(&right.base).is_eq()) {
            self.sort_ties(ties);
        }
        fits
    }

    /// Orders equal skills by priority, each in one of the places that its root has by position: no root has a say over the
    /// skills of another.
    fn sort_ties(&self, ties: &mut [Fit]) {
        let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, fit) in ties.iter().enumerate() {
            places.entry(self.root[fit.skill]).or_default().push(place);
        }
        for places in places.into_values() {
            let mut ordered: Vec<Fit> = places.iter().map(|place| ties[*place].clone()).collect();
            ordered.sort_by(|left, right| self.priority[right.skill].total_cmp(&self.priority[left.skill]));
            for (place, fit) in places.into_iter().zip(ordered) {
                ties[place] = fit;
            }
        }
    }

    /// Returns the score of one skill, which may be 0.
    pub fn fit_of(&self, number: usize, skill: &Skill, tokens: &[String]) -> Fit {
        let all = if skill.keywords.is_empty() { tokens.len() } else { skill.keywords.len() };
        let hits = matched_keywords(skill, tokens).len();
        self.fit(number, if hits == 0 { 0.0 } else { share(hits, all) })
    }

    /// Adds the priority to a share or to a scorer's score.
    pub fn fit(&self, skill: usize, base: f64) -> Fit {
        let score = base + self.priority[skill] * PRIORITY_POINT;
        // Rounded, because 0.701 reads better than 0.7010000000000001; ranking uses the exact base.
        Fit { skill, base, score: (score * 1e6).round() / 1e6 }
    }

    /// Returns the positions of the keywords that match any token.
    fn matched(&self, tokens: &[String]) -> BTreeSet<usize> {
        let mut matched = BTreeSet::new();
        for token in tokens {
            let letters = Letters::of(token);
            // Comparing letters alone rules out nearly all keywords, so whole blocks are tested first.
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

/// Inserts into a sorted list.
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

/// Number of keywords whose letters are compared at once.
const BLOCK: usize = 16;

/// Whether two skills are too close to decide. Priority only breaks ties, and only `in_one_root`.
pub fn is_ambiguous(best: &Fit, second: &Fit, threshold: f64, in_one_root: bool) -> bool {
    let tie = best.base - second.base <= TOLERANCE;
    let distance = if tie && in_one_root { best.score - second.score } else { best.base - second.base };
    distance < threshold - TOLERANCE
}

/// Returns the words that find a skill without keywords: those of its name, also split at hyphens, and of its
/// description.
fn words_of(skill: &Skill) -> BTreeSet<String> {
    let apart = skill.name.replace('-', " ");
    tokens::words(&skill.name).chain(tokens::words(&apart)).chain(tokens::words(&skill.description)).collect()
}

/// Returns the keywords of a skill that match, as written; for a skill without keywords, the words of the task that
/// match.
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

/// Describes what matched, for people.
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

/// The letters of a word, one bit per class of bytes: a cheap test that neither word contains the other.
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
        fn the_letter_test_never_misses_a_match(token in "[a-d\u{e9}\u{4e2d}]{1,5}", keyword in "[a-d\u{e9}\u{4e2d}]{1,5}") {
            if matches(&token, &keyword) {
                prop_assert!(Letters::of(&token).may_match(Letters::of(&keyword)));
            }
        }

        #[test]
        fn matching_is_symmetric(token in "\\PC{0,6}", keyword in "\\PC{0,6}") {
            prop_assert_eq!(matches(&token, &keyword), matches(&keyword, &token));
        }
    }
}
