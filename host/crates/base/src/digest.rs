//! SHA-256 digests: computing, parsing and formatting.

use sha2::Digest as _;
use std::str::FromStr;

/// The SHA-256 of some bytes, written `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256([u8; 32]);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest: write `sha256:` and 64 hexadecimal digits")]
pub struct InvalidDigest(String);

impl Sha256 {
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Returns the digits without the `sha256:` prefix, for file names.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

impl std::fmt::Display for Sha256 {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "sha256:{}", self.hex())
    }
}

impl FromStr for Sha256 {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let invalid = || InvalidDigest(text.to_owned());
        let digits = text.strip_prefix("sha256:").filter(|digits| digits.len() == 64);
        let digits =
            digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())).ok_or_else(invalid)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| invalid())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| invalid())?;
        }
        Ok(Self(bytes))
    }
}

impl serde::Serialize for Sha256 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_survives_formatting_and_parsing() {
        let digest = Sha256::of(b"abc");
        assert_eq!(digest.to_string(), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let other = digest.to_string().replace("sha256", "md5");
        let signed = digest.to_string().replace("ba78", "+a78");
        for text in ["", "sha256:", "sha256:ab", &other, &signed] {
            assert!(text.parse::<Sha256>().is_err(), "{text}");
        }
    }
}
