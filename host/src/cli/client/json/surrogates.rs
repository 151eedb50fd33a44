//! Halves of letters, which JavaScript writes where it cut a text in the middle of one, and which no `str` can hold.

use std::borrow::Cow;

/// An escape such as `\ud83d`, in bytes.
const LENGTH: usize = 6;

/// Stands for a letter that is unknown, and is as long as any other escape.
const REPLACEMENT: &str = "\\ufffd";

/// The same text with another escape in place of each half without its other half. All places in it stay the same.
pub fn without_lone(text: &str) -> Cow<'_, str> {
    let mut paired = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(next) = text[at..].find('\\') {
        at += next;
        at += match (unit(text, at), unit(text, at + LENGTH)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * LENGTH,
            (Some(0xd800..=0xdfff), _) => {
                paired.to_mut().replace_range(at..at + LENGTH, REPLACEMENT);
                LENGTH
            }
            (Some(_), _) => LENGTH,
            // The letter behind is escaped, a backslash perhaps.
            (None, _) => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    paired
}

/// The number in the escape that begins here, if one does.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + LENGTH)?.strip_prefix("\\u")?;
    // A sign is no digit, whatever the standard library says.
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    are_digits.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_without_the_other_half_are_replaced() {
        for (text, expected) in [
            (r#""hi \ud83d""#, r#""hi \ufffd""#),
            (r#""\uDE00\uD83D""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\u0041""#, r#""\ufffd\u0041""#),
            (r#""\ud83d\ude00 \u00e9 \n""#, r#""\ud83d\ude00 \u00e9 \n""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\ud83""#, r#""\ud83""#),
            (r#""\u+83d \é\"#, r#""\u+83d \é\"#),
        ] {
            assert_eq!(without_lone(text), expected, "{text}");
            assert_eq!(expected.len(), text.len(), "{text}");
        }
        assert!(matches!(without_lone("{}"), Cow::Borrowed(_)));
    }
}
