//! Characters that nobody sees: what a person reads is then not what a model is given.

mod letters;

use super::{Edit, Found, edit};
use crate::place::Place;
use crate::problem::{Finding, quote};
use letters::{Nature, is_rtl, nature, needs_joiners, selects_after};
use std::collections::BTreeMap;

/// From this many in a row on they may be a message.
const MANY: usize = 8;

/// Most characters of a hidden message that are told.
const LONGEST_MESSAGE: usize = 200;

/// What a file may have and others may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Markdown,
    /// Form feeds are an old way to part pages of code. What a script has in its texts is not for us to take away.
    Script,
}

/// The byte order mark in front of a file.
pub fn mark(text: &str) -> Option<Found> {
    let rest = text.strip_prefix('\u{feff}')?;
    let message = "the file begins with a byte order mark, which strict clients do not take";
    let finding =
        Finding::warning("byte-order-mark", message, "save the file as UTF-8 without a mark").at(Place::START);
    Some(Found { finding, edits: vec![edit(0, text.len() - rest.len(), "")] })
}

/// Each kind of character that cannot be seen, once, at its first place.
pub fn invisible(text: &str, kind: Kind) -> Vec<Found> {
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    let mut search = Search { text, kind, line: None, sights: BTreeMap::new() };
    let is_plain = |byte: &&u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    let mut at = start;
    loop {
        at += text.as_bytes()[at..].iter().take_while(is_plain).count();
        let Some(letter) = text[at..].chars().next() else { break };
        at = if nature(letter) == Nature::Visible { at + letter.len_utf8() } else { search.run(at) };
    }
    search.sights.into_iter().map(|(what, sight)| sight.told(what, text, kind)).collect()
}

/// What is told as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Letter(char),
    /// Characters that once tagged languages, and repeat ASCII.
    Tags,
    Selectors,
    Many,
}

struct Sight {
    first: usize,
    count: usize,
    edits: Vec<Edit>,
    message: String,
}

struct Search<'text> {
    text: &'text str,
    kind: Kind,
    /// The line that was looked at last.
    line: Option<Line>,
    sights: BTreeMap<What, Sight>,
}

#[derive(Clone, Copy)]
struct Line {
    end: usize,
    /// Whether some of it is written from right to left.
    is_rtl: bool,
    /// Whether every part with a direction of its own ends in it.
    is_closed: bool,
}

impl Search<'_> {
    /// Looks at the characters from here on that cannot be seen, and tells where they end.
    fn run(&mut self, start: usize) -> usize {
        let before = self.text[..start].chars().next_back();
        let rest = &self.text[start..];
        let length = rest.find(|letter| nature(letter) == Nature::Visible).unwrap_or(rest.len());
        let (run, after) = (&rest[..length], rest[length..].chars().next());
        let letters = run.chars().count();
        let all = |wanted: Nature| run.chars().all(|letter| nature(letter) == wanted);
        if all(Nature::Tag) {
            if !(before == Some('\u{1f3f4}') && is_flag(run)) {
                self.note(What::Tags, start, run, tagged(run));
            }
        } else if all(Nature::Selector) && letters > 2 {
            self.note(What::Selectors, start, run, selected(run));
        } else if letters >= MANY && !all(Nature::Separator) {
            self.note(What::Many, start, run, String::new());
        } else {
            let mut before = before;
            for (at, letter) in run.char_indices() {
                let next = run[at + letter.len_utf8()..].chars().next().or(after);
                if !self.is_needed(start + at, letter, before, next) {
                    self.note(What::Letter(letter), start + at, &run[at..at + letter.len_utf8()], String::new());
                }
                before = Some(letter);
            }
        }
        start + length
    }

    /// Whether a script, an emoji or a line needs this character where it is.
    fn is_needed(&mut self, at: usize, letter: char, before: Option<char>, after: Option<char>) -> bool {
        let beside = |is: fn(char) -> bool| before.is_some_and(is) || after.is_some_and(is);
        match nature(letter) {
            Nature::Visible => true,
            Nature::Joiner => {
                let in_emoji = letter == '\u{200d}'
                    && before.is_some_and(letters::may_be_joined)
                    && after.is_some_and(letters::is_pictograph);
                in_emoji || beside(needs_joiners)
            }
            Nature::Space => beside(letters::has_no_spaces),
            Nature::Selector => before.is_some_and(|before| selects_after(letter, before)),
            Nature::Filler => beside(letters::is_jamo),
            Nature::Mongolian => beside(letters::is_mongolian),
            Nature::Direction => self.line_at(at).is_rtl,
            Nature::Isolate => {
                let line = self.line_at(at);
                line.is_rtl && line.is_closed
            }
            Nature::FormFeed => self.kind == Kind::Script,
            Nature::Tag | Nature::Override | Nature::Separator | Nature::Other => false,
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

    fn note(&mut self, what: What, at: usize, letters: &str, message: String) {
        let sight =
            self.sights.entry(what).or_insert_with(|| Sight { first: at, count: 0, edits: Vec::new(), message });
        sight.count += letters.chars().count();
        // What parts lines or pages leaves a space, so that words do not run together.
        let parts = |letter: char| matches!(nature(letter), Nature::Separator | Nature::FormFeed);
        let left = if letters.chars().all(parts) { " " } else { "" };
        let end = at + letters.len();
        match sight.edits.last_mut() {
            Some(last) if last.end as usize == at && last.text == left => last.end = edit(at, end, left).end,
            _ => sight.edits.push(edit(at, end, left)),
        }
    }
}

impl Sight {
    fn told(self, what: What, text: &str, kind: Kind) -> Found {
        let Self { first, count, edits, message } = self;
        let times = if count > 1 { format!(", and stands in this file {count} times") } else { String::new() };
        let finding = match what {
            What::Letter(letter) if nature(letter) == Nature::Override => {
                let name = letters::name(letter);
                let message = format!("{name} shows what follows in another order than it is read{times}");
                Finding::error("hidden-text", message, "remove it")
            }
            What::Letter(letter) => {
                let message = format!("{} cannot be seen{times}", letters::name(letter));
                Finding::warning("invisible-character", message, "remove it")
            }
            What::Tags => {
                let message = format!("{count} Unicode tag characters, U+E0000 to U+E007F, hide {message}");
                Finding::error("hidden-text", message, "remove them, unless you know who put them there and why")
            }
            What::Selectors => {
                let message = format!("{count} variation selectors in a row hide {message}");
                Finding::error("hidden-text", message, "remove them, unless you know who put them there and why")
            }
            What::Many => {
                let message = format!("{count} invisible characters in a row may hide a message");
                Finding::error("hidden-text", message, "remove them, unless you know who put them there and why")
            }
        };
        let edits = if kind == Kind::Markdown { edits } else { Vec::new() };
        Found { finding: finding.at(Place::of(text, first)), edits }
    }
}

/// Whether tags behind a black flag name a region, as in the flag of Scotland.
fn is_flag(run: &str) -> bool {
    let letters: Vec<char> = run.chars().collect();
    let is_tag = |letter: &char| matches!(letter, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    letters.split_last().is_some_and(|(last, region)| {
        *last == '\u{e007f}' && (3..=6).contains(&region.len()) && region.iter().all(is_tag)
    })
}

/// The text that tags repeat.
fn tagged(run: &str) -> String {
    let plain = |letter: char| char::from_u32(u32::from(letter) - 0xe_0000).filter(|letter| !letter.is_ascii_control());
    format!("the text `{}`", quote(&run.chars().filter_map(plain).take(LONGEST_MESSAGE).collect::<String>()))
}

/// The bytes that selectors stand for, as text if they are.
fn selected(run: &str) -> String {
    let byte = |letter: char| match letter {
        '\u{fe00}'..='\u{fe0f}' => u8::try_from(u32::from(letter) - 0xfe00).ok(),
        '\u{e0100}'..='\u{e01ef}' => u8::try_from(u32::from(letter) - 0xe_0100 + 16).ok(),
        _ => None,
    };
    let bytes: Vec<u8> = run.chars().filter_map(byte).take(LONGEST_MESSAGE).collect();
    match String::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => format!("the text `{}`", quote(&text)),
        _ => "something".to_owned(),
    }
}

#[cfg(test)]
mod tests;
