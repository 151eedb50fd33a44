//! Tables of vectors, as `docs/scorers.md` describes them.

use crate::tokenizer::{self, Tokenizer, TokenizerError};
use crate::weights::{self, Weights, WeightsError};

const MAGIC: &[u8; 8] = b"SKCLVEC1";
const HEADER_BYTES: u64 = 32;

/// Bytes for each piece, besides its text and vector: the end of its text, its rank and its scale.
const ENTRY_BYTES: u64 = 12;

/// Of an installed table, in bytes. Scorers share it, and it stays in memory.
pub const MAX_BYTES: u64 = 64 << 20;

const MAX_PIECE_BYTES: usize = 256;

#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    #[error("the weights cannot be used: {0}")]
    Weights(#[from] WeightsError),
    #[error("the tokenizer cannot be used: {0}")]
    Tokenizer(#[from] TokenizerError),
    #[error(
        "the tokenizer and the weights do not belong together: the vocabulary has {pieces} entries, the table of vectors {rows}"
    )]
    Misfit { pieces: usize, rows: usize },
    #[error("as a table of bytes it would have more than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
}

/// The figures of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub pieces: u32,
    pub dimensions: u32,
}

/// Converts the weights and the tokenizer of a model. Vectors are quantized to 8 bits, each with a scale of its own.
pub fn convert(weights: &[u8], tokenizer: &[u8]) -> Result<Vec<u8>, ConvertError> {
    let Weights { dimensions, values } = weights::parse(weights)?;
    let Tokenizer { kind, pieces } = tokenizer::parse(tokenizer)?;
    let rows = values.len() / dimensions;
    if pieces.len() > rows {
        return Err(ConvertError::Misfit { pieces: pieces.len(), rows });
    }
    let (mut ends, mut ranks, mut scales, mut texts, mut vectors) = (vec![], vec![], vec![], vec![], vec![]);
    let mut max_piece = 0;
    // In the order of their texts, so that a scorer finds them without an index.
    for (text, piece) in pieces.iter().filter(|(text, _)| (1..=MAX_PIECE_BYTES).contains(&text.len())) {
        let row = values.get(piece.row * dimensions..(piece.row + 1) * dimensions);
        let row = row.ok_or(ConvertError::Misfit { pieces: piece.row + 1, rows })?;
        texts.extend_from_slice(text.as_bytes());
        max_piece = max_piece.max(text.len());
        ends.extend_from_slice(&number(texts.len())?);
        ranks.extend_from_slice(&piece.rank.to_le_bytes());
        let scale = quantize(row, &mut vectors);
        scales.extend_from_slice(&scale.to_le_bytes());
        if vectors.len() as u64 > MAX_BYTES {
            return Err(ConvertError::TooLarge);
        }
    }
    let count = ends.len() / 4;
    let mut table = MAGIC.to_vec();
    table.extend_from_slice(&(kind as u32).to_le_bytes());
    for figure in [count, dimensions, max_piece, texts.len(), 0] {
        table.extend_from_slice(&number(figure)?);
    }
    table.extend([ends, ranks, scales, texts, vectors].into_iter().flatten());
    if table.len() as u64 > MAX_BYTES { Err(ConvertError::TooLarge) } else { Ok(table) }
}

/// Appends a vector in signed bytes, and returns its scale.
#[expect(clippy::cast_possible_truncation, reason = "the scale limits it to the range of a byte")]
fn quantize(row: &[f32], vectors: &mut Vec<u8>) -> f32 {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { largest / f32::from(i8::MAX) } else { 1.0 };
    vectors.extend(row.iter().map(|value| ((value / scale).round() as i8).cast_unsigned()));
    scale
}

fn number(value: usize) -> Result<[u8; 4], ConvertError> {
    u32::try_from(value).map(u32::to_le_bytes).map_err(|_| ConvertError::TooLarge)
}

/// Reads the figures of a table, if it has the size that they require. A scorer checks the rest.
pub fn shape(table: &[u8]) -> Option<Shape> {
    let figure = |at: usize| Some(u32::from_le_bytes(table.get(at..at + 4)?.try_into().ok()?));
    let (pieces, dimensions, texts) = (figure(12)?, figure(16)?, figure(24)?);
    let list = u64::from(pieces) * (ENTRY_BYTES + u64::from(dimensions));
    let is_whole = table.starts_with(MAGIC) && HEADER_BYTES + list + u64::from(texts) == table.len() as u64;
    is_whole.then_some(Shape { pieces, dimensions })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::tests::safetensors;

    const TOKENIZER: &str = r###"{"model": {"type": "WordPiece", "vocab": {"slides": 0, "deck": 1, "##s": 2}}}"###;

    #[test]
    fn a_model_becomes_a_table_in_the_order_of_its_pieces() {
        let weights = safetensors("F32", &[3, 2], &[1.0_f32, -2.0, 0.5, 0.25, 0.0, 0.0].map(f32::to_le_bytes).concat());
        let table = convert(&weights, TOKENIZER.as_bytes()).unwrap();
        assert_eq!(shape(&table), Some(Shape { pieces: 3, dimensions: 2 }));
        assert!(table.windows(13).any(|bytes| bytes == b"##sdeckslides"));
        let vectors: Vec<i8> = table[table.len() - 6..].iter().map(|byte| byte.cast_signed()).collect();
        assert_eq!(vectors, [0, 0, 127, 64, 64, -127]);
        assert_eq!(shape(&table[..table.len() - 1]), None);
        assert_eq!(shape(b""), None);
    }

    #[test]
    fn files_that_do_not_belong_together_are_refused() {
        let weights = safetensors("F32", &[2, 2], &[0; 16]);
        let error = convert(&weights, TOKENIZER.as_bytes()).unwrap_err().to_string();
        assert!(
            error.contains("do not belong together: the vocabulary has 3 entries, the table of vectors 2"),
            "{error}"
        );
        let far = r#"{"model": {"type": "WordPiece", "vocab": {"slides": 4000000000}}}"#;
        assert!(convert(&weights, far.as_bytes()).is_err());
    }
}
