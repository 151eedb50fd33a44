//! Directions of texts: the sum of the vectors of their pieces, in signed bytes.

use crate::pieces::pieces;
use crate::table::{Source, Table};
use scorer_bm25::hasher::BuildWordHasher;
use scorer_bm25::stop_words::is_stop_word;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Words whose vectors are kept, because texts repeat them.
const MAX_KEPT: usize = 8_192;

/// A vector in signed bytes, whose length does not matter.
#[derive(Debug)]
pub struct Direction {
    parts: Box<[i8]>,
    length: f64,
}

/// The sum of the vectors of a word's pieces.
#[derive(Debug)]
pub struct Word {
    direction: Direction,
    /// What a part has to be multiplied with to get the sum back.
    scale: f32,
    /// Whether the table has the whole word, so that its vector is about it alone.
    pub is_whole: bool,
}

pub struct Vectors<S> {
    table: Table<S>,
    kept: RefCell<HashMap<Box<str>, Rc<Word>, BuildWordHasher>>,
}

impl<S: Source> Vectors<S> {
    pub fn new(table: Table<S>) -> Self {
        Self { table, kept: RefCell::default() }
    }

    /// Returns the direction of the first words of a text; nothing if the table knows none of them.
    pub fn direction(&self, text: &str, max_words: usize) -> Option<Direction> {
        let mut sum = vec![0.0; self.table.dimensions];
        let mut words = 0;
        each_word(text, |word| {
            words += 1;
            if words <= max_words {
                add(&mut sum, &self.word(word));
            }
            words < max_words
        });
        scaled(&sum).map(|(direction, _)| direction)
    }

    /// Looks up a word in lower case.
    pub fn word(&self, word: &str) -> Rc<Word> {
        if let Some(known) = self.kept.borrow().get(word) {
            return Rc::clone(known);
        }
        let pieces = pieces(&self.table, word);
        let mut sum = vec![0.0; self.table.dimensions];
        for piece in &pieces {
            self.table.add_vector(*piece, &mut sum);
        }
        let (direction, scale) = scaled(&sum).unwrap_or_else(|| (Direction::none(sum.len()), 0.0));
        let known = Rc::new(Word { direction, scale, is_whole: pieces.len() == 1 });
        let mut kept = self.kept.borrow_mut();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(word.into(), Rc::clone(&known));
        known
    }
}

impl Word {
    /// Returns the cosine of the angle to another word.
    pub fn similarity(&self, other: &Self) -> f64 {
        self.direction.similarity(&other.direction)
    }
}

fn add(sum: &mut [f32], word: &Word) {
    for (sum, part) in sum.iter_mut().zip(&word.direction.parts) {
        *sum += f32::from(*part) * word.scale;
    }
}

/// Scales a sum so that its largest part is that of a byte.
#[expect(clippy::cast_possible_truncation, reason = "the scale limits it to the range of a byte")]
fn scaled(sum: &[f32]) -> Option<(Direction, f32)> {
    let largest = sum.iter().fold(0.0_f32, |largest, part| largest.max(part.abs()));
    (largest > 0.0 && largest.is_finite()).then(|| {
        let scale = largest / f32::from(i8::MAX);
        let parts: Box<[i8]> = sum.iter().map(|part| (part / scale).round() as i8).collect();
        let length = f64::from(dot(&parts, &parts)).sqrt();
        (Direction { parts, length }, scale)
    })
}

/// Several directions side by side in memory, because every task is compared with all of them.
#[derive(Debug, Default)]
pub struct Directions {
    parts: Box<[i8]>,
    lengths: Box<[f64]>,
}

impl FromIterator<Direction> for Directions {
    fn from_iter<I: IntoIterator<Item = Direction>>(directions: I) -> Self {
        let (mut parts, mut lengths) = (Vec::new(), Vec::new());
        for direction in directions {
            parts.extend_from_slice(&direction.parts);
            lengths.push(direction.length);
        }
        Self { parts: parts.into(), lengths: lengths.into() }
    }
}

impl Directions {
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Returns the cosine of the angle between each and another direction.
    pub fn similarities<'own>(&'own self, other: &'own Direction) -> impl Iterator<Item = f64> + 'own {
        let own = self.parts.chunks_exact(other.parts.len()).zip(&self.lengths);
        own.map(|(parts, length)| f64::from(dot(parts, &other.parts)) / (length * other.length))
    }
}

impl Direction {
    fn none(dimensions: usize) -> Self {
        Self { parts: vec![0; dimensions].into(), length: 1.0 }
    }

    /// Returns the cosine of the angle to another direction.
    pub fn similarity(&self, other: &Self) -> f64 {
        f64::from(dot(&self.parts, &other.parts)) / (self.length * other.length)
    }
}

#[cfg(not(target_family = "wasm"))]
fn dot(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum()
}

/// With vector instructions, because every skill is compared with every task.
#[cfg(target_family = "wasm")]
#[target_feature(enable = "simd128")]
fn dot(left: &[i8], right: &[i8]) -> i32 {
    use core::arch::wasm32::{
        i16x8_extmul_high_i8x16, i16x8_extmul_low_i8x16, i32x4_add, i32x4_extadd_pairwise_i16x8, i32x4_extract_lane,
        i32x4_splat, u64x2, v128,
    };
    let load = |bytes: &[i8; 16]| -> v128 {
        let half = |at: usize| {
            let bytes: [u8; 8] = std::array::from_fn(|place| bytes[at + place].cast_unsigned());
            u64::from_le_bytes(bytes)
        };
        u64x2(half(0), half(8))
    };
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks(), right.as_chunks());
    let mut sums = i32x4_splat(0);
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (load(left), load(right));
        sums = i32x4_add(sums, i32x4_extadd_pairwise_i16x8(i16x8_extmul_low_i8x16(left, right)));
        sums = i32x4_add(sums, i32x4_extadd_pairwise_i16x8(i16x8_extmul_high_i8x16(left, right)));
    }
    let rest: i32 = left_rest.iter().zip(right_rest).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum();
    let lanes = [
        i32x4_extract_lane::<0>(sums),
        i32x4_extract_lane::<1>(sums),
        i32x4_extract_lane::<2>(sums),
        i32x4_extract_lane::<3>(sums),
    ];
    lanes.iter().sum::<i32>() + rest
}

/// Visits the words of a text that carry meaning, in lower case and with their accents, until `visit` returns false.
pub fn each_word(text: &str, mut visit: impl FnMut(&str) -> bool) {
    for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let goes_on = if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            is_stop_word(word) || visit(word)
        } else {
            let word = word.to_lowercase();
            is_stop_word(&word) || visit(&word)
        };
        if !goes_on {
            return;
        }
    }
}
