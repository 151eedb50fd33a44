//! Vectors in a file of safetensors: a header in JSON, then numbers.

use serde::Deserialize;
use std::collections::BTreeMap;

/// In bytes. That of a table of vectors has a hundred.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// Larger ones are for larger models than a scorer has time for.
const MAX_ROWS: usize = 1 << 20;
const MAX_DIMENSIONS: usize = 1024;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    #[error("it is not a file of safetensors, or is cut off")]
    NotSafetensors,
    #[error("it has {0} tables, and a model of word vectors has one")]
    Tables(usize),
    #[error("its table has the shape {0:?}, and should have up to {MAX_ROWS} rows of up to {MAX_DIMENSIONS} numbers")]
    Shape(Vec<usize>),
    #[error("its numbers are of type `{}`, and F32, F16 and BF16 are supported", .0.escape_debug())]
    Type(String),
    #[error("its numbers are not all finite")]
    NotFinite,
}

/// A table of vectors, row after row.
#[derive(Debug)]
pub struct Weights {
    pub dimensions: usize,
    pub values: Vec<f32>,
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

pub fn parse(bytes: &[u8]) -> Result<Weights, WeightsError> {
    let cut = || WeightsError::NotSafetensors;
    let (length, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
    let length = Some(u64::from_le_bytes(*length)).filter(|length| *length <= MAX_HEADER_BYTES).ok_or_else(cut)?;
    let (header, data) = rest.split_at_checked(usize::try_from(length).map_err(|_| cut())?).ok_or_else(cut)?;
    let mut tables: BTreeMap<String, serde_json::Value> = serde_json::from_slice(header).map_err(|_| cut())?;
    tables.remove("__metadata__");
    if tables.len() != 1 {
        return Err(WeightsError::Tables(tables.len()));
    }
    let table = tables.into_values().next().ok_or_else(cut)?;
    let Tensor { dtype, shape, data_offsets: [start, end] } = serde_json::from_value(table).map_err(|_| cut())?;
    let (rows, dimensions) = match shape[..] {
        [rows, dimensions] if (1..=MAX_ROWS).contains(&rows) && (1..=MAX_DIMENSIONS).contains(&dimensions) => {
            (rows, dimensions)
        }
        _ => return Err(WeightsError::Shape(shape)),
    };
    let numbers = data.get(start..end).ok_or_else(cut)?;
    let values: Vec<f32> = match dtype.as_str() {
        "F32" => each(numbers).map(f32::from_le_bytes).collect(),
        "F16" => each(numbers).map(|bytes| half(u16::from_le_bytes(bytes))).collect(),
        "BF16" => each(numbers).map(|bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)).collect(),
        _ => return Err(WeightsError::Type(dtype.chars().take(20).collect())),
    };
    if values.len() != rows * dimensions {
        return Err(cut());
    }
    if !values.iter().all(|value| value.is_finite()) {
        return Err(WeightsError::NotFinite);
    }
    Ok(Weights { dimensions, values })
}

fn each<const BYTES: usize>(numbers: &[u8]) -> impl Iterator<Item = [u8; BYTES]> + '_ {
    numbers.as_chunks().0.iter().copied()
}

/// Converts a number of 16 bits: a sign, five bits of an exponent, ten of a fraction.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (bits >> 10 & 31, f32::from(bits & 1023));
    let value = match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
    };
    if bits >> 15 == 1 { -value } else { value }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file with one table.
    pub fn safetensors(dtype: &str, shape: &[usize], numbers: &[u8]) -> Vec<u8> {
        let header = format!(
            r#"{{"__metadata__": {{}}, "embeddings": {{"dtype": "{dtype}", "shape": {shape:?}, "data_offsets": [0, {}]}}}}"#,
            numbers.len()
        );
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), numbers].concat()
    }

    #[test]
    fn numbers_of_every_type_are_read() {
        for (dtype, numbers) in [
            ("F32", [1.5_f32, -0.25].map(f32::to_le_bytes).concat()),
            ("F16", [0x3e00_u16, 0xb400].map(u16::to_le_bytes).concat()),
            ("BF16", [0x3fc0_u16, 0xbe80].map(u16::to_le_bytes).concat()),
        ] {
            let Weights { dimensions, values } = parse(&safetensors(dtype, &[1, 2], &numbers)).unwrap();
            assert!(dimensions == 2 && values == [1.5, -0.25], "{dtype}: {values:?}");
        }
        assert!((half(1) - 5.960_464_5e-8).abs() < 1e-12 && half(0x7c00).is_nan());
    }

    #[test]
    fn hostile_files_are_refused() {
        let good = safetensors("F32", &[2, 2], &[0; 16]);
        let cases = [
            (Vec::new(), WeightsError::NotSafetensors),
            (b"not a model at all".to_vec(), WeightsError::NotSafetensors),
            (good[..good.len() - 1].to_vec(), WeightsError::NotSafetensors),
            (u64::MAX.to_le_bytes().to_vec(), WeightsError::NotSafetensors),
            (safetensors("F32", &[3, 2], &[0; 16]), WeightsError::NotSafetensors),
            (safetensors("F32", &[4], &[0; 16]), WeightsError::Shape(vec![4])),
            (safetensors("F32", &[0, 4], &[]), WeightsError::Shape(vec![0, 4])),
            (safetensors("F32", &[1 << 40, 1 << 40], &[0; 16]), WeightsError::Shape(vec![1 << 40, 1 << 40])),
            (safetensors("I64", &[1, 2], &[0; 16]), WeightsError::Type("I64".to_owned())),
            (safetensors("F32", &[1, 1], &f32::NAN.to_le_bytes()), WeightsError::NotFinite),
            (safetensors("F16", &[1, 1], &[0, 0x7c]), WeightsError::NotFinite),
        ];
        for (bytes, expected) in cases {
            assert_eq!(parse(&bytes).unwrap_err(), expected);
        }
        let header = r#"{"a": {}, "b": {}}"#;
        let two = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
        assert_eq!(parse(&two).unwrap_err(), WeightsError::Tables(2));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), shape in prop::collection::vec(0..5_usize, 0..3)) {
            let _ = parse(&bytes);
            let _ = parse(&safetensors("F16", &shape, &bytes));
        }
    }
}
