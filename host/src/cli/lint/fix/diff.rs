//! A line diff of what edits change.

use super::edits;
use base::printable::{counted, printable_up_to};
use bindings::catalog::Edit;

/// The most lines shown of one file.
const MAX_LINES: usize = 40;

/// The longest line, in characters.
const MAX_LINE_LENGTH: usize = 400;

/// Returns the lines that sorted edits without overlaps change, before and after.
pub fn diff(text: &str, edits: &[Edit]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = edits;
    while let Some(first) = rest.first() {
        let start = text[..first.start as usize].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = |at: u32| text[at as usize..].find('\n').map_or(text.len(), |newline| at as usize + newline + 1);
        let mut end = line_end(first.end);
        let mut hunk_size = 1;
        while let Some(next) = rest.get(hunk_size).filter(|next| (next.start as usize) < end) {
            end = end.max(line_end(next.end));
            hunk_size += 1;
        }
        let relative = |edit: &Edit| {
            let offset = u32::try_from(start).unwrap_or(u32::MAX);
            Edit { start: edit.start - offset, end: edit.end - offset, text: edit.text.clone() }
        };
        let hunk: Vec<Edit> = rest[..hunk_size].iter().map(relative).collect();
        lines.extend(changed_lines(&text[start..end], &edits::apply(&text[start..end], &hunk)));
        rest = &rest[hunk_size..];
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.truncate(MAX_LINES);
        lines.push(format!("and {}", counted(more, "more line")));
    }
    lines
}

/// All lines, without the common ones at the end.
fn changed_lines(before: &str, after: &str) -> Vec<String> {
    let (mut before, mut after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    while before.last().is_some_and(|line| after.last() == Some(line)) {
        before.pop();
        after.pop();
    }
    let marked = |mark: char| move |line: &str| format!("{mark} {}", printable_up_to(line, MAX_LINE_LENGTH));
    before.into_iter().map(marked('-')).chain(after.into_iter().map(marked('+'))).collect()
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
        assert_eq!(diff(text, &edits), ["+ zero", "- tw\\u{200b}o\\u{200b}", "+ two", "- three", "+ 3"]);
        assert_eq!(diff("\u{feff}a", &[edit(0, 3, "")]), ["- \\u{feff}a", "+ a"]);
    }

    #[test]
    fn a_long_diff_is_truncated() {
        let text = "a\n".repeat(1_000);
        let edits: Vec<Edit> = (0..1_000).map(|line| edit(line * 2, line * 2 + 1, "b")).collect();
        let lines = diff(&text, &edits);
        assert_eq!((lines.len(), lines[40].as_str()), (41, "and 1960 more lines"));
    }
}
