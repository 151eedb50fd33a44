//! One entry of a listing.

use std::cmp::Ordering;
use std::path::PathBuf;

use bashkit::Metadata;

pub struct Entry {
    pub name: String,
    pub metadata: Metadata,
    /// The target of a link.
    pub target: Option<PathBuf>,
}

impl Entry {
    pub fn is_folder(&self) -> bool {
        self.metadata.file_type.is_dir()
    }

    pub fn ending(&self) -> &str {
        self.name.rsplit_once('.').map_or("", |(_, ending)| ending)
    }
}

/// Sorts `v9` before `v10`.
pub fn by_version(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while let (Some(first), Some(second)) = (left.first(), right.first()) {
        if first.is_ascii_digit() && second.is_ascii_digit() {
            let (one, rest_of_left) = number(left);
            let (other, rest_of_right) = number(right);
            match one.cmp(&other) {
                Ordering::Equal => (left, right) = (rest_of_left, rest_of_right),
                unequal => return unequal,
            }
        } else if first == second {
            (left, right) = (&left[1..], &right[1..]);
        } else {
            return first.cmp(second);
        }
    }
    left.len().cmp(&right.len())
}

fn number(text: &[u8]) -> (u128, &[u8]) {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..length].iter().fold(0_u128, |value, digit| value.wrapping_mul(10) + u128::from(digit - b'0'));
    (value, &text[length..])
}
