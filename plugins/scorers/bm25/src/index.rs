//! Which skill has which word, how often, in which field.
//!
//! A changed skill costs as much as its own words. What is asked later depends only on the skills that are there, not on
//! how they came.

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
    /// How often in each field; more than 255 times is 255.
    pub counts: [u8; FIELDS],
}

impl Posting {
    /// The most telling field with the word.
    pub fn best_field(&self) -> Field {
        let has = |field: &Field| self.counts[*field as usize] > 0;
        Field::ALL.into_iter().find(has).unwrap_or(Field::Body)
    }
}

/// Words that came into use and went out of it, for who keeps more about words than the index does.
#[derive(Debug, Default)]
pub struct Turnover {
    pub lost: Vec<(Term, Rc<str>)>,
    pub new: Vec<Term>,
}

#[derive(Default)]
pub struct Index {
    pub vocabulary: Vocabulary,
    /// For each term, sorted by slot.
    postings: Vec<Vec<Posting>>,
    /// Numbers of the skills may be anything; slots are small and used again.
    slots: BTreeMap<u32, u32>,
    entries: Vec<Entry>,
    unused: Vec<u32>,
    /// Words in each field, over all skills.
    totals: [u64; FIELDS],
}

#[derive(Default)]
struct Entry {
    terms: Box<[Term]>,
    lengths: [u32; FIELDS],
}

impl Index {
    /// Takes in a skill, in place of the one that had its number.
    pub fn put(&mut self, skill: &SkillText) -> Turnover {
        let mut turnover = self.gone(skill.number);
        let mut lengths = [0; FIELDS];
        let mut seen: Vec<(Term, Field)> = Vec::new();
        each_text(skill, |field, text| {
            each_word(text, |word| {
                let (term, is_new) = self.vocabulary.add(word);
                if is_new {
                    turnover.new.push(term);
                }
                seen.push((term, field));
                lengths[field as usize] += 1;
            });
        });
        let most = self.postings.len().max(seen.iter().map(|(term, _)| *term as usize + 1).max().unwrap_or(0));
        self.postings.resize_with(most, Vec::new);
        let slot = self.new_slot(skill.number);
        let terms = self.enter(slot, seen);
        for (total, length) in self.totals.iter_mut().zip(lengths) {
            *total += u64::from(length);
        }
        self.entries[slot as usize] = Entry { terms, lengths };
        turnover
    }

    /// Forgets a skill, if there is one with this number.
    pub fn gone(&mut self, number: u32) -> Turnover {
        let mut turnover = Turnover::default();
        let Some(slot) = self.slots.remove(&number) else { return turnover };
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
                turnover.lost.push((term, self.vocabulary.remove(term)));
            }
        }
        turnover
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
    fn enter(&mut self, slot: u32, mut seen: Vec<(Term, Field)>) -> Box<[Term]> {
        seen.sort_unstable();
        let of_terms = seen.chunk_by(|left, right| left.0 == right.0);
        let enter = |of_term: &[(Term, Field)]| {
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
        of_terms.map(enter).collect()
    }

    /// How many skills there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many slots there may be, some of them without a skill.
    pub fn most_slots(&self) -> usize {
        self.entries.len()
    }

    /// Every skill by ascending number, with its slot.
    pub fn skills(&self) -> impl Iterator<Item = (u32, u32)> {
        self.slots.iter().map(|(number, slot)| (*number, *slot))
    }

    pub fn slot(&self, number: u32) -> Option<u32> {
        self.slots.get(&number).copied()
    }

    /// The skills with a word.
    pub fn postings(&self, term: Term) -> &[Posting] {
        &self.postings[term as usize]
    }

    /// Where a word is in one skill.
    pub fn posting(&self, term: Term, slot: u32) -> Option<&Posting> {
        let postings = self.postings(term);
        postings.binary_search_by_key(&slot, |posting| posting.slot).ok().map(|place| &postings[place])
    }

    /// The length of each field of a skill beside what is usual: 1 is the average, 0 an empty field.
    pub fn relative_lengths(&self, slot: u32) -> [f64; FIELDS] {
        let lengths = self.entries[slot as usize].lengths;
        std::array::from_fn(|field| ratio(u64::from(lengths[field]) * self.slots.len() as u64, self.totals[field]))
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths of text are far below 2^52")]
fn ratio(length: u64, average: u64) -> f64 {
    if average == 0 { 0.0 } else { length as f64 / average as f64 }
}
