//! A stemmer for English and French.
//!
//! The stem only has to be the same for all forms of a word; it need not be a word itself.

/// Endings to remove, longest first, each with the minimum length of what remains.
const ENDINGS: &[(&str, usize)] = &[
    ("issements", 4),
    ("issement", 4),
    ("ications", 3),
    ("ication", 3),
    ("ateurs", 4),
    ("ations", 4),
    ("ateur", 4),
    ("ating", 4),
    ("ation", 4),
    ("ators", 4),
    ("ances", 4),
    ("ement", 4),
    ("ments", 4),
    ("aient", 4),
    ("ables", 4),
    ("ated", 4),
    ("ates", 4),
    ("ator", 4),
    ("ance", 4),
    ("ence", 4),
    ("ment", 4),
    ("ness", 4),
    ("able", 4),
    ("ible", 4),
    ("euse", 4),
    ("eurs", 4),
    ("ions", 4),
    ("ings", 3),
    ("ing", 3),
    ("ion", 4),
    ("ies", 3),
    ("ied", 3),
    ("eur", 4),
    ("ees", 4),
    ("ent", 5),
    ("ant", 5),
    ("ate", 4),
    ("ers", 4),
    ("ors", 4),
    ("ive", 4),
    ("ise", 4),
    ("ize", 4),
    ("ely", 4),
    ("ed", 3),
    ("ee", 4),
    ("er", 4),
    ("ez", 4),
    ("or", 4),
    ("ly", 4),
    ("es", 3),
    ("al", 4),
    ("e", 3),
    ("y", 3),
    ("s", 3),
    ("x", 4),
];

/// Returns the stem of a folded word. Short words, and those with other characters than letters, are returned
/// unchanged.
pub fn stem(word: &str) -> &str {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) || word.ends_with("ss") {
        return word;
    }
    let fits = |(ending, least): &&(&str, usize)| {
        // The `y` of `deploy` is part of the stem; that of `query` becomes `ies`.
        let is_vowel = |at: usize| b"aeiou".contains(&word.as_bytes()[at]);
        let long_enough = word.len() >= ending.len() + least;
        word.ends_with(ending) && long_enough && (*ending != "y" || !is_vowel(word.len() - 2))
    };
    let Some((ending, _)) = ENDINGS.iter().find(fits) else { return undoubled(word) };
    undoubled(&word[..word.len() - ending.len()])
}

/// Turns `runn` (from `running`) into `run`.
fn undoubled(stem: &str) -> &str {
    let bytes = stem.as_bytes();
    match bytes {
        [.., before, last] if before == last && bytes.len() > 3 => &stem[..stem.len() - 1],
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_share_a_stem() {
        for forms in [
            &["deploy", "deploys", "deployed", "deploying", "deployment", "deployments"][..],
            &["validate", "validates", "validated", "validating", "validation"],
            &["invoice", "invoices", "invoiced", "invoicing"],
            &["query", "queries"],
            &["run", "runs", "running"],
            &["plan", "plans", "planned", "planning"],
            &["facture", "factures", "facturer", "facturation"],
            &["traduction", "traductions"],
            &["branch", "branches"],
        ] {
            let stems: Vec<&str> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|other| other == &stems[0]), "{forms:?}: {stems:?}");
        }
    }

    #[test]
    fn different_words_have_different_stems() {
        for (left, right) in [("process", "proceed"), ("test", "text"), ("order", "ordinal"), ("cv", "cvs")] {
            assert_ne!(stem(left), stem(right));
        }
    }

    #[test]
    fn a_stem_is_a_prefix() {
        for word in ["", "a", "c++", "2fa", "été", "address", "numbers"] {
            assert!(word.starts_with(stem(word)) && (word.is_empty() || !stem(word).is_empty()), "{word}");
        }
    }
}
