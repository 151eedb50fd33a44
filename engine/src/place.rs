//! Positions in a text, as editors count them.

/// A line and a column, both counted from 1; the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    pub const START: Self = Self { line: 1, column: 1 };

    /// Converts a byte offset, which must be on a character boundary.
    pub fn of(text: &str, at: usize) -> Self {
        let before = &text.as_bytes()[..at];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let lines = memchr::memchr_iter(b'\n', before).count();
        Self { line: number(lines), column: number(text[line_start..at].chars().count()) }
    }

    /// Returns the byte offset, if the text has this position.
    pub fn offset(self, text: &str) -> Option<usize> {
        let mut line_start = 0;
        for _ in 1..self.line {
            line_start += memchr::memchr(b'\n', &text.as_bytes()[line_start..])? + 1;
        }
        let line = &text[line_start..];
        let line = &line[..memchr::memchr(b'\n', line.as_bytes()).unwrap_or(line.len())];
        let mut starts = line.char_indices().map(|(at, _)| at).chain([line.len()]);
        Some(line_start + starts.nth(self.column.checked_sub(1)? as usize)?)
    }
}

/// Converts a count of what comes before to a number from 1.
fn number(before: usize) -> u32 {
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_are_counted_in_characters() {
        let text = "été\r\n文 x\n";
        assert_eq!(Place::of(text, 0), Place::START);
        assert_eq!(Place::of(text, text.find('x').unwrap()), Place { line: 2, column: 3 });
        assert_eq!(Place::of(text, text.len()), Place { line: 3, column: 1 });
        assert_eq!(Place { line: 2, column: 9 }.offset(text), None);
        assert_eq!(Place { line: 4, column: 1 }.offset(text), None);
    }

    proptest! {
        #[test]
        fn a_place_converts_back_to_its_offset(text in "[aé文\r\n]{0,30}") {
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                prop_assert_eq!(Place::of(&text, at).offset(&text), Some(at));
            }
        }
    }
}
