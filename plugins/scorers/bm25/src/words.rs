//! Splits text into normalized words: lower case, without accents, compounds also split.

use crate::stop_words::is_stop_word;

/// Longer ones are keys, digests and encoded bytes.
const MAX_WORD_BYTES: usize = 48;

/// Only the start of a longer task is read.
const MAX_TASK_BYTES: usize = 16 << 10;

/// Returns the start of a long task.
pub fn task_prefix(task: &str) -> &str {
    &task[..task.floor_char_boundary(MAX_TASK_BYTES)]
}

/// Visits every significant word of a text: the parts of a compound, then the joined compound.
///
/// `E-mail` gives `mail` and `email`, `end-to-end` gives `end` twice and `endtoend`.
pub fn each_word(text: &str, mut visit: impl FnMut(&str)) {
    each_compound(text, |compound| {
        if compound.contains('-') {
            compound.split('-').filter(|part| is_word_part(part)).for_each(&mut visit);
            visit(&compound.replace('-', ""));
        } else if !is_stop_word(compound) {
            visit(compound);
        }
    });
}

/// Whether a part of a compound counts as a word: the `e` of `e-mail` does not.
pub fn is_word_part(part: &str) -> bool {
    part.len() > 1 && !is_stop_word(part)
}

/// Visits every word, folded, with its hyphens, stop words included.
///
/// Any character other than letters, numbers and hyphens separates words. The signs of `C++` and `C#` belong to them.
/// In scripts without spaces every character is a word.
pub fn each_compound(text: &str, mut visit: impl FnMut(&str)) {
    let mut visit = |word: &str| {
        let compound = word.trim_matches('-');
        if !compound.is_empty() && compound.len() <= MAX_WORD_BYTES {
            visit(compound);
        }
    };
    let mut word = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let plain = plain_prefix(rest);
        if plain > 0 {
            let (prefix, after) = rest.split_at(plain);
            // Most words are in lower case already and need no copy.
            if word.is_empty() && after.bytes().next().is_none_or(ends_word) {
                visit(prefix);
            } else {
                word.push_str(prefix);
            }
            rest = after;
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            'A'..='Z' => word.push(letter.to_ascii_lowercase()),
            '+' | '#' if is_language_name(&word) => word.push(letter),
            // Combining accents.
            '\u{300}'..='\u{36f}' => {}
            _ if letter.is_ascii() || !letter.is_alphanumeric() => finish(&mut word, &mut visit),
            _ if is_cjk(letter) => {
                finish(&mut word, &mut visit);
                word.push(letter);
                finish(&mut word, &mut visit);
            }
            _ => fold_into(&mut word, letter),
        }
    }
    finish(&mut word, &mut visit);
}

fn finish(word: &mut String, visit: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        visit(word);
        word.clear();
    }
}

/// Returns the length of the prefix of ASCII lower-case letters, digits and hyphens.
fn plain_prefix(text: &str) -> usize {
    text.bytes().take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')).count()
}

/// Whether nothing after a plain prefix belongs to the word.
fn ends_word(next: u8) -> bool {
    next.is_ascii() && !next.is_ascii_uppercase() && !matches!(next, b'+' | b'#')
}

fn is_language_name(word: &str) -> bool {
    matches!(word, "c" | "c+" | "f" | "j")
}

/// Whether a letter is Chinese or kana.
pub fn is_cjk(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Appends a letter in lower case and without its accent.
fn fold_into(word: &mut String, letter: char) {
    for lower in letter.to_lowercase() {
        match lower {
            'à'..='å' | 'ā' | 'ă' | 'ą' => word.push('a'),
            'æ' => word.push_str("ae"),
            'ç' | 'ć' | 'č' => word.push('c'),
            'ď' | 'đ' => word.push('d'),
            'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => word.push('e'),
            'ğ' => word.push('g'),
            'ì'..='ï' | 'ī' | 'ı' => word.push('i'),
            'ł' => word.push('l'),
            'ñ' | 'ń' | 'ň' => word.push('n'),
            'ò'..='ö' | 'ø' | 'ō' | 'ő' => word.push('o'),
            'œ' => word.push_str("oe"),
            'ř' => word.push('r'),
            'ß' => word.push_str("ss"),
            'ś' | 'ş' | 'š' | 'ș' => word.push('s'),
            'ť' | 'ț' => word.push('t'),
            'ù'..='ü' | 'ū' | 'ů' | 'ű' => word.push('u'),
            'ý' | 'ÿ' => word.push('y'),
            'ź' | 'ż' | 'ž' => word.push('z'),
            '\u{300}'..='\u{36f}' => {}
            other => word.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn text_is_split_into_normalized_words() {
        for (text, expected) in [
            ("Rédiger l'Œuvre, naïvement", vec!["rediger", "oeuvre", "naivement"]),
            ("re\u{301}sume\u{301}", vec!["resume"]),
            ("E-mail -- end-to-end", vec!["mail", "email", "end", "end", "endtoend"]),
            ("C++, C#/F# and a+b", vec!["c++", "c#", "f#", "b"]),
            ("MAX_FILE_SIZE=node.js", vec!["max", "file", "size", "node", "js"]),
            ("數據 デ", vec!["數", "據", "デ"]),
            ("the 🦀 of und", vec!["und"]),
            ("Straße ŁÓDŹ İstanbul", vec!["strasse", "lodz", "istanbul"]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn keys_and_digests_are_not_words() {
        assert_eq!(words(&format!("a {} word", "0123456789abcdef".repeat(4))), ["word"]);
    }

    proptest! {
        #[test]
        fn normalizing_is_idempotent(text in "\\PC*") {
            for word in words(&text) {
                prop_assert!(!word.is_empty());
                prop_assert!(is_stop_word(&word) || words(&word) == [word.as_str()], "{word:?}");
            }
        }
    }
}
