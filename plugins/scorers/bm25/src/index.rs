//! Inverted index: which skill has which word, how often, in which field.
//!
//! An update costs as much as the words of the changed skill. Results depend only on the current skills, not on the
//! order of updates.

use crate::bindings::skillcell::plugin::types::SkillText;
use crate::field::{FIELDS, Field, each_text};
use crate::vocabulary::{Term, Vocabulary};
use crate::words::each_word;
use std::collections::BTreeMap;
use std::rc::Rc;

/// One skill that has a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    pub slot: u32,
    /// Occurrences in each field, saturating at 255.
    pub counts: [u8; FIELDS],
}

impl Posting {
    /// Returns the field with the highest weight that has the word.
    pub fn best_field(&self) -> Field {
        let has = |field: &Field| self.counts[*field as usize] > 0;
        Field::ALL.into_iter().find(has).unwrap_or(Field::Body)
    }
}

/// Words added to and removed from the vocabulary, for callers that keep more data per word.
#[derive(Debug, Default)]
pub struct TermDelta {
    pub removed: Vec<(Term, Rc<str>)>,
    pub added: Vec<Term>,
}

#[derive(Default)]
pub struct Index {
    pub vocabulary: Vocabulary,
    /// For each term, sorted by slot.
    postings: Vec<Vec<Posting>>,
    /// Skill numbers are arbitrary; slots are dense and reused.
    slots: BTreeMap<u32, u32>,
    entries: Vec<Entry>,
    unused: Vec<u32>,
    /// Number of words in each field, over all skills.
    totals: [u64; FIELDS],
}

#[derive(Default)]
struct Entry {
    terms: Box<[Term]>,
    lengths: [u32; FIELDS],
}

impl Index {
    /// Adds or replaces a skill.
    pub fn put(&mut self, skill: &SkillText) -> TermDelta {
        let mut delta = self.gone(skill.number);
        let mut lengths = [0; FIELDS];
        let mut seen: Vec<(Term, Field)> = Vec::new();
        each_text(skill, |field, text| {
            each_word(text, |word| {
                let (term, is_new) = self.vocabulary.add(word);
                if is_new {
                    delta.added.push(term);
                }
                seen.push((term, field));
                lengths[field as usize] += 1;
            });
        });
        let required = self.postings.len().max(seen.iter().map(|(term, _)| *term as usize + 1).max().unwrap_or(0));
        self.postings.resize_with(required, Vec::new);
        let slot = self.new_slot(skill.number);
        let terms = self.add_postings(slot, seen);
        for (total, length) in self.totals.iter_mut().zip(lengths) {
            *total += u64::from(length);
        }
        self.entries[slot as usize] = Entry { terms, lengths };
        delta
    }

    /// Removes a skill, if there is one with this number.
    pub fn gone(&mut self, number: u32) -> TermDelta {
        let mut delta = TermDelta::default();
        let Some(slot) = self.slots.remove(&number) else { return delta };
        self.unused.push(slot);
        let entry = std::mem::take(&mut self.entries[slot as usize]);
        for (total, length) in self.totals.iter_mut().zip(entry.lengths) {
            *total -= u64::from(length);
        }
        for term in entry.terms {
            let postings = &mut self.postings[term as usize];
            if let Ok(place) = postings.binary_search_by_key(&slot, |posting| posting.slot) {
                postings.remove(place);
            }
            if postings.is_empty() {
                *postings = Vec::new();
                delta.removed.push((term, self.vocabulary.remove(term)));
            }
        }
        delta
    }

    fn new_slot(&mut self, number: u32) -> u32 {
        let slot = self.unused.pop().unwrap_or_else(|| {
            self.entries.push(Entry::default());
            u32::try_from(self.entries.len() - 1).expect("skills have distinct numbers of 32 bits")
        });
        self.slots.insert(number, slot);
        slot
    }

    /// Adds the words of a skill and returns the distinct ones.
    fn add_postings(&mut self, slot: u32, mut seen: Vec<(Term, Field)>) -> Box<[Term]> {
        seen.sort_unstable();
        let of_terms = seen.chunk_by(|left, right| left.0 == right.0);
        let add_postings = |of_term: &[(Term, Field)]| {
            let mut counts = [0_u8; FIELDS];
            for (_, field) in of_term {
                counts[*field as usize] = counts[*field as usize].saturating_add(1);
            }
            let (term, posting) = (of_term[0].0, Posting { slot, counts });
            let postings = &mut self.postings[term as usize];
            let place = if postings.last().is_none_or(|last| last.slot < slot) {
                postings.len()
            } else {
                postings.partition_point(|other| other.slot < slot)
            };
            postings.insert(place, posting);
            term
        };
        of_terms.map(add_postings).collect()
    }

    /// Returns the number of skills.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the number of slots, some of which may be unused.
    pub fn slot_count(&self) -> usize {
        self.entries.len()
    }

    /// Returns every skill in ascending order of its number, with its slot.
    pub fn skills(&self) -> impl Iterator<Item = (u32, u32)> {
        self.slots.iter().map(|(number, slot)| (*number, *slot))
    }

    pub fn slot(&self, number: u32) -> Option<u32> {
        self.slots.get(&number).copied()
    }

    /// Returns the number of words in a field of a skill.
    pub fn length(&self, slot: u32, field: Field) -> u32 {
        self.entries[slot as usize].lengths[field as usize]
    }

    pub fn postings(&self, term: Term) -> &[Posting] {
        &self.postings[term as usize]
    }

    pub fn posting(&self, term: Term, slot: u32) -> Option<&Posting> {
        let postings = self.postings(term);
        postings.binary_search_by_key(&slot, |posting| posting.slot).ok().map(|place| &postings[place])
    }

    /// Returns the length of each field of a skill relative to the average; 0 for an empty field.
    pub fn relative_lengths(&self, slot: u32) -> [f64; FIELDS] {
        let lengths = self.entries[slot as usize].lengths;
        std::array::from_fn(|field| ratio(u64::from(lengths[field]) * self.slots.len() as u64, self.totals[field]))
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths of text are far below 2^52")]
fn ratio(length: u64, average: u64) -> f64 {
    if average == 0 { 0.0 } else { length as f64 / average as f64 }
}
