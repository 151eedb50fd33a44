//! The weight of a word: by how many skills have it, in which field, and how often.

use crate::field::FIELDS;
use crate::index::{Index, Posting};

/// Weights of fields. All arrays are in the order of `Field`.
pub struct FieldWeights {
    /// Weight of one word in each field.
    pub fields: [f64; FIELDS],
    /// How much less a word counts in a field of above-average length, from 0 to 1 (`b` of BM25).
    pub length_normalization: [f64; FIELDS],
    /// The sum at which a word has half of its effect (`k1` of BM25).
    pub saturation: f64,
}

impl FieldWeights {
    /// Returns the weight of one word in each field for each slot.
    pub fn by_slot(&self, index: &Index) -> Vec<[f64; FIELDS]> {
        let mut weights = vec![[0.0; FIELDS]; index.slot_count()];
        for (_, slot) in index.skills() {
            let lengths = index.relative_lengths(slot);
            weights[slot as usize] = std::array::from_fn(|field| {
                let matters = self.length_normalization[field];
                self.fields[field] / (1.0 - matters + matters * lengths[field])
            });
        }
        weights
    }

    /// Returns how strongly a skill is about a word, from 0 to 1.
    pub fn effect(&self, posting: &Posting, of_slot: &[f64; FIELDS]) -> f64 {
        let sum: f64 = posting.counts.iter().zip(of_slot).map(|(count, weights)| f64::from(*count) * weights).sum();
        sum / (self.saturation + sum)
    }
}

/// Returns the inverse document frequency of a word.
pub fn idf(all: usize, holders: usize) -> f64 {
    idf_of(count(all), count(holders))
}

/// Like `idf`, for holders that count in part.
pub fn idf_of(all: f64, holders: f64) -> f64 {
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
    fn rare_words_have_a_higher_idf() {
        let weights: Vec<f64> = [0, 1, 10, 99, 100].into_iter().map(|holders| idf(100, holders)).collect();
        assert!(weights.is_sorted_by(|left, right| left > right) && weights[4] > 0.0, "{weights:?}");
    }

    #[test]
    fn better_fields_and_repetitions_have_more_effect_but_saturate() {
        let weights = FieldWeights {
            fields: [4.0, 3.0, 2.0, 1.0, 1.0, 0.5],
            length_normalization: [0.0; FIELDS],
            saturation: 1.0,
        };
        let effect = |counts| weights.effect(&Posting { slot: 0, counts }, &weights.fields);
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
