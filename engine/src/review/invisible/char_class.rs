//! Classifies invisible characters, and the scripts that need them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharClass {
    Visible,
    /// Joins or separates letters; some scripts and emoji need it.
    Joiner,
    /// A line break opportunity, for scripts without spaces.
    Space,
    /// Selects a variant of the preceding character.
    Selector,
    Filler,
    Mongolian,
    /// A direction mark, useful in right-to-left lines.
    Direction,
    /// Starts or ends a directional isolate.
    Isolate,
    /// Overrides the direction of what follows.
    Override,
    Tag,
    /// A line separator other than a line feed.
    Separator,
    FormFeed,
    Other,
}

pub fn classify(letter: char) -> CharClass {
    match letter {
        '\t' | '\n' | '\r' | ' '..='~' => CharClass::Visible,
        '\u{c}' => CharClass::FormFeed,
        '\u{b}' | '\u{85}' | '\u{2028}' | '\u{2029}' => CharClass::Separator,
        '\u{200c}' | '\u{200d}' => CharClass::Joiner,
        '\u{200b}' => CharClass::Space,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => CharClass::Selector,
        '\u{115f}' | '\u{1160}' => CharClass::Filler,
        '\u{180b}'..='\u{180f}' => CharClass::Mongolian,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => CharClass::Direction,
        '\u{2066}'..='\u{2069}' => CharClass::Isolate,
        '\u{202a}'..='\u{202e}' => CharClass::Override,
        '\u{e0000}'..='\u{e007f}' => CharClass::Tag,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0080}'..='\u{e00ff}'
        | '\u{e01f0}'..='\u{e0fff}' => CharClass::Other,
        _ => CharClass::Visible,
    }
}

/// Whether a letter belongs to a script written with joiners: Arabic and related scripts, South and South East Asian
/// scripts, Mongolian.
pub fn needs_joiners(letter: char) -> bool {
    matches!(letter,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
            | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{a8ff}' | '\u{a980}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefe}' | '\u{10a00}'..='\u{10fff}' | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1eeff}')
        && classify(letter) == CharClass::Visible
}

/// Whether a letter belongs to a script without spaces between words.
pub fn has_no_spaces(letter: char) -> bool {
    matches!(letter,
        '\u{e00}'..='\u{eff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19df}'
            | '\u{1a20}'..='\u{1aaf}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}')
}

pub fn is_jamo(letter: char) -> bool {
    matches!(letter, '\u{1100}'..='\u{115e}' | '\u{1161}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{d7b0}'..='\u{d7ff}')
}

pub fn is_mongolian(letter: char) -> bool {
    matches!(letter, '\u{1800}'..='\u{180a}' | '\u{1810}'..='\u{18af}')
}

/// Whether a letter is written from right to left.
pub fn is_rtl(letter: char) -> bool {
    matches!(letter, '\u{590}'..='\u{61b}' | '\u{61d}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Whether an emoji may consist of this character.
pub fn is_pictograph(letter: char) -> bool {
    matches!(letter,
        '©' | '®' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}'
            | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}'
            | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// What may precede the joiner in an emoji: a pictograph, a skin tone, or the emoji presentation selector.
pub fn may_be_joined(letter: char) -> bool {
    is_pictograph(letter) || letter == '\u{fe0f}'
}

/// Whether a selector follows a character that may have variants.
pub fn selects_after(selector: char, before: char) -> bool {
    let is_ideograph = matches!(before,
        '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    match selector {
        '\u{e0100}'..='\u{e01ef}' => is_ideograph,
        _ => {
            matches!(before, '0'..='9' | '#' | '*')
                || !before.is_ascii() && !before.is_whitespace() && classify(before) == CharClass::Visible
        }
    }
}

/// Returns the code point and, if it is well known, the name.
pub fn name(letter: char) -> String {
    let name = match letter {
        '\0' => " NUL",
        '\u{8}' => " BACKSPACE",
        '\u{b}' => " LINE TABULATION",
        '\u{c}' => " FORM FEED",
        '\u{1b}' => " ESCAPE",
        '\u{7f}' => " DELETE",
        '\u{85}' => " NEXT LINE",
        '\u{ad}' => " SOFT HYPHEN",
        '\u{61c}' => " ARABIC LETTER MARK",
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => ", a HANGUL FILLER,",
        '\u{180e}' => " MONGOLIAN VOWEL SEPARATOR",
        '\u{200b}' => " ZERO WIDTH SPACE",
        '\u{200c}' => " ZERO WIDTH NON-JOINER",
        '\u{200d}' => " ZERO WIDTH JOINER",
        '\u{200e}' => " LEFT-TO-RIGHT MARK",
        '\u{200f}' => " RIGHT-TO-LEFT MARK",
        '\u{2028}' => " LINE SEPARATOR",
        '\u{2029}' => " PARAGRAPH SEPARATOR",
        '\u{202a}' => " LEFT-TO-RIGHT EMBEDDING",
        '\u{202b}' => " RIGHT-TO-LEFT EMBEDDING",
        '\u{202c}' => " POP DIRECTIONAL FORMATTING",
        '\u{202d}' => " LEFT-TO-RIGHT OVERRIDE",
        '\u{202e}' => " RIGHT-TO-LEFT OVERRIDE",
        '\u{2060}' => " WORD JOINER",
        '\u{2061}'..='\u{2064}' => ", an invisible operator,",
        '\u{2066}' => " LEFT-TO-RIGHT ISOLATE",
        '\u{2067}' => " RIGHT-TO-LEFT ISOLATE",
        '\u{2068}' => " FIRST STRONG ISOLATE",
        '\u{2069}' => " POP DIRECTIONAL ISOLATE",
        '\u{feff}' => " ZERO WIDTH NO-BREAK SPACE",
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => ", a variation selector without a character,",
        _ if letter.is_control() => ", a control character,",
        _ => "",
    };
    format!("U+{:04X}{name}", u32::from(letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use icu_properties::CodePointSetData;
    use icu_properties::props::{BidiControl, DefaultIgnorableCodePoint};

    #[test]
    fn every_ignorable_and_directional_character_has_a_class() {
        let (ignorable, directional) =
            (CodePointSetData::new::<DefaultIgnorableCodePoint>(), CodePointSetData::new::<BidiControl>());
        for letter in ('\0'..=char::MAX).filter(|letter| ignorable.contains(*letter) || directional.contains(*letter)) {
            assert_ne!(classify(letter), CharClass::Visible, "{letter:?}");
        }
    }
}
