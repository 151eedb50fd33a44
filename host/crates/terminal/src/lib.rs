//! Output of the command line: colors, column widths, errors and progress.
//!
//! Owns what is printed to standard output and standard error, and how it depends on whether a terminal is attached.
//! Must not know what is printed: no skills, no configuration, no protocol.
//!
//! Start reading with [`Output`], which says what a stream can display, then [`progress`], the line on standard error for
//! operations that take a while.

pub mod progress;

use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use base::environment::variable;
use base::printable::{Escapes, Shown};
use rustix::termios::tcgetwinsize;
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// For terminals that do not report their size.
const DEFAULT_COLUMNS: usize = 80;

/// What an output stream can display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// The width of the terminal. `None` if the stream is not one.
    pub columns: Option<usize>,
    /// Whether a line can be cleared and redrawn.
    redraws: bool,
    pub colors: bool,
}

/// The meaning of a text, which determines its color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Heading,
    Good,
    Warning,
    Bad,
    /// Less important than the surrounding text.
    Faint,
    /// A match of a search.
    Match,
}

impl Output {
    pub fn standard() -> Self {
        Self::of(&std::io::stdout())
    }

    pub fn error() -> Self {
        Self::of(&std::io::stderr())
    }

    fn of(stream: &(impl IsTerminal + AsFd)) -> Self {
        if !stream.is_terminal() {
            return Self::plain();
        }
        let reported = tcgetwinsize(stream).map_or(0, |size| usize::from(size.ws_col));
        let redraws = variable("TERM").is_some_and(|kind| kind != "dumb");
        // See https://no-color.org.
        let colors = redraws && variable("NO_COLOR").is_none();
        Self { columns: Some(if reported == 0 { DEFAULT_COLUMNS } else { reported }), redraws, colors }
    }

    /// A terminal with colors.
    pub const fn colorful(columns: usize) -> Self {
        Self { columns: Some(columns), redraws: true, colors: true }
    }

    pub const fn plain() -> Self {
        Self { columns: None, redraws: false, colors: false }
    }

    pub fn is_terminal(self) -> bool {
        self.columns.is_some()
    }

    /// Colors a text if the stream displays colors.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let style = match tone {
            Tone::Heading => Style::new().bold(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Warning => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Faint => Style::new().dimmed(),
            Tone::Match => AnsiColor::Yellow.on_default().bold(),
        };
        if self.colors && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// The number of columns that a text occupies.
pub fn width_of(text: &str) -> usize {
    text.width()
}

/// Cuts a text that is wider than `columns`, ending it with `…`.
pub fn truncate_to(text: &str, columns: usize) -> String {
    if width_of(text) <= columns {
        return text.to_owned();
    }
    let Some(available) = columns.checked_sub(1) else { return String::new() };
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or_default();
        used <= available
    };
    format!("{}…", text.chars().take_while(fits).collect::<String>())
}

/// Prints a text unchanged. A reader that closed the pipe, as `head` does, is not an error.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

/// Prints a value as JSON, without control characters in case it ends up on a terminal.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&format!("{}\n", escaped_json(&serde_json::to_string_pretty(value)?)))
}

/// Escapes characters that hide or reorder others. In JSON they only occur within strings.
fn escaped_json(json: &str) -> String {
    let mut result = String::with_capacity(json.len());
    for shown in Escapes::of(json) {
        match shown {
            Shown::Itself(character) | Shown::Escape(character @ '\n') => result.push(character),
            Shown::Escape(character) => {
                result.extend(character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    result
}

/// Prints lines, each followed by a line break.
pub fn print_lines(lines: &[impl AsRef<str>]) -> anyhow::Result<()> {
    print(&lines.iter().map(|line| format!("{}\n", line.as_ref())).collect::<String>())
}

/// Prints a report: as JSON for programs, or as lines.
pub fn print_report(json: bool, value: &impl Serialize, lines: &[impl AsRef<str>]) -> anyhow::Result<()> {
    if json { print_json(value) } else { print_lines(lines) }
}

/// Prints an error and its hints to standard error.
pub fn print_error(message: &str) {
    print_note(&format!("{} {message}", Output::error().paint(Tone::Bad, "error:")));
}

/// Prints a message to standard error, with the `hint:` of a hint line highlighted.
pub fn print_note(message: &str) {
    let output = Output::error();
    let shown = |line: &str| match line.strip_prefix("hint:") {
        Some(hint) => format!("{}{hint}\n", output.paint(Tone::Good, "hint:")),
        None => format!("{line}\n"),
    };
    let _ = progress::Log.write_all(message.lines().map(shown).collect::<String>().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminals_get_colors() {
        assert_eq!(Output::colorful(80).paint(Tone::Good, "ok"), "\x1b[32mok\x1b[0m");
        assert_eq!(Output::colorful(80).paint(Tone::Good, ""), "", "an empty text stays empty");
        assert_eq!(Output::plain().paint(Tone::Good, "ok"), "ok");
    }

    #[test]
    fn truncated_text_fits_the_columns() {
        assert_eq!(truncate_to("été", 3), "été");
        assert_eq!(truncate_to("étés", 3), "ét…");
        assert_eq!(truncate_to("文文文", 5), "文文…");
        assert_eq!(truncate_to("文文文", 4), "文…");
        assert_eq!(truncate_to("x", 0), "");
    }

    #[test]
    fn json_is_escaped_without_changing_its_value() {
        let text = "a\nb\u{1b}\u{7f}\u{9b}\u{202e}\u{e0041}文";
        let json = escaped_json(&serde_json::to_string_pretty(&[text]).unwrap());
        assert_eq!(json, "[\n  \"a\\nb\\u001b\\u007f\\u009b\\u202e\\udb40\\udc41文\"\n]");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }

    #[test]
    fn a_file_is_not_a_terminal() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Output::of(&file), Output::plain());
    }
}
