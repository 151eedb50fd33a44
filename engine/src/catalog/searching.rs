//! Full-text search over all skills. Those whose words are not indexed yet are read.

use super::{Catalog, count};
use crate::bindings::exports::skillcell::plugin::catalog::{Hit, SearchResult};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::document;
use crate::index::{Index, as_u32};
use crate::search::{Query, Words};
use crate::skill::Skill;
use crate::tokens::tokenize;
use std::collections::{BTreeMap, BTreeSet};

/// Larger texts are not indexed but read. In bytes.
const MAX_INDEXED_BYTES: usize = 256 << 10;

/// The words of the skills in the index.
#[derive(Default)]
pub struct Indexed {
    words: Words,
    /// The skills by the numbers of their texts; `None` for texts that are outdated.
    skills: Vec<Option<u32>>,
    /// The texts by the numbers of their skills.
    texts: BTreeMap<usize, u32>,
    /// Skills whose words are not indexed yet.
    waiting: BTreeSet<usize>,
    /// Skills whose words are not indexed, so that they have to be read.
    unusual: BTreeSet<usize>,
    /// How many texts belong to no skill any more.
    outdated: usize,
}

impl Indexed {
    pub fn new(index: &Index) -> Self {
        Self { waiting: index.skills().map(|(number, _)| number).collect(), ..Self::default() }
    }

    /// Notes that a skill is new or was edited.
    pub fn add(&mut self, number: usize) {
        self.remove(number);
        self.waiting.insert(number);
    }

    pub fn remove(&mut self, number: usize) {
        self.waiting.remove(&number);
        self.unusual.remove(&number);
        if let Some(text) = self.texts.remove(&number) {
            self.skills[text as usize] = None;
            self.outdated += 1;
        }
    }

    fn note(&mut self, number: usize, text: Option<u32>) {
        let Some(text) = text else {
            self.unusual.insert(number);
            return;
        };
        self.skills.resize(text as usize + 1, None);
        self.skills[text as usize] = Some(as_u32(number));
        self.texts.insert(number, text);
    }
}

impl Catalog {
    /// Indexes the words of a few skills. Returns whether others are left.
    pub fn prepare_search(&mut self, max: u32) -> bool {
        let is_outdated = |indexed: &Indexed| indexed.outdated > self.index.count();
        if self.indexed.as_ref().is_none_or(is_outdated) {
            self.indexed = Some(Indexed::new(&self.index));
        }
        let Some(indexed) = &mut self.indexed else { return false };
        for _ in 0..max {
            let Some(number) = indexed.waiting.pop_first() else { break };
            let skill = self.index.skill(number);
            let body = document::body(&self.roots, skill);
            let is_indexed = body.len() <= MAX_INDEXED_BYTES;
            let text = is_indexed.then(|| indexed.words.add(skill.names().chain([body.as_str()]))).flatten();
            indexed.note(number, text);
        }
        !indexed.waiting.is_empty()
    }

    pub fn search(&self, query: &str, model: Option<SkillModel>, limit: u32, scores: Option<&[f64]>) -> SearchResult {
        let words = Query::new(query);
        let mut found = self.skills_with(&words);
        found.retain(|number| model.is_none_or(|model| self.index.skill(*number).model == model));
        let total = count(found.len());
        let mut ranks = vec![u32::MAX; self.index.limit()];
        // One skill needs no order.
        let ranked = if found.len() > 1 { self.rank(&tokenize(query), scores) } else { Vec::new() };
        for (rank, fit) in (0..).zip(ranked) {
            ranks[fit.skill] = rank;
        }
        let order = |number: &usize| (ranks[*number], self.index.place(*number));
        let limit = limit as usize;
        if limit > 0 && limit < found.len() {
            found.select_nth_unstable_by_key(limit - 1, order);
        }
        found.truncate(limit);
        found.sort_unstable_by_key(order);
        let hit = |number: usize| {
            let skill = self.index.skill(number);
            Hit {
                excerpt: words.excerpt(&document::body(&self.roots, skill), &skill.description),
                score: count(words.words().len()),
                skill: self.index.summary(number),
            }
        };
        SearchResult { total, hits: found.into_iter().map(hit).collect() }
    }

    /// Returns the skills that contain every word.
    fn skills_with(&self, query: &Query) -> Vec<usize> {
        let matcher = query.matcher();
        let contains_all = |skill: &Skill| matcher.matches(skill.names(), || document::body(&self.roots, skill));
        let Some(indexed) = &self.indexed else {
            return self.index.skills().filter(|(_, skill)| contains_all(skill)).map(|(number, _)| number).collect();
        };
        let found = indexed.words.texts_with(query.words());
        let known = found.iter().filter_map(|text| indexed.skills[text as usize]).map(|number| number as usize);
        let others = indexed.waiting.iter().chain(&indexed.unusual).copied();
        known.chain(others.filter(|number| contains_all(self.index.skill(*number)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::bindings::exports::skillcell::plugin::catalog::{Change, Duplicates, Location};
    use crate::memory::{self, MemoryRoot};
    use proptest::prelude::*;

    proptest! {
        /// However much is indexed, and whatever changed since, a search finds the same.
        #[test]
        fn an_index_changes_no_answer(
            steps in prop::collection::vec((0..8usize, "[aAbé ]{0,8}", 0..6u32), 1..20),
            query in "[abé ]{1,4}",
        ) {
            let skill = |root: MemoryRoot, number: usize, body: &str| {
                root.file(&format!("s{number}.md"), &format!("---\nkeywords: [k]\ndescription: d\n---\n{body}\n"))
            };
            let mut root = (0..8).fold(MemoryRoot::new("p"), |root, number| skill(root, number, "a"));
            let mut catalog = memory::catalog(vec![root.clone()], Duplicates::Refuse);
            for (number, body, prepared) in steps {
                root = skill(root, number, &body);
                catalog.roots[0] = Box::new(root.clone());
                catalog.update(vec![Change::File(Location { root: 0, path: format!("s{number}.md") })]);
                catalog.arrange();
                if prepared > 0 {
                    catalog.prepare_search(prepared);
                }
                let fresh = memory::catalog(vec![root.clone()], Duplicates::Refuse);
                prop_assert_eq!(catalog.search(&query, None, 3, None), fresh.search(&query, None, 3, None));
            }
        }
    }
}
