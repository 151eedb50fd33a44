//! Escapes untrusted text before it appears in messages for people and models.

/// In characters.
const MAX_LENGTH: usize = 200;

/// Makes a text safe to show: on one line, of limited length, with characters that hide or reorder others escaped.
pub fn printable(text: &str) -> String {
    printable_up_to(text, MAX_LENGTH)
}

/// Like [`printable`], with at most `max_length` characters.
pub fn printable_up_to(text: &str, max_length: usize) -> String {
    let mut result = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == max_length {
            result.push('…');
            break;
        }
        result.extend(escaped(character));
    }
    result
}

/// Like [`printable`], but of any length and with line breaks and tabs kept.
pub fn printable_text(text: &str) -> String {
    let shown = |character: char| -> String {
        if matches!(character, '\n' | '\t') { character.into() } else { escaped(character).collect() }
    };
    // Windows line endings need no escape.
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Whether a character neither hides, reorders nor breaks the text around it.
pub fn is_harmless(character: char) -> bool {
    !(character.is_control() || is_invisible(character))
}

/// Yields a harmless character itself, and any other as its escape.
pub fn escaped(character: char) -> impl Iterator<Item = char> {
    let harmless = is_harmless(character);
    let escape = (!harmless).then(|| character.escape_default());
    harmless.then_some(character).into_iter().chain(escape.into_iter().flatten())
}

/// Characters of no width, and those that change the direction of text.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            // U+FE0F is allowed: it only makes emoji colorful.
            | '\u{fe00}'..='\u{fe0e}' | '\u{e0000}'..='\u{e01ef}')
}

/// Joins names with commas, each in backticks.
pub fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{}`", printable(name))).collect::<Vec<_>>().join(", ")
}

/// Returns a number with its noun, as in `1 file` or `3 files`.
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_hide_text_or_break_the_line_are_escaped() {
        assert_eq!(printable("it's `fine`: été 文"), "it's `fine`: été 文");
        assert_eq!(printable("a\nb\u{202e}c\0"), "a\\nb\\u{202e}c\\u{0}");
        assert_eq!(printable(&"x".repeat(300)).chars().count(), 201);
        assert_eq!(printable_text("a\tb\r\nc\rd\u{1b}\n"), "a\tb\nc\\rd\\u{1b}\n");
    }
}
