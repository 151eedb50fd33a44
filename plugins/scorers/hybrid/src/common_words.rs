//! Words that everybody uses for everything.

use std::collections::BTreeSet;
use std::sync::LazyLock;

static COMMON: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("../data/common.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// Whether a folded word is one of them.
pub fn is_common(word: &str) -> bool {
    COMMON.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_in_the_form_that_words_have() {
        assert!(is_common("yesterday") && is_common("voudrais") && !is_common("invoice"));
        assert!(COMMON.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
    }
}
