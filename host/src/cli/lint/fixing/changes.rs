//! What edits change, line by line, for people.

use super::mending;
use crate::bindings::catalog::Edit;
use crate::printable::{counted, printable_up_to};

/// Most lines that are shown of one file.
const MOST_LINES: usize = 40;

/// Longest line that is shown, in characters.
const LONGEST_LINE: usize = 400;

/// The lines of a text that settled edits change, before and after.
pub fn changes(text: &str, edits: &[Edit]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = edits;
    while let Some(first) = rest.first() {
        let start = text[..first.start as usize].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = |at: u32| text[at as usize..].find('\n').map_or(text.len(), |newline| at as usize + newline + 1);
        let mut end = line_end(first.end);
        let mut together = 1;
        while let Some(next) = rest.get(together).filter(|next| (next.start as usize) < end) {
            end = end.max(line_end(next.end));
            together += 1;
        }
        let moved = |edit: &Edit| {
            let offset = u32::try_from(start).unwrap_or(u32::MAX);
            Edit { start: edit.start - offset, end: edit.end - offset, text: edit.text.clone() }
        };
        let own: Vec<Edit> = rest[..together].iter().map(moved).collect();
        lines.extend(compared(&text[start..end], &mending::applied(&text[start..end], &own)));
        rest = &rest[together..];
    }
    let more = lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        lines.truncate(MOST_LINES);
        lines.push(format!("and {}", counted(more, "more line")));
    }
    lines
}

/// The lines that differ, without those that both have in common at the end.
fn compared(before: &str, after: &str) -> Vec<String> {
    let (mut before, mut after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    while before.last().is_some_and(|line| after.last() == Some(line)) {
        before.pop();
        after.pop();
    }
    let shown = |mark: char| move |line: &str| format!("{mark} {}", printable_up_to(line, LONGEST_LINE));
    before.into_iter().map(shown('-')).chain(after.into_iter().map(shown('+'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: u32, end: u32, text: &str) -> Edit {
        Edit { start, end, text: text.to_owned() }
    }

    #[test]
    fn lines_are_shown_before_and_after() {
        let text = "one\ntw\u{200b}o\u{200b}\nthree\n";
        let edits = [edit(0, 0, "zero\n"), edit(6, 9, ""), edit(10, 13, ""), edit(14, 19, "3")];
        assert_eq!(changes(text, &edits), ["+ zero", "- tw\\u{200b}o\\u{200b}", "+ two", "- three", "+ 3"]);
        assert_eq!(changes("\u{feff}a", &[edit(0, 3, "")]), ["- \\u{feff}a", "+ a"]);
    }

    #[test]
    fn not_every_line_is_shown() {
        let text = "a\n".repeat(1_000);
        let edits: Vec<Edit> = (0..1_000).map(|line| edit(line * 2, line * 2 + 1, "b")).collect();
        let lines = changes(&text, &edits);
        assert_eq!((lines.len(), lines[40].as_str()), (41, "and 1960 more lines"));
    }
}
