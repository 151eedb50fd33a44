//! Words with little meaning.

use crate::stem::stem;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Whether a folded word says little even if a skill has it.
pub fn is_common(word: &str) -> bool {
    COMMON.contains(word)
}

/// Whether it is insignificant that no skill has the word, in any form.
pub fn is_vague(word: &str) -> bool {
    is_common(word) || VAGUE.contains(stem(word))
}

static COMMON: LazyLock<BTreeSet<&str>> = LazyLock::new(|| words(include_str!("../data/common.txt")).collect());
static VAGUE: LazyLock<BTreeSet<&str>> = LazyLock::new(|| words(include_str!("../data/vague.txt")).map(stem).collect());

fn words(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_normalized() {
        assert!(is_common("yesterday") && is_common("voudrais") && !is_common("invoice"));
        assert!(is_vague("yesterday") && is_vague("stared") && !is_vague("invoice"));
        assert!(COMMON.iter().chain(VAGUE.iter()).all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
    }
}
