//! What a word is worth: by how many skills have it, where they have it, and how often.

use crate::field::FIELDS;
use crate::index::{Index, Posting};

/// How fields count. All arrays are in the order of `Field`.
pub struct Worth {
    /// What one word is worth in each field.
    pub fields: [f64; FIELDS],
    /// How much less a word counts in a field that is longer than usual, from 0 to 1.
    pub length_matters: [f64; FIELDS],
    /// The sum at which a word has half of its effect: further repetitions add little.
    pub half_effect: f64,
}

impl Worth {
    /// What one word in each field is worth for each slot.
    pub fn by_slot(&self, index: &Index) -> Vec<[f64; FIELDS]> {
        let mut worth = vec![[0.0; FIELDS]; index.most_slots()];
        for (_, slot) in index.skills() {
            let lengths = index.relative_lengths(slot);
            worth[slot as usize] = std::array::from_fn(|field| {
                let matters = self.length_matters[field];
                self.fields[field] / (1.0 - matters + matters * lengths[field])
            });
        }
        worth
    }

    /// How strongly a skill is about a word, from 0 to 1.
    pub fn effect(&self, posting: &Posting, of_slot: &[f64; FIELDS]) -> f64 {
        let sum: f64 = posting.counts.iter().zip(of_slot).map(|(count, worth)| f64::from(*count) * worth).sum();
        sum / (self.half_effect + sum)
    }
}

/// How much a word tells that this many of all skills have.
pub fn rarity(all: usize, holders: usize) -> f64 {
    let (all, holders) = (count(all), count(holders));
    (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 of them")]
pub fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_are_worth_more() {
        let worth: Vec<f64> = [0, 1, 10, 99, 100].into_iter().map(|holders| rarity(100, holders)).collect();
        assert!(worth.is_sorted_by(|left, right| left > right) && worth[4] > 0.0, "{worth:?}");
    }

    #[test]
    fn better_fields_and_repetitions_have_more_effect_but_never_all() {
        let worth = Worth { fields: [4.0, 3.0, 2.0, 1.0, 1.0, 0.5], length_matters: [0.0; FIELDS], half_effect: 1.0 };
        let effect = |counts| worth.effect(&Posting { slot: 0, counts }, &worth.fields);
        let effects = [
            effect([0; FIELDS]),
            effect([0, 0, 0, 0, 0, 1]),
            effect([0, 0, 0, 0, 0, 2]),
            effect([0, 1, 0, 0, 0, 0]),
            effect([1, 0, 0, 0, 0, 0]),
            effect([u8::MAX; FIELDS]),
        ];
        assert!(effects[0].abs() < 1e-9 && effects[5] < 1.0);
        assert!(effects.is_sorted_by(|left, right| left < right), "{effects:?}");
    }
}
