//! Names of packages.

use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// In bytes.
const MAX_LENGTH: usize = 100;

/// The name of a package, normalized: `Ruamel.YAML` and `ruamel-yaml` are the same package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the name of a package: write letters, digits, `-`, `_` and `.`, as in `python-dateutil`", .0.escape_debug())]
pub struct InvalidName(String);

impl Name {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let is_separator = |letter: char| matches!(letter, '-' | '_' | '.');
        let is_valid = !text.is_empty()
            && text.len() <= MAX_LENGTH
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || is_separator(letter))
            && !text.starts_with(is_separator)
            && !text.ends_with(is_separator);
        if !is_valid {
            return Err(InvalidName(text.chars().take(MAX_LENGTH).collect()));
        }
        let parts: Vec<&str> = text.split(is_separator).filter(|part| !part.is_empty()).collect();
        Ok(Self(parts.join("-").to_ascii_lowercase()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_equal() {
        for text in ["Ruamel.YAML", "ruamel-yaml", "ruamel__.-yaml"] {
            assert_eq!(text.parse::<Name>().unwrap().as_str(), "ruamel-yaml");
        }
        for text in ["", "-a", "a.", "a b", "../a", "a/b", "é", "a\0", &"a".repeat(101)] {
            assert!(text.parse::<Name>().is_err(), "{text}");
        }
    }
}
