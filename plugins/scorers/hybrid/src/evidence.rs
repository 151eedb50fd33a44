//! Sums up the evidence of a task for each skill.

use crate::meanings::Meaning;
use crate::names::Names;
use crate::strength::{Strengths, is_in_head};
use crate::weights::Weights;
use scorer_bm25::field::Field;
use scorer_bm25::index::Index;
use scorer_bm25::weighting::{count, idf_of};

/// Maximum number of postings visited; more would exceed the time limit of a call.
const MAX_POSTINGS: usize = 100_000;

/// The sum for each slot, and the sum of an ideal skill that is about every word of the task and nothing else.
pub struct Evidence {
    pub by_slot: Vec<f64>,
    pub ideal: f64,
}

/// Adds up the best meaning of every word of the task.
pub fn evidence(index: &Index, meanings: &[Meaning], names: &Names, weights: &Weights) -> Evidence {
    let strengths = Strengths::new(weights);
    let max_holders = affordable(index, meanings);
    let max_idf = max_idf(index);
    let mut by_slot = vec![0.0; index.slot_count()];
    let mut best = vec![0.0_f64; index.slot_count()];
    let mut touched: Vec<u32> = Vec::new();
    // How much of its name each skill was called.
    let mut in_name = vec![0.0_f64; index.slot_count()];
    let mut named: Vec<f64> = vec![0.0; index.slot_count()];
    let mut ideal = 0.0;
    for meaning in meanings {
        let mut own = meaning.unknown * max_idf;
        for (place, sense) in meaning.senses.iter().enumerate() {
            let holders = holders(index, &sense.terms);
            let mut idf = rarity(index, &sense.terms, weights);
            if place == 0 && sense.is_same_word {
                own = idf;
            } else if !sense.is_same_word && idf > own {
                idf += weights.as_frequent * (own - idf);
            }
            if holders > max_holders {
                continue;
            }
            for posting in sense.terms.iter().flat_map(|term| index.postings(*term)) {
                let slot = posting.slot as usize;
                if best[slot] == 0.0 {
                    touched.push(posting.slot);
                }
                let strength = strengths.of(posting, index.length(posting.slot, Field::Body));
                best[slot] = best[slot].max(sense.certainty * idf * strength);
                if posting.counts[Field::Name as usize] > 0 {
                    in_name[slot] = in_name[slot].max(sense.certainty);
                }
            }
        }
        ideal += meaning.weight * own;
        for slot in touched.drain(..).map(|slot| slot as usize) {
            by_slot[slot] += meaning.weight * best[slot];
            best[slot] = 0.0;
            named[slot] += std::mem::take(&mut in_name[slot]);
        }
    }
    for (slot, called) in named.into_iter().enumerate().filter(|(_, called)| *called > 0.0) {
        let share = (called / names.words(slot)).min(1.0);
        by_slot[slot] += weights.whole_name * max_idf * share * share;
    }
    Evidence { by_slot, ideal }
}

/// Returns the inverse document frequency of a word that only one skill has.
pub fn max_idf(index: &Index) -> f64 {
    idf_of(count(index.len()), 1.0)
}

/// Returns how rare words are. Long bodies mention many words, so those that only have it there count less.
fn rarity(index: &Index, terms: &[u32], weights: &Weights) -> f64 {
    let postings = || terms.iter().flat_map(|term| index.postings(*term));
    let (all, in_head) = (postings().count(), postings().filter(|posting| is_in_head(posting)).count());
    let holders = (count(in_head) + weights.body_holders * count(all - in_head)).clamp(1.0, count(index.len()));
    let max = max_idf(index);
    max * (idf_of(count(index.len()), holders) / max).powf(weights.idf_exponent)
}

/// Returns the number of skills with any of these words, counting duplicates.
fn holders(index: &Index, terms: &[u32]) -> usize {
    terms.iter().map(|term| index.postings(*term).len()).sum::<usize>().min(index.len())
}

/// Returns the largest number of holders per sense that fits the limit, rarest senses first.
fn affordable(index: &Index, meanings: &[Meaning]) -> usize {
    let senses = meanings.iter().flat_map(|meaning| &meaning.senses);
    let mut sizes: Vec<usize> = senses.map(|sense| holders(index, &sense.terms)).collect();
    sizes.sort_unstable();
    let mut sum = 0;
    let within = sizes.iter().take_while(|size| {
        sum += **size;
        sum <= MAX_POSTINGS
    });
    within.last().copied().unwrap_or(0)
}
