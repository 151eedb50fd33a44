//! Splits text into normalised words: lower case, without accents, compounds also apart.

use crate::stop_words::is_stop_word;

/// Longer ones are keys, digests and encoded bytes, which nobody asks for.
const MOST_BYTES: usize = 48;

/// More of a task is not read. Whoever writes more has said what it is about.
const MOST_OF_A_TASK: usize = 16 << 10;

/// The beginning of a long task.
pub fn opening(task: &str) -> &str {
    &task[..task.floor_char_boundary(MOST_OF_A_TASK)]
}

/// Shows every word of a text that can tell something: the parts of a compound, then the compound in one word.
///
/// `E-mail` gives `mail` and `email`, `end-to-end` gives `end` twice and `endtoend`.
pub fn each_word(text: &str, mut see: impl FnMut(&str)) {
    each_compound(text, |compound| {
        if compound.contains('-') {
            compound.split('-').filter(|part| is_telling_part(part)).for_each(&mut see);
            see(&compound.replace('-', ""));
        } else if !is_stop_word(compound) {
            see(compound);
        }
    });
}

/// Whether a part of a compound is a word of its own: the `e` of `e-mail` is not.
pub fn is_telling_part(part: &str) -> bool {
    part.len() > 1 && !is_stop_word(part)
}

/// Shows every word as it is written but folded, with its hyphens, stop words included.
///
/// A character that is no letter, number or hyphen separates words. The plus and number signs of `C++` and `C#` belong
/// to them. Scripts without spaces give one word for each character.
pub fn each_compound(text: &str, mut see: impl FnMut(&str)) {
    let mut see = |word: &str| {
        let compound = word.trim_matches('-');
        if !compound.is_empty() && compound.len() <= MOST_BYTES {
            see(compound);
        }
    };
    let mut word = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let plain = plain_beginning(rest);
        if plain > 0 {
            let (beginning, after) = rest.split_at(plain);
            // Most words are in lower case already and need no copy.
            if word.is_empty() && after.bytes().next().is_none_or(ends_word) {
                see(beginning);
            } else {
                word.push_str(beginning);
            }
            rest = after;
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            'A'..='Z' => word.push(letter.to_ascii_lowercase()),
            '+' | '#' if is_name_of_language(&word) => word.push(letter),
            // Marks over the letter before.
            '\u{300}'..='\u{36f}' => {}
            _ if letter.is_ascii() || !letter.is_alphanumeric() => finish(&mut word, &mut see),
            _ if stands_alone(letter) => {
                finish(&mut word, &mut see);
                word.push(letter);
                finish(&mut word, &mut see);
            }
            _ => fold_into(&mut word, letter),
        }
    }
    finish(&mut word, &mut see);
}

fn finish(word: &mut String, see: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        see(word);
        word.clear();
    }
}

/// How many bytes at the beginning are small letters, numbers and hyphens without accents.
fn plain_beginning(text: &str) -> usize {
    text.bytes().take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')).count()
}

/// Whether nothing after a plain beginning belongs to it.
fn ends_word(next: u8) -> bool {
    next.is_ascii() && !next.is_ascii_uppercase() && !matches!(next, b'+' | b'#')
}

fn is_name_of_language(word: &str) -> bool {
    matches!(word, "c" | "c+" | "f" | "j")
}

/// Chinese characters and kana.
fn stands_alone(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Adds a letter in lower case and without its accent.
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
    fn text_becomes_normalised_words() {
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
    fn keys_and_digests_are_no_words() {
        assert_eq!(words(&format!("a {} word", "0123456789abcdef".repeat(4))), ["word"]);
    }

    proptest! {
        #[test]
        fn words_of_words_are_the_same(text in "\\PC*") {
            for word in words(&text) {
                prop_assert!(!word.is_empty());
                prop_assert!(is_stop_word(&word) || words(&word) == [word.as_str()], "{word:?}");
            }
        }
    }
}
