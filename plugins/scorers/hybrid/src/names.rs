//! Skills that a task calls by name.

use scorer_bm25::bindings::skillcell::plugin::types::SkillText;
use scorer_bm25::weighting::count;
use scorer_bm25::words::{each_compound, is_word_part, task_prefix};
use std::collections::{BTreeMap, BTreeSet};

/// In words.
const SHORT_TASK: usize = 12;

/// Skills by name: `web-research`, or with its path `office/web-research`.
#[derive(Default)]
pub struct Names {
    slots: BTreeMap<String, Vec<u32>>,
    of_slots: BTreeMap<u32, Vec<String>>,
    /// How many significant words the name of each slot has.
    words: Vec<f64>,
}

impl Names {
    pub fn put(&mut self, slot: u32, skill: &SkillText) {
        self.gone(slot);
        let last = skill.path.rsplit('/').next().unwrap_or_default();
        let own = [skill.name.as_str(), last].into_iter().filter(|name| !name.starts_with('_'));
        let written = own.chain([skill.path.as_str()]).chain(skill.aliases.iter().map(String::as_str));
        let names: BTreeSet<String> = written.map(folded).filter(|name| !name.is_empty()).collect();
        for name in &names {
            self.slots.entry(name.clone()).or_default().push(slot);
        }
        self.of_slots.insert(slot, names.into_iter().collect());
        let place = slot as usize;
        self.words.resize(self.words.len().max(place + 1), 1.0);
        let own = if skill.name.starts_with('_') { last } else { &skill.name };
        let mut words = 0;
        each_compound(own, |word| words += word.split('-').filter(|part| is_word_part(part)).count());
        self.words[place] = count(words.max(1));
    }

    pub fn gone(&mut self, slot: u32) {
        for name in self.of_slots.remove(&slot).unwrap_or_default() {
            let Some(slots) = self.slots.get_mut(&name) else { continue };
            slots.retain(|other| *other != slot);
            if slots.is_empty() {
                self.slots.remove(&name);
            }
        }
    }

    /// Returns the slots of the skills that a task names.
    ///
    /// A task names a skill if it consists of the name only, or contains the name as one piece on purpose: with a
    /// hyphen or a slash, in quotes or backticks, or next to the word `skill`. A long ticket quotes many things, so quotes
    /// alone count only in a short task.
    pub fn in_task(&self, task: &str) -> BTreeSet<u32> {
        let task = task_prefix(task).trim();
        let pieces: Vec<&str> = task.split(char::is_whitespace).filter(|piece| !piece.is_empty()).collect();
        let mut found = self.slots_of(task);
        for (place, piece) in pieces.iter().enumerate() {
            let name = piece.trim_matches(|letter: char| !letter.is_alphanumeric());
            let beside = [place.checked_sub(1), Some(place + 1)].into_iter().flatten().filter_map(|at| pieces.get(at));
            let is_meant = name.contains(['-', '/'])
                || is_quoted(piece, pieces.len())
                || beside.into_iter().any(|piece| is_skill(piece));
            if is_meant {
                found.extend(self.slots_of(name));
            }
        }
        found
    }

    /// Returns the number of words in the name of a skill.
    pub fn words(&self, slot: usize) -> f64 {
        self.words[slot]
    }

    fn slots_of(&self, name: &str) -> BTreeSet<u32> {
        self.slots.get(&folded(name)).into_iter().flatten().copied().collect()
    }
}

fn is_quoted(piece: &str, length_of_task: usize) -> bool {
    let quotes = ['"', '\'', '“', '«', '‘', '”', '»', '’'];
    piece.starts_with('`')
        || piece.ends_with('`')
        || length_of_task <= SHORT_TASK && (piece.starts_with(quotes) || piece.ends_with(quotes))
}

fn is_skill(piece: &str) -> bool {
    piece.trim_matches(|letter: char| !letter.is_alphanumeric()).eq_ignore_ascii_case("skill")
}

/// Normalizes a name for comparison: `Web Research` becomes `web-research`.
fn folded(name: &str) -> String {
    let segments = name.split('/').map(|segment| {
        let mut words = Vec::new();
        each_compound(segment, |word| words.push(word.to_owned()));
        words.join("-")
    });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        for (slot, path, alias) in
            [(0, "office/web-research", "look-up"), (1, "tracing", ""), (2, "databases/_index", "")]
        {
            let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
            names.put(
                slot,
                &SkillText {
                    number: slot,
                    name: name.into(),
                    path: path.into(),
                    description: String::new(),
                    keywords: Vec::new(),
                    aliases: vec![alias.into()],
                    body: String::new(),
                },
            );
        }
        names
    }

    #[test]
    fn names_are_found_where_they_are_used_as_names() {
        for (task, expected) in [
            ("Web Research", &[0][..]),
            ("please use web-research, now", &[0]),
            ("follow office/web-research.", &[0]),
            ("a look-up of firms", &[0]),
            ("tracing", &[1]),
            ("use `tracing` and web-research", &[0, 1]),
            ("the tracing skill", &[1]),
            ("skill: tracing", &[1]),
            ("use \"tracing\" here", &[1]),
            ("yesterday the parcel service answered our long letter and said that \"tracing\" is not included", &[]),
            ("tracing a parcel", &[]),
            ("web research about tracing", &[]),
            ("databases/_index", &[2]),
            ("_index", &[]),
            ("", &[]),
        ] {
            assert_eq!(names().in_task(task), expected.iter().copied().collect(), "{task}");
        }
    }

    #[test]
    fn a_removed_skill_has_no_name() {
        let mut names = names();
        names.gone(1);
        assert!(names.in_task("tracing").is_empty());
        assert_eq!(names.of_slots.len(), 2);
    }
}
