//! Aligned tables on a terminal, tab-separated lines elsewhere.

use terminal::{Output, Tone, truncate_to, width_of};

type Row = Vec<String>;

/// Formats rows below a heading.
pub fn table(output: Output, heading: &[&str], rows: impl Iterator<Item = Row>) -> Vec<String> {
    if output.is_terminal() {
        return on_terminal(output, heading, rows, usize::MAX);
    }
    std::iter::once(heading.join("\t")).chain(rows.map(|row| row.join("\t"))).collect()
}

/// Formats rows below a heading, truncated to the width of the terminal. Tab-separated lines have no heading.
pub fn list(output: Output, heading: &[&str], rows: impl Iterator<Item = Row>) -> Vec<String> {
    match output.columns {
        Some(columns) => on_terminal(output, heading, rows, columns),
        None => rows.map(|row| row.join("\t")).collect(),
    }
}

fn on_terminal(output: Output, heading: &[&str], rows: impl Iterator<Item = Row>, columns: usize) -> Vec<String> {
    let heading = heading.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<Row> = std::iter::once(heading).chain(rows).collect();
    let mut lines: Vec<String> = aligned(&rows).iter().map(|line| truncate_to(line, columns)).collect();
    lines[0] = output.paint(Tone::Heading, &lines[0]);
    lines
}

/// Pads each column to the width of its widest cell.
pub fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width_of(cell)).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let line = |row: &Vec<String>| {
        let padded = |(cell, width): (&String, &usize)| format!("{cell}{}", " ".repeat(width - width_of(cell)));
        row.iter().zip(&widths).map(padded).collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Truncates a text at its beginning to this many characters: the end of a path says more than its start.
pub fn end_of(text: &str, max_length: usize) -> String {
    let surplus = text.chars().count().saturating_sub(max_length);
    if surplus == 0 { text.to_owned() } else { format!("…{}", text.chars().skip(surplus + 1).collect::<String>()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<const N: usize>(rows: [[&str; 3]; N]) -> Vec<Vec<String>> {
        rows.map(|row| row.map(str::to_owned).to_vec()).to_vec()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        assert_eq!(aligned(&rows([["a", "long", ""], ["été", "x", "y"]])), ["a    long", "été  x     y"]);
        assert_eq!(
            aligned(&rows([["文字", "x", ""], ["a", "x", ""]])),
            ["文字  x", "a     x"],
            "characters may be wide"
        );
    }

    #[test]
    fn programs_get_tabs_and_terminals_truncated_lines() {
        let heading = ["A", "B", "C"];
        let cells = || rows([["a", "b", "a long text"]]).into_iter();
        assert_eq!(list(Output::plain(), &heading, cells()), ["a\tb\ta long text"]);
        let shown = ["\x1b[1mA  B  C\x1b[0m", "a  b  a lo…"];
        assert_eq!(list(Output::colorful(11), &heading, cells()), shown);
        let shown = ["\x1b[1mA  B  C\x1b[0m", "a  b  a long text"];
        assert_eq!(table(Output::colorful(11), &heading, cells()), shown);
        assert_eq!(table(Output::plain(), &heading, cells()), ["A\tB\tC", "a\tb\ta long text"]);
    }

    #[test]
    fn truncated_text_fills_the_available_length() {
        assert_eq!(end_of("ui/été", 6), "ui/été");
        assert_eq!(end_of("ui/été/form", 6), "…/form");
    }
}
