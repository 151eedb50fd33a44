//! Invisible characters, by which a model reads something else than a person sees.

mod char_class;

use super::{Diagnostic, Edit, edit};
use crate::place::Place;
use crate::problem::{Finding, quote};
use char_class::{CharClass, classify, is_rtl, needs_joiners, selects_after};
use std::collections::BTreeMap;

/// From this length on, a run of invisible characters may be a message.
const SUSPICIOUS_RUN: usize = 8;

/// Maximum number of characters of a hidden message that are shown.
const MAX_MESSAGE: usize = 200;

/// Determines which characters are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Markdown,
    /// Form feeds separate pages of code by convention. Scripts are never edited, because the characters may be
    /// intended.
    Script,
}

/// Whether a character is one of those that this module looks for.
pub fn is_invisible(letter: char) -> bool {
    classify(letter) != CharClass::Visible
}

/// Reports the byte order mark at the start of a file.
pub fn mark(text: &str) -> Option<Diagnostic> {
    let rest = text.strip_prefix('\u{feff}')?;
    let message = "the file begins with a byte order mark, which strict clients reject";
    let finding = Finding::warning("byte-order-mark", message, "save the file as UTF-8 without a byte order mark")
        .at(Place::START);
    Some(Diagnostic { finding, edits: vec![edit(0, text.len() - rest.len(), "")] })
}

/// Reports each kind of invisible character once, at its first occurrence.
pub fn invisible(text: &str, kind: Kind) -> Vec<Diagnostic> {
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let mut search = Search { text, kind, line: None, groups: BTreeMap::new() };
    let is_plain = |byte: &&u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    let mut at = start;
    loop {
        at += text.as_bytes()[at..].iter().take_while(is_plain).count();
        let Some(letter) = text[at..].chars().next() else { break };
        at = if classify(letter) == CharClass::Visible { at + letter.len_utf8() } else { search.run(at) };
    }
    search.groups.into_iter().map(|(group, occurrences)| occurrences.into_diagnostic(group, text, kind)).collect()
}

/// Characters that are reported together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Letter(char),
    /// Deprecated language tags, which mirror ASCII.
    Tags,
    Selectors,
    Many,
}

struct Occurrences {
    first: usize,
    count: usize,
    edits: Vec<Edit>,
    message: String,
}

struct Search<'text> {
    text: &'text str,
    kind: Kind,
    /// The most recently inspected line.
    line: Option<Line>,
    groups: BTreeMap<Group, Occurrences>,
}

#[derive(Clone, Copy)]
struct Line {
    end: usize,
    /// Whether it contains right-to-left text.
    is_rtl: bool,
    /// Whether every directional isolate is closed in it.
    is_closed: bool,
}

impl Search<'_> {
    /// Processes the run of invisible characters that starts here and returns where it ends.
    fn run(&mut self, start: usize) -> usize {
        let before = self.text[..start].chars().next_back();
        let rest = &self.text[start..];
        let length = rest.find(|letter| classify(letter) == CharClass::Visible).unwrap_or(rest.len());
        let (run, after) = (&rest[..length], rest[length..].chars().next());
        let letters = run.chars().count();
        let all = |wanted: CharClass| run.chars().all(|letter| classify(letter) == wanted);
        if all(CharClass::Tag) {
            if !(before == Some('\u{1f3f4}') && is_flag(run)) {
                self.note(Group::Tags, start, run, tagged(run));
            }
        } else if all(CharClass::Selector) && letters > 2 {
            self.note(Group::Selectors, start, run, selected(run));
        } else if letters >= SUSPICIOUS_RUN && !all(CharClass::Separator) {
            self.note(Group::Many, start, run, String::new());
        } else {
            let mut before = before;
            for (at, letter) in run.char_indices() {
                let next = run[at + letter.len_utf8()..].chars().next().or(after);
                if !self.is_needed(start + at, letter, before, next) {
                    self.note(Group::Letter(letter), start + at, &run[at..at + letter.len_utf8()], String::new());
                }
                before = Some(letter);
            }
        }
        start + length
    }

    /// Whether a script, an emoji or a line needs this character at this position.
    fn is_needed(&mut self, at: usize, letter: char, before: Option<char>, after: Option<char>) -> bool {
        let beside = |is: fn(char) -> bool| before.is_some_and(is) || after.is_some_and(is);
        match classify(letter) {
            CharClass::Visible => true,
            CharClass::Joiner => {
                let in_emoji = letter == '\u{200d}'
                    && before.is_some_and(char_class::may_be_joined)
                    && after.is_some_and(char_class::is_pictograph);
                in_emoji || beside(needs_joiners)
            }
            CharClass::Space => beside(char_class::has_no_spaces),
            CharClass::Selector => before.is_some_and(|before| selects_after(letter, before)),
            CharClass::Filler => beside(char_class::is_jamo),
            CharClass::Mongolian => beside(char_class::is_mongolian),
            CharClass::Direction => self.line_at(at).is_rtl,
            CharClass::Isolate => {
                let line = self.line_at(at);
                line.is_rtl && line.is_closed
            }
            CharClass::FormFeed => self.kind == Kind::Script,
            CharClass::Tag | CharClass::Override | CharClass::Separator | CharClass::Other => false,
        }
    }

    fn line_at(&mut self, at: usize) -> Line {
        if let Some(line) = self.line.filter(|line| at < line.end) {
            return line;
        }
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline);
        let text = &self.text[start..end];
        let mut open = Some(0_usize);
        for letter in text.chars() {
            open = match letter {
                '\u{2066}'..='\u{2068}' => open.map(|open| open + 1),
                '\u{2069}' => open.and_then(|open| open.checked_sub(1)),
                _ => open,
            };
        }
        let line = Line { end, is_rtl: text.contains(is_rtl), is_closed: open == Some(0) };
        self.line = Some(line);
        line
    }

    fn note(&mut self, group: Group, at: usize, letters: &str, message: String) {
        let occurrences =
            self.groups.entry(group).or_insert_with(|| Occurrences { first: at, count: 0, edits: Vec::new(), message });
        occurrences.count += letters.chars().count();
        // Separators become a space, so that words do not run together.
        let parts = |letter: char| matches!(classify(letter), CharClass::Separator | CharClass::FormFeed);
        let left = if letters.chars().all(parts) { " " } else { "" };
        let end = at + letters.len();
        match occurrences.edits.last_mut() {
            Some(last) if last.end as usize == at && last.text == left => last.end = edit(at, end, left).end,
            _ => occurrences.edits.push(edit(at, end, left)),
        }
    }
}

impl Occurrences {
    fn into_diagnostic(self, group: Group, text: &str, kind: Kind) -> Diagnostic {
        let Self { first, count, edits, message } = self;
        let times = if count > 1 { format!(", and appears {count} times in this file") } else { String::new() };
        let finding = match group {
            Group::Letter(letter) if classify(letter) == CharClass::Override => {
                let name = char_class::name(letter);
                let message = format!("{name} shows what follows in another order than it is read{times}");
                Finding::error("hidden-text", message, "remove it")
            }
            Group::Letter(letter) => {
                let message = format!("{} is invisible{times}", char_class::name(letter));
                Finding::warning("invisible-character", message, "remove it")
            }
            Group::Tags => {
                let message = format!("{count} Unicode tag characters, U+E0000 to U+E007F, hide {message}");
                Finding::error("hidden-text", message, "remove them, unless you know why they are there")
            }
            Group::Selectors => {
                let message = format!("{count} variation selectors in a row hide {message}");
                Finding::error("hidden-text", message, "remove them, unless you know why they are there")
            }
            Group::Many => {
                let message = format!("{count} invisible characters in a row may hide a message");
                Finding::error("hidden-text", message, "remove them, unless you know why they are there")
            }
        };
        let edits = if kind == Kind::Markdown { edits } else { Vec::new() };
        Diagnostic { finding: finding.at(Place::of(text, first)), edits }
    }
}

/// Whether tags after a black flag name a region, as in the flag of Scotland.
fn is_flag(run: &str) -> bool {
    let letters: Vec<char> = run.chars().collect();
    let is_tag = |letter: &char| matches!(letter, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    letters.split_last().is_some_and(|(last, region)| {
        *last == '\u{e007f}' && (3..=6).contains(&region.len()) && region.iter().all(is_tag)
    })
}

/// Decodes the text in a run of tags.
fn tagged(run: &str) -> String {
    let plain = |letter: char| char::from_u32(u32::from(letter) - 0xe_0000).filter(|letter| !letter.is_ascii_control());
    format!("the text `{}`", quote(&run.chars().filter_map(plain).take(MAX_MESSAGE).collect::<String>()))
}

/// Decodes the bytes in a run of selectors, as text if they are UTF-8.
fn selected(run: &str) -> String {
    let byte = |letter: char| match letter {
        '\u{fe00}'..='\u{fe0f}' => u8::try_from(u32::from(letter) - 0xfe00).ok(),
        '\u{e0100}'..='\u{e01ef}' => u8::try_from(u32::from(letter) - 0xe_0100 + 16).ok(),
        _ => None,
    };
    let bytes: Vec<u8> = run.chars().filter_map(byte).take(MAX_MESSAGE).collect();
    match String::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => format!("the text `{}`", quote(&text)),
        _ => "something".to_owned(),
    }
}

#[cfg(test)]
mod tests;
