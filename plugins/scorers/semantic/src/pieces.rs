//! Splits a word into the pieces of a table.

use crate::table::{Kind, Source, Table};

/// Marks the beginning of a word in merges and unigrams, and the continuation of one in word pieces.
const START: &str = "\u{2581}";
const CONTINUED: &[u8] = b"##";

/// Longer words are not words.
const MAX_WORD_BYTES: usize = 64;

/// Returns the numbers of the pieces of a word in lower case. What the table does not have is left out.
pub fn pieces<S: Source>(table: &Table<S>, word: &str) -> Vec<usize> {
    if word.is_empty() || word.len() > MAX_WORD_BYTES {
        return Vec::new();
    }
    match table.kind {
        Kind::Merges => merged(table, word),
        Kind::WordPieces => longest(table, word),
        Kind::Unigram => best_sum(table, word),
    }
}

/// Merges the characters of a word as often as the table has the result.
fn merged<S: Source>(table: &Table<S>, word: &str) -> Vec<usize> {
    let text = format!("{START}{word}");
    let bytes = text.as_bytes();
    let mut ends: Vec<usize> = text.char_indices().map(|(at, letter)| at + letter.len_utf8()).collect();
    loop {
        let start = |place: usize| if place == 0 { 0 } else { ends[place - 1] };
        let pairs = (0..ends.len().saturating_sub(1)).filter_map(|place| {
            let piece = table.find(&bytes[start(place)..ends[place + 1]])?;
            Some((table.rank(piece), place))
        });
        let Some((_, place)) = pairs.min_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1))) else {
            break;
        };
        ends.remove(place);
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).filter_map(|(start, end)| table.find(&bytes[start..*end])).collect()
}

/// Takes the longest piece again and again. A word with a part that no piece covers has none.
fn longest<S: Source>(table: &Table<S>, word: &str) -> Vec<usize> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < word.len() {
        let ends = (at + 1..=word.len().min(at + table.max_piece)).rev().filter(|end| word.is_char_boundary(*end));
        let piece = ends.into_iter().find_map(|end| {
            let part = &word.as_bytes()[at..end];
            let piece = if at == 0 { table.find(part) } else { table.find(&[CONTINUED, part].concat()) };
            Some((end, piece?))
        });
        let Some((end, piece)) = piece else { return Vec::new() };
        found.push(piece);
        at = end;
    }
    found
}

/// Finds the sequence of pieces with the best sum of scores.
fn best_sum<S: Source>(table: &Table<S>, word: &str) -> Vec<usize> {
    let text = format!("{START}{word}");
    let bytes = text.as_bytes();
    // For each position: the best sum up to there, where its last piece begins, and the piece.
    let mut best: Vec<Option<(f32, usize, Option<usize>)>> = vec![None; bytes.len() + 1];
    best[0] = Some((0.0, 0, None));
    for end in (1..=bytes.len()).filter(|end| text.is_char_boundary(*end)) {
        let starts = (end.saturating_sub(table.max_piece)..end).filter(|start| text.is_char_boundary(*start));
        for start in starts {
            let Some((sum, ..)) = best[start] else { continue };
            let Some(piece) = table.find(&bytes[start..end]) else { continue };
            let sum = sum + table.rank(piece);
            if best[end].is_none_or(|(other, ..)| sum > other) {
                best[end] = Some((sum, start, Some(piece)));
            }
        }
        if best[end].is_none() {
            // A character that no piece covers is skipped.
            let before = (0..end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            best[end] = best[before].map(|(sum, ..)| (sum - UNKNOWN, before, None));
        }
    }
    let (mut found, mut at) = (Vec::new(), bytes.len());
    while at > 0 {
        let Some((_, start, piece)) = best[at] else { break };
        found.extend(piece);
        at = start;
    }
    found.reverse();
    found
}

/// What a character that no piece covers costs.
const UNKNOWN: f32 = 20.0;
