//! Other people's words in messages for people and models.

/// Longest piece that is repeated, in characters.
const LONGEST: usize = 200;

/// A text as it can be shown: on one line, without characters that hide or reorder others, and not too long.
pub fn printable(text: &str) -> String {
    let mut shown = String::new();
    for (at, letter) in text.chars().enumerate() {
        if at == LONGEST {
            shown.push('…');
            break;
        }
        if letter.is_control() || is_invisible(letter) {
            shown.extend(letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Characters that take no room, or change the direction of those around them.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Several names, each in backticks.
pub fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{}`", printable(name))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_hides_or_breaks_a_line_is_shown() {
        assert_eq!(printable("it's `fine`: été 文"), "it's `fine`: été 文");
        assert_eq!(printable("a\nb\u{202e}c\0"), "a\\nb\\u{202e}c\\u{0}");
        assert_eq!(printable(&"x".repeat(300)).chars().count(), 201);
    }
}
