//! What a person at a terminal is shown and a program is not: colours, lines that fit, and how far something is.

pub mod progress;

use crate::config::variable;
use crate::printable::is_harmless;
use anyhow::Context as _;
use rustix::termios::tcgetwinsize;
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns of a terminal that does not tell them.
const USUAL_COLUMNS: usize = 80;

/// Where something is shown, and what can be seen there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// Missing where no terminal is.
    columns: Option<usize>,
    /// Whether it is one on which a line can be shown anew.
    redraws: bool,
    colours: bool,
}

/// What a colour says about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Heading,
    Good,
    Warning,
    Bad,
    /// Less important than what is around it.
    Faint,
    /// What was looked for.
    Found,
}

impl Output {
    /// Standard output.
    pub fn standard() -> Self {
        Self::of(&std::io::stdout())
    }

    /// Standard error.
    pub fn error() -> Self {
        Self::of(&std::io::stderr())
    }

    fn of(stream: &(impl IsTerminal + AsFd)) -> Self {
        if !stream.is_terminal() {
            return Self { columns: None, redraws: false, colours: false };
        }
        let told = tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
        let redraws = variable("TERM").is_some_and(|kind| kind != "dumb");
        // As https://no-color.org has it.
        let colours = redraws && variable("NO_COLOR").is_none();
        Self { columns: Some(if told == 0 { USUAL_COLUMNS } else { told }), redraws, colours }
    }

    pub fn is_terminal(self) -> bool {
        self.columns.is_some()
    }

    /// How wide the terminal is, if it is one.
    pub fn columns(self) -> Option<usize> {
        self.columns
    }

    pub fn has_colours(self) -> bool {
        self.colours
    }

    /// A text in colour where that is seen, and as it is elsewhere.
    pub fn toned(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Heading => "1",
            Tone::Good => "32",
            Tone::Warning => "33",
            Tone::Bad => "1;31",
            Tone::Faint => "2",
            Tone::Found => "1;33",
        };
        if self.colours && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// How many columns a text takes.
pub fn columns_of(text: &str) -> usize {
    text.width()
}

/// The beginning of a text that takes more than so many columns.
pub fn beginning_of(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let mut taken = 0;
    let fits = |letter: &char| {
        taken += letter.width().unwrap_or_default();
        taken <= room
    };
    format!("{}…", text.chars().take_while(fits).collect::<String>())
}

/// Prints an answer exactly as it is. A reader that went away, as `head` does, has seen enough.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Prints an answer for programs. Nothing in it commands a terminal, where it may be printed all the same.
pub fn print_json(answer: &impl Serialize) -> anyhow::Result<()> {
    print(&format!("{}\n", escaped_json(&serde_json::to_string_pretty(answer)?)))
}

/// The same JSON with escapes for letters that would hide or reorder others. They stand in texts only.
fn escaped_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_harmless(letter) || letter == '\n' {
            shown.push(letter);
        } else {
            let units =
                letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            shown.push_str(&units);
        }
    }
    shown
}

/// Prints an answer line by line.
pub fn print_lines(lines: &[impl AsRef<str>]) -> anyhow::Result<()> {
    print(&lines.iter().map(|line| format!("{}\n", line.as_ref())).collect::<String>())
}

/// Tells on standard error why nothing came of it, and what to do.
pub fn complain(message: &str) {
    note(&format!("{} {message}", Output::error().toned(Tone::Bad, "error:")));
}

/// Tells something on standard error that belongs to no answer. A line that begins with `hint:` says what to do.
pub fn note(message: &str) {
    let output = Output::error();
    let shown = |line: &str| match line.strip_prefix("hint:") {
        Some(hint) => format!("{}{hint}\n", output.toned(Tone::Good, "hint:")),
        None => format!("{line}\n"),
    };
    let _ = progress::Log.write_all(message.lines().map(shown).collect::<String>().as_bytes());
}

#[cfg(test)]
impl Output {
    /// A terminal with colours and this many columns.
    pub const fn colourful(columns: usize) -> Self {
        Self { columns: Some(columns), redraws: true, colours: true }
    }

    pub const fn plain() -> Self {
        Self { columns: None, redraws: false, colours: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminal_has_colours() {
        assert_eq!(Output::colourful(80).toned(Tone::Good, "ok"), "\x1b[32mok\x1b[0m");
        assert_eq!(Output::colourful(80).toned(Tone::Good, ""), "", "nothing is in no colour");
        assert_eq!(Output::plain().toned(Tone::Good, "ok"), "ok");
    }

    #[test]
    fn what_is_cut_takes_no_more_columns_than_there_are() {
        assert_eq!(beginning_of("été", 3), "été");
        assert_eq!(beginning_of("étés", 3), "ét…");
        assert_eq!(beginning_of("文文文", 5), "文文…");
        assert_eq!(beginning_of("文文文", 4), "文…");
        assert_eq!(beginning_of("x", 0), "");
    }

    #[test]
    fn json_says_the_same_without_letters_that_command_a_terminal() {
        let text = "a\nb\u{1b}\u{7f}\u{9b}\u{202e}\u{e0041}文";
        let json = escaped_json(&serde_json::to_string_pretty(&[text]).unwrap());
        assert_eq!(json, "[\n  \"a\\nb\\u001b\\u007f\\u009b\\u202e\\udb40\\udc41文\"\n]");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }

    #[test]
    fn what_is_no_terminal_has_no_columns_either() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Output::of(&file), Output::plain());
    }
}
