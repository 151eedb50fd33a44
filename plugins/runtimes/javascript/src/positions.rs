//! Maps positions in the generated text to positions in the source files.

use std::cell::RefCell;
use std::collections::HashMap;

use oxc_sourcemap::SourceMap;

#[derive(Default)]
pub struct Positions {
    files: RefCell<HashMap<String, Shift>>,
}

/// How the text that runs differs from the file.
pub enum Shift {
    /// A prefix on the first line.
    FirstLine(u32),
    /// Generated text, with this prefix on its first line.
    Generated(Box<SourceMap<'static>>, u32),
}

impl Positions {
    pub fn remember(&self, file: &str, shift: Shift) {
        self.files.borrow_mut().insert(file.to_owned(), shift);
    }

    /// Rewrites frames such as `    at name (/skill/file.ts:3:7)` and drops those without a position.
    pub fn rewrite(&self, frames: &str) -> String {
        let frames = frames.lines().filter(|frame| frame.trim() != "at  (native)");
        frames.map(|frame| self.rewrite_frame(frame)).collect::<Vec<_>>().join("\n")
    }

    fn rewrite_frame(&self, frame: &str) -> String {
        let Some((name, place)) = frame.strip_suffix(')').and_then(|frame| frame.rsplit_once(" (")) else {
            return frame.to_owned();
        };
        if place == "native" {
            return format!("{name} (<anonymous>)");
        }
        let Some(place) = Place::parse(place) else { return frame.to_owned() };
        let place = self.original(place);
        let place = format!("{}:{}:{}", place.file, place.line, place.column);
        match name.trim_start() {
            "at <main>" => format!("    at {place}"),
            _ => format!("{name} ({place})"),
        }
    }

    fn original<'a>(&self, place: Place<'a>) -> Place<'a> {
        match self.files.borrow().get(place.file) {
            Some(Shift::FirstLine(width)) if place.line == 1 => {
                Place { column: place.column.saturating_sub(*width).max(1), ..place }
            }
            Some(Shift::Generated(map, width)) => {
                let column = if place.line == 1 { place.column.saturating_sub(*width) } else { place.column };
                let table = map.generate_lookup_table();
                match map.lookup_token_approx(&table, place.line.saturating_sub(1), column.saturating_sub(1)) {
                    Some(token) => {
                        Place { file: place.file, line: token.get_src_line() + 1, column: token.get_src_col() + 1 }
                    }
                    None => place,
                }
            }
            _ => place,
        }
    }
}

pub struct Place<'a> {
    pub file: &'a str,
    pub line: u32,
    pub column: u32,
}

impl<'a> Place<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (rest, column) = text.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some(Self { file, line: line.parse().ok()?, column: column.parse().ok()? })
    }

    /// Returns the first frame in a file, not in Node's library or the engine.
    pub fn first_in(stack: &'a str) -> Option<Self> {
        stack.lines().filter_map(|line| line.strip_prefix("    at ")).find_map(|frame| {
            let named = frame.strip_suffix(')').and_then(|frame| frame.rsplit_once(" ("));
            let place = named.map_or(frame, |(_, place)| place);
            Self::parse(place).filter(|place| place.file.starts_with('/'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrapper_is_not_counted() {
        let positions = Positions::default();
        positions.remember("/a.js", Shift::FirstLine(10));
        assert_eq!(
            positions.rewrite("    at f (/a.js:1:15)\n    at map (native)"),
            "    at f (/a.js:1:5)\n    at map (<anonymous>)"
        );
        assert_eq!(positions.rewrite("    at <main> (/a.js:2:15)"), "    at /a.js:2:15");
    }

    #[test]
    fn the_first_frame_in_a_file_is_found() {
        let place = Place::first_in("Error: x\n    at g (node:fs:1:1)\n    at f (/a b.js:3:5)").map(|place| place.line);
        assert_eq!(place, Some(3));
    }
}
