//! Other people's words in messages for people and models.

/// Longest piece that is repeated, in characters.
const LONGEST: usize = 200;

/// A text as it can be shown: on one line, without characters that hide or reorder others, and not too long.
pub fn printable(text: &str) -> String {
    printable_up_to(text, LONGEST)
}

/// The same with this many characters at most.
pub fn printable_up_to(text: &str, longest: usize) -> String {
    let mut shown = String::new();
    for (at, letter) in text.chars().enumerate() {
        if at == longest {
            shown.push('…');
            break;
        }
        shown.extend(escaped(letter));
    }
    shown
}

/// A text of many lines as it can be shown, with its lines and tabs.
pub fn printable_text(text: &str) -> String {
    let shown = |letter: char| -> String {
        if matches!(letter, '\n' | '\t') { letter.into() } else { escaped(letter).collect() }
    };
    // Line ends of other systems are no more than that.
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Whether a letter neither hides, reorders nor breaks what is around it.
pub fn is_harmless(letter: char) -> bool {
    !(letter.is_control() || is_invisible(letter))
}

/// A letter as it can be shown, or its escape when it is not harmless.
pub fn escaped(letter: char) -> impl Iterator<Item = char> {
    let harmless = is_harmless(letter);
    let escape = (!harmless).then(|| letter.escape_default());
    harmless.then_some(letter).into_iter().chain(escape.into_iter().flatten())
}

/// Characters that take no room, or change the direction of those around them.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            // The last of these selectors only makes emoji colourful.
            | '\u{fe00}'..='\u{fe0e}' | '\u{e0000}'..='\u{e01ef}')
}

/// Several names, each in backticks.
pub fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{}`", printable(name))).collect::<Vec<_>>().join(", ")
}

/// A number of things.
pub fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_hides_or_breaks_a_line_is_shown() {
        assert_eq!(printable("it's `fine`: été 文"), "it's `fine`: été 文");
        assert_eq!(printable("a\nb\u{202e}c\0"), "a\\nb\\u{202e}c\\u{0}");
        assert_eq!(printable(&"x".repeat(300)).chars().count(), 201);
        assert_eq!(printable_text("a\tb\r\nc\rd\u{1b}\n"), "a\tb\nc\\rd\\u{1b}\n");
    }
}
