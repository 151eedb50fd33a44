//! Tables on a terminal.

/// The rows of a table in which each column is as wide as its widest cell.
pub fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// The end of a text when it is longer than this many characters: the end of a path says more than its beginning.
pub fn end_of(text: &str, most: usize) -> String {
    let surplus = text.chars().count().saturating_sub(most);
    if surplus == 0 { text.to_owned() } else { format!("…{}", text.chars().skip(surplus + 1).collect::<String>()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "long", ""], ["été", "x", "y"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows), ["a    long", "été  x     y"]);
    }

    #[test]
    fn what_is_cut_is_as_long_as_it_may_be() {
        assert_eq!(end_of("ui/été", 6), "ui/été");
        assert_eq!(end_of("ui/été/form", 6), "…/form");
    }
}
