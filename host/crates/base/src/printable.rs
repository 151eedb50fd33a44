//! Escapes untrusted text before it appears in messages for people and models.

use icu_properties::props::{
    CanonicalCombiningClass, DefaultIgnorableCodePoint, Emoji, ExtendedPictographic, GeneralCategory, JoiningType,
    PrependedConcatenationMark,
};
use icu_properties::{CodePointMapData, CodePointSetData};
use std::borrow::Cow;
use std::str::Chars;

/// In characters.
const MAX_LENGTH: usize = 200;

const ESCAPE_START: &str = "\\u{";

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';
const TEXT_STYLE: char = '\u{fe0e}';
const EMOJI_STYLE: char = '\u{fe0f}';

/// Makes a text safe to show: on one line, of limited length, with characters that hide or reorder others escaped.
pub fn printable(text: &str) -> String {
    printable_up_to(text, MAX_LENGTH)
}

/// Like [`printable`], with at most `max_length` characters.
pub fn printable_up_to(text: &str, max_length: usize) -> String {
    let mut shown = Escapes::of(text);
    let mut result = String::new();
    for piece in shown.by_ref().take(max_length) {
        piece.add_to(&mut result);
    }
    if shown.next().is_some() {
        result.push('…');
    }
    result
}

/// Like [`printable`], but of any length and with line breaks and tabs kept. For text in JSON, and on several lines.
pub fn printable_text(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return text.into();
    }
    // Windows line endings need no escape.
    let unix = if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { Cow::Borrowed(text) };
    let is_kept = |piece: &Shown| matches!(piece, Shown::Itself(_) | Shown::Escape('\n' | '\t'));
    if Escapes::of(&unix).all(|piece| is_kept(&piece)) {
        return unix;
    }
    let mut result = String::with_capacity(unix.len() + 16);
    for piece in Escapes::of(&unix) {
        match piece {
            Shown::Escape(character @ ('\n' | '\t')) => result.push(character),
            piece => piece.add_to(&mut result),
        }
    }
    result.into()
}

/// Like [`printable_text`], of a text that is not needed otherwise. Every name and description of a skill that leaves the
/// host in a list passes through here; a file itself is served as it is.
pub fn visible(text: String) -> String {
    let escaped = match printable_text(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(escaped) => Some(escaped),
    };
    escaped.unwrap_or(text)
}

/// Undoes the escapes of hidden characters, so that a name finds what it is shown for.
pub fn original(text: &str) -> Cow<'_, str> {
    let Some((start, mut rest)) = text.split_once(ESCAPE_START) else { return text.into() };
    let mut result = start.to_owned();
    loop {
        let hidden = rest.split_once('}').and_then(|(digits, after)| {
            let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            is_hidden(character).then_some((character, after))
        });
        match hidden {
            Some((character, after)) => {
                result.push(character);
                rest = after;
            }
            None => result.push_str(ESCAPE_START),
        }
        let Some((before, after)) = rest.split_once(ESCAPE_START) else { break };
        result.push_str(before);
        rest = after;
    }
    result.push_str(rest);
    result.into()
}

/// Whether a character hides, reorders or breaks the text around it, or may do so: it is a control or format character,
/// it is ignored by default, or it has no agreed look. The last are private use, and what Unicode has not assigned.
pub fn is_hidden(character: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Unassigned};
    if matches!(character, ' '..='~') {
        return false;
    }
    let is_format = || !CodePointSetData::new::<PrependedConcatenationMark>().contains(character);
    match CodePointMapData::<GeneralCategory>::new().get(character) {
        Control | LineSeparator | ParagraphSeparator | PrivateUse | Unassigned => true,
        // Some are visible signs before a number.
        Format if is_format() => true,
        _ => CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character),
    }
}

/// What is shown of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Itself(char),
    Escape(char),
}

impl Shown {
    pub fn add_to(self, text: &mut String) {
        match self {
            Self::Itself(character) => text.push(character),
            Self::Escape(character) => text.extend(character.escape_default()),
        }
    }
}

/// What is shown of each character of a text.
///
/// A hidden character is shown as its escape, unless its neighbors need it: the joiner and the variation selectors of
/// emoji, and the joiners within words of scripts that are written with them, as in internationalized domain names
/// (RFC 5892, appendix A). At most one such character comes between two others, so no message fits into them. Direction
/// marks and flags of regions, which are spelled with tags, are always escaped.
pub struct Escapes<'text> {
    before: Option<char>,
    rest: Chars<'text>,
}

impl<'text> Escapes<'text> {
    pub fn of(text: &'text str) -> Self {
        Self { before: None, rest: text.chars() }
    }
}

impl Iterator for Escapes<'_> {
    type Item = Shown;

    fn next(&mut self) -> Option<Shown> {
        let character = self.rest.next()?;
        let before = self.before.replace(character);
        let after = || self.rest.clone().next();
        let is_shown = !is_hidden(character) || before.is_some_and(|before| is_needed(character, before, after()));
        Some(if is_shown { Shown::Itself(character) } else { Shown::Escape(character) })
    }
}

/// Whether a hidden character is a part of how its neighbors are written.
fn is_needed(character: char, before: char, after: Option<char>) -> bool {
    const BEFORE: [JoiningType; 3] = [JoiningType::DualJoining, JoiningType::LeftJoining, JoiningType::Transparent];
    const AFTER: [JoiningType; 3] = [JoiningType::DualJoining, JoiningType::RightJoining, JoiningType::Transparent];
    let joining = |character: char| CodePointMapData::<JoiningType>::new().get(character);
    match (character, after) {
        (EMOJI_STYLE | TEXT_STYLE, _) => CodePointSetData::new::<Emoji>().contains(before),
        (ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER, Some(after)) => {
            let is_pictograph = |character: char| CodePointSetData::new::<ExtendedPictographic>().contains(character);
            let in_emoji = character == ZERO_WIDTH_JOINER
                && (is_pictograph(before) || matches!(before, EMOJI_STYLE | '\u{1f3fb}'..='\u{1f3ff}'))
                && is_pictograph(after);
            let combining = CodePointMapData::<CanonicalCombiningClass>::new().get(before);
            let in_word = combining == CanonicalCombiningClass::Virama && !is_hidden(after)
                || BEFORE.contains(&joining(before)) && AFTER.contains(&joining(after));
            in_emoji || in_word && !is_hidden(before)
        }
        _ => false,
    }
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
        assert_eq!(printable(&"x".repeat(200)).chars().count(), 200);
        assert_eq!(printable_text("a\tb\r\nc\rd\u{1b}\n"), "a\tb\nc\\rd\\u{1b}\n");
        assert_eq!(visible("été\r\n".to_owned()), "été\n");
    }

    /// The property decides, not a list of ranges.
    #[test]
    fn no_ignorable_directional_or_format_character_passes() {
        let all = |character: &char| {
            let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(*character);
            ignorable || CodePointSetData::new::<icu_properties::props::BidiControl>().contains(*character)
        };
        let mut count = 0;
        for character in ('\0'..=char::MAX).filter(all) {
            count += 1;
            for text in [format!("a{character}b"), format!("{character}"), format!("a{character}{character}")] {
                assert!(!printable(&text).contains(character), "{text:?}");
                assert!(!printable_text(&text).contains(character), "{text:?}");
                assert_eq!(original(&printable(&text)), text);
            }
        }
        assert!(count > 4_000, "{count}");
        // A grapheme joiner, an interlinear mark, private use, and a noncharacter.
        for character in ['\u{34f}', '\u{fff9}', '\u{e000}', '\u{ffff}', '\u{10ffff}', '\u{85}', '\u{2028}'] {
            assert!(is_hidden(character), "{character:?}");
        }
    }

    #[test]
    fn what_emoji_and_scripts_need_is_kept() {
        for text in [
            "👩\u{200d}💻",
            "❤\u{fe0f}\u{200d}🔥",
            "👩🏽\u{200d}🚀",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "٣\u{601}",
        ] {
            assert_eq!(printable(text), text);
        }
        assert_eq!(printable("p\u{200d}df"), "p\\u{200d}df");
        assert_eq!(printable("💻\u{200d}\u{200d}💻"), "💻\\u{200d}\\u{200d}💻");
        assert_eq!(printable("می\u{200c}\u{200c}خ"), "می\\u{200c}\\u{200c}خ");
        assert_eq!(printable("a\u{fe0f}❤\u{fe0f}\u{fe0f}"), "a\\u{fe0f}❤\u{fe0f}\\u{fe0f}");
    }

    #[test]
    fn only_escapes_of_hidden_characters_are_undone() {
        for text in ["pdf", "\\u{61}", "\\u{", "a\\u{zz}b", "\\u{110000}"] {
            assert_eq!(original(text), text);
        }
        assert_eq!(original("a\\u{200b}b\\u{61}\\u{202E}"), "a\u{200b}b\\u{61}\u{202e}");
    }
}
