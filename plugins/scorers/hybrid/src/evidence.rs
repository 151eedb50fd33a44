//! Sums up the evidence of a task for each skill.

use crate::meanings::Meaning;
use crate::weights;
use scorer_bm25::index::Index;
use scorer_bm25::weighting::{FieldWeights, idf};

/// Maximum number of postings visited; more would exceed the time limit of a call.
const MAX_POSTINGS: usize = 100_000;

/// The sum for each slot, and the sum of an ideal skill that is about every word of the task and nothing else.
pub struct Evidence {
    pub by_slot: Vec<f64>,
    pub ideal: f64,
}

/// Adds up the best meaning of every word of the task.
pub fn evidence(index: &Index, meanings: &[Meaning]) -> Evidence {
    let weighting = weighting();
    let of_slots = weighting.by_slot(index);
    let max_holders = affordable(index, meanings);
    let max_idf = max_idf(index);
    let mut by_slot = vec![0.0; index.slot_count()];
    let mut best = vec![0.0_f64; index.slot_count()];
    let mut touched: Vec<u32> = Vec::new();
    let mut ideal = 0.0;
    for meaning in meanings {
        let mut own = meaning.unknown * max_idf;
        for (place, sense) in meaning.senses.iter().enumerate() {
            let holders = holders(index, &sense.terms);
            let mut idf = max_idf * (idf(index.len(), holders) / max_idf).powf(weights::IDF_EXPONENT);
            if place == 0 && sense.is_same_word {
                own = idf;
            } else if !sense.is_same_word && idf > own {
                idf += weights::AS_FREQUENT * (own - idf);
            }
            if holders > max_holders {
                continue;
            }
            for posting in sense.terms.iter().flat_map(|term| index.postings(*term)) {
                let slot = posting.slot as usize;
                if best[slot] == 0.0 {
                    touched.push(posting.slot);
                }
                best[slot] = best[slot].max(sense.certainty * idf * weighting.effect(posting, &of_slots[slot]));
            }
        }
        ideal += meaning.weight * own;
        for slot in touched.drain(..).map(|slot| slot as usize) {
            by_slot[slot] += meaning.weight * best[slot];
            best[slot] = 0.0;
        }
    }
    Evidence { by_slot, ideal }
}

/// Returns the inverse document frequency of a word that only one skill has.
pub fn max_idf(index: &Index) -> f64 {
    idf(index.len(), 1)
}

fn weighting() -> FieldWeights {
    let matters = weights::LENGTH_NORMALIZATION;
    FieldWeights {
        fields: [
            weights::NAME,
            weights::KEYWORDS,
            weights::DESCRIPTION,
            weights::PATH,
            weights::HEADINGS,
            weights::BODY,
        ],
        length_normalization: [matters / 2.0, matters, matters, 0.0, matters, matters],
        saturation: weights::SATURATION,
    }
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
