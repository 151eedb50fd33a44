//! What the words of a task say for each skill.

use crate::meanings::Meaning;
use crate::weights;
use scorer_bm25::index::Index;
use scorer_bm25::worth::{Worth, rarity};

/// Most skills that all words together may name. More would take longer than a call may.
const MOST_POSTINGS: usize = 100_000;

/// The sum for each slot, and the sum that a skill would have that is about nothing but every word of the task.
pub struct Evidence {
    pub by_slot: Vec<f64>,
    pub whole: f64,
}

/// Adds up, for every word of the task, the best of what it may mean.
pub fn evidence(index: &Index, meanings: &[Meaning]) -> Evidence {
    let worth = worth();
    let of_slots = worth.by_slot(index);
    let most_holders = affordable(index, meanings);
    let rarest = rarest(index);
    let mut by_slot = vec![0.0; index.most_slots()];
    let mut best = vec![0.0_f64; index.most_slots()];
    let mut touched: Vec<u32> = Vec::new();
    let mut whole = 0.0;
    for meaning in meanings {
        let mut own = meaning.unknown * rarest;
        for (place, sense) in meaning.senses.iter().enumerate() {
            let holders = holders(index, &sense.terms);
            let mut rarity = rarest * (rarity(index.len(), holders) / rarest).powf(weights::RARITY);
            if place == 0 && sense.is_same_word {
                own = rarity;
            } else if !sense.is_same_word && rarity > own {
                rarity += weights::AS_FREQUENT * (own - rarity);
            }
            if holders > most_holders {
                continue;
            }
            for posting in sense.terms.iter().flat_map(|term| index.postings(*term)) {
                let slot = posting.slot as usize;
                if best[slot] == 0.0 {
                    touched.push(posting.slot);
                }
                best[slot] = best[slot].max(sense.certainty * rarity * worth.effect(posting, &of_slots[slot]));
            }
        }
        whole += meaning.weight * own;
        for slot in touched.drain(..).map(|slot| slot as usize) {
            by_slot[slot] += meaning.weight * best[slot];
            best[slot] = 0.0;
        }
    }
    Evidence { by_slot, whole }
}

/// What a word tells that one skill alone has.
pub fn rarest(index: &Index) -> f64 {
    rarity(index.len(), 1)
}

fn worth() -> Worth {
    let matters = weights::LENGTH_MATTERS;
    Worth {
        fields: [
            weights::NAME,
            weights::KEYWORDS,
            weights::DESCRIPTION,
            weights::PATH,
            weights::HEADINGS,
            weights::BODY,
        ],
        length_matters: [matters / 2.0, matters, matters, 0.0, matters, matters],
        half_effect: weights::HALF_EFFECT,
    }
}

/// How many skills have one of these words; those with several count as often.
fn holders(index: &Index, terms: &[u32]) -> usize {
    terms.iter().map(|term| index.postings(*term).len()).sum::<usize>().min(index.len())
}

/// The number of skills up to which senses can be looked at, the rarest first.
fn affordable(index: &Index, meanings: &[Meaning]) -> usize {
    let senses = meanings.iter().flat_map(|meaning| &meaning.senses);
    let mut sizes: Vec<usize> = senses.map(|sense| holders(index, &sense.terms)).collect();
    sizes.sort_unstable();
    let mut sum = 0;
    let within = sizes.iter().take_while(|size| {
        sum += **size;
        sum <= MOST_POSTINGS
    });
    within.last().copied().unwrap_or(0)
}
