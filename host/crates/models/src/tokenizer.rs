//! The vocabulary in a tokenizer file (`tokenizer.json`).

use serde_json::Value;
use std::collections::BTreeMap;

const MAX_PIECES: usize = 1 << 20;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenizerError {
    #[error("it is not a tokenizer file in JSON")]
    NotATokenizer,
    #[error("it is of the kind `{}`, and BPE, WordPiece and Unigram are supported", .0.escape_debug())]
    Kind(String),
    #[error("its merges are of bytes, and only those of characters are supported")]
    Bytes,
    #[error("its vocabulary is empty, has more than {MAX_PIECES} entries, or an invalid one")]
    Vocabulary,
}

/// How words are split. The numbers are those in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Merges = 1,
    WordPieces = 2,
    Unigram = 3,
}

#[derive(Debug)]
pub struct Tokenizer {
    pub kind: Kind,
    pub pieces: BTreeMap<String, Piece>,
}

/// A part of words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Its vector in the weights.
    pub row: usize,
    /// The order in which pieces are merged, or a score.
    pub rank: f32,
}

pub fn parse(bytes: &[u8]) -> Result<Tokenizer, TokenizerError> {
    let file: Value = serde_json::from_slice(bytes).map_err(|_| TokenizerError::NotATokenizer)?;
    let model = file.get("model").ok_or(TokenizerError::NotATokenizer)?;
    let kind = match model["type"].as_str() {
        Some("BPE") => Kind::Merges,
        Some("WordPiece") => Kind::WordPieces,
        Some("Unigram") => Kind::Unigram,
        // Older files do not say it.
        None if model.get("merges").is_some() => Kind::Merges,
        other => return Err(TokenizerError::Kind(other.unwrap_or_default().chars().take(20).collect())),
    };
    let has_byte_level = |part: &str| file[part].to_string().contains("\"ByteLevel\"");
    if kind == Kind::Merges && has_byte_level("pre_tokenizer") {
        return Err(TokenizerError::Bytes);
    }
    let pieces = match kind {
        Kind::Unigram => scored(model),
        Kind::Merges | Kind::WordPieces => numbered(model),
    };
    match pieces {
        Some(pieces) if (1..=MAX_PIECES).contains(&pieces.len()) => Ok(Tokenizer { kind, pieces }),
        _ => Err(TokenizerError::Vocabulary),
    }
}

/// A map from texts to rows. Pieces are merged in the order of their rows, as they were found in training.
fn numbered(model: &Value) -> Option<BTreeMap<String, Piece>> {
    let piece = |(text, row): (&String, &Value)| {
        let row = u32::try_from(row.as_u64()?).ok()?;
        Some((text.clone(), Piece { row: row as usize, rank: rank(row) }))
    };
    model["vocab"].as_object()?.iter().map(piece).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a vocabulary has far fewer than 2^24 entries")]
fn rank(row: u32) -> f32 {
    row as f32
}

/// A list of texts with scores, in the order of the rows.
#[expect(clippy::cast_possible_truncation, reason = "scores need no more precision")]
fn scored(model: &Value) -> Option<BTreeMap<String, Piece>> {
    let piece = |(row, entry): (usize, &Value)| {
        let score = entry.get(1)?.as_f64()? as f32;
        Some((entry.get(0)?.as_str()?.to_owned(), Piece { row, rank: Some(score).filter(|score| score.is_finite())? }))
    };
    model["vocab"].as_array()?.iter().enumerate().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn vocabularies_of_every_kind_are_read() {
        for (file, kind) in [
            (r#"{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}"#, Kind::Merges),
            (r#"{"model": {"vocab": {"a": 0, "b": 1}, "merges": ["a b"]}}"#, Kind::Merges),
            (r#"{"model": {"type": "WordPiece", "vocab": {"a": 0, "b": 1}}}"#, Kind::WordPieces),
            (r#"{"model": {"type": "Unigram", "vocab": [["a", 0.0], ["b", 1.0]]}}"#, Kind::Unigram),
        ] {
            let tokenizer = parse(file.as_bytes()).unwrap();
            assert_eq!(tokenizer.kind, kind, "{file}");
            assert_eq!(tokenizer.pieces["b"], Piece { row: 1, rank: 1.0 }, "{file}");
        }
    }

    #[test]
    fn hostile_files_are_refused() {
        for (file, expected) in [
            ("", TokenizerError::NotATokenizer),
            ("[1]", TokenizerError::NotATokenizer),
            ("{\"model\": 1}", TokenizerError::Kind(String::new())),
            (r#"{"model": {"type": "WordLevel"}}"#, TokenizerError::Kind("WordLevel".to_owned())),
            (r#"{"model": {"type": "BPE", "vocab": {}}}"#, TokenizerError::Vocabulary),
            (r#"{"model": {"type": "BPE", "vocab": {"a": -1}}}"#, TokenizerError::Vocabulary),
            (r#"{"model": {"type": "BPE", "vocab": {"a": "b"}}}"#, TokenizerError::Vocabulary),
            (r#"{"model": {"type": "Unigram", "vocab": [["a"]]}}"#, TokenizerError::Vocabulary),
            (r#"{"model": {"type": "Unigram", "vocab": [["a", 1e300]]}}"#, TokenizerError::Vocabulary),
            (
                r#"{"model": {"type": "BPE", "vocab": {"a": 1}}, "pre_tokenizer": {"type": "ByteLevel"}}"#,
                TokenizerError::Bytes,
            ),
        ] {
            assert_eq!(parse(file.as_bytes()).unwrap_err(), expected, "{file}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse(&bytes);
        }
    }
}
