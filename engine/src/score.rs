//! Scores skills for a task by their keywords.

mod vocabulary;

use crate::index::{Skills, as_u32};
use crate::maps::TextMap;
use crate::skill::Skill;
use crate::text::{Letters, fold, folded};
use crate::tokens;
use std::collections::{BTreeMap, BTreeSet};
use vocabulary::Vocabulary;

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
    /// Every distinct folded keyword.
    vocabulary: Vocabulary,
    /// For each of them the skills that have it.
    holders: Vec<Vec<u32>>,
    /// For skills without keywords: the words of name and description, with the skills that contain them.
    words: TextMap<Vec<u32>>,
    /// For each skill its number of keywords, its root and its priority.
    count: Vec<u32>,
    root: Vec<u32>,
    priority: Vec<f64>,
}

impl Keywords {
    pub fn new(skills: &Skills) -> Self {
        let mut table = Self::default();
        for number in 0..skills.limit() {
            table.insert(number, skills.get(number));
        }
        table
    }

    pub fn insert(&mut self, number: usize, skill: &Skill) {
        let room = self.count.len().max(number + 1);
        self.count.resize(room, 0);
        self.root.resize(room, 0);
        self.priority.resize(room, 0.0);
        self.root[number] = skill.root;
        self.note(number, skill);
        self.insert_words(as_u32(number), skill);
    }

    pub fn remove(&mut self, number: usize, skill: &Skill) {
        self.remove_words(as_u32(number), skill);
    }

    pub fn replace(&mut self, number: usize, before: &Skill, after: &Skill) {
        self.note(number, after);
        self.remove_words(as_u32(number), before);
        self.insert_words(as_u32(number), after);
    }

    fn note(&mut self, number: usize, skill: &Skill) {
        self.count[number] = as_u32(skill.keywords.len());
        self.priority[number] = skill.priority;
    }

    fn insert_words(&mut self, number: u32, skill: &Skill) {
        if skill.keywords.is_empty() {
            for_each_word(skill, |word| {
                let word = folded(word);
                match self.words.get_mut(word.as_ref()) {
                    Some(holders) if holders.last() == Some(&number) => {}
                    Some(holders) if holders.binary_search(&number).is_ok() => {}
                    Some(holders) => add(holders, number),
                    None => drop(self.words.insert(word.into_owned(), vec![number])),
                }
            });
        }
        for keyword in &skill.keywords {
            let keyword = fold(keyword);
            let at = self.vocabulary.number_of(&keyword).unwrap_or_else(|| self.vocabulary.insert(&keyword)) as usize;
            self.holders.resize(self.holders.len().max(at + 1), Vec::new());
            add(&mut self.holders[at], number);
        }
    }

    /// Removes the words of a skill, and keywords that no other skill has.
    fn remove_words(&mut self, number: u32, skill: &Skill) {
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
            let Some(at) = self.vocabulary.number_of(&fold(keyword)) else { continue };
            let holders = &mut self.holders[at as usize];
            remove(holders, number);
            if holders.is_empty() {
                *holders = Vec::new();
                self.vocabulary.remove(at);
            }
        }
    }

    /// Returns every skill with at least one match, best first: by base, then priority within a root, then place in the order.
    pub fn rank(&self, tokens: &[String], place: impl Fn(usize) -> u32) -> Vec<Fit> {
        let mut matched = BTreeSet::new();
        for token in tokens {
            self.vocabulary.add_matching(token, &mut matched);
        }
        let by_keyword = matched.into_iter().map(|keyword| &self.holders[keyword as usize]);
        let by_word = tokens.iter().filter_map(|token| self.words.get(token));
        let mut hits: Vec<u32> = by_keyword.chain(by_word).flatten().copied().collect();
        hits.sort_unstable();
        let fit = |hits: &[u32]| {
            let skill = hits[0] as usize;
            let all = if self.count[skill] == 0 { tokens.len() } else { self.count[skill] as usize };
            self.fit(skill, share(hits.len(), all))
        };
        self.sorted(hits.chunk_by(|one, other| one == other).map(fit).collect(), place)
    }

    /// Returns every skill that a scorer gave a score above 0, best first.
    pub fn rank_by(&self, scores: impl Iterator<Item = (usize, f64)>, place: impl Fn(usize) -> u32) -> Vec<Fit> {
        let fits = scores.filter(|(_, score)| *score > 0.0).map(|(skill, score)| self.fit(skill, score));
        self.sorted(fits.collect(), place)
    }

    fn sorted(&self, mut fits: Vec<Fit>, place: impl Fn(usize) -> u32) -> Vec<Fit> {
        fits.sort_unstable_by(|left, right| {
            right.base.total_cmp(&left.base).then_with(|| place(left.skill).cmp(&place(right.skill)))
        });
        for ties in fits.chunk_by_mut(|left, right| left.base.total_cmp(&right.base).is_eq()) {
            self.sort_ties(ties);
        }
        fits
    }

    /// Orders equal skills by priority, each in one of the places that its root has by position: no root has a say over the
    /// skills of another.
    fn sort_ties(&self, ties: &mut [Fit]) {
        if ties.len() == 1 {
            return;
        }
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

/// Whether two skills are too close to decide. Priority only breaks ties, and only `in_one_root`.
pub fn is_ambiguous(best: &Fit, second: &Fit, threshold: f64, in_one_root: bool) -> bool {
    let tie = best.base - second.base <= TOLERANCE;
    let distance = if tie && in_one_root { best.score - second.score } else { best.base - second.base };
    distance < threshold - TOLERANCE
}

/// Returns the words that find a skill without keywords: those of its name, also split at hyphens, and of its
/// description.
fn words_of(skill: &Skill) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for_each_word(skill, |word| {
        words.insert(fold(word));
    });
    words
}

/// Calls a function with these words as they are written, with some of them more than once.
fn for_each_word(skill: &Skill, function: impl FnMut(&str)) {
    let apart = skill.name.replace('-', " ");
    let texts = [skill.name.as_str(), &apart, &skill.description];
    texts.into_iter().flat_map(tokens::words_as_written).for_each(function);
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
