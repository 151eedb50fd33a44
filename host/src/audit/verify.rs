//! Checking the record.

use super::chain::{Head, Line};
use crate::private::Key;

/// What a check found.
#[derive(Debug, PartialEq, Eq)]
pub struct Verdict {
    pub lines: usize,
    pub faults: Vec<Fault>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("line {place} is not a line of this record")]
    Unreadable { place: usize },
    #[error("line {place}, number {number}, was changed")]
    Changed { place: usize, number: u64 },
    #[error("before line {place} lines were removed: number {found} follows {last}")]
    Removed { place: usize, last: u64, found: u64 },
    #[error("line {place}, number {number}, does not follow the line before it")]
    Broken { place: usize, number: u64 },
    #[error("lines were cut off at the beginning: the record begins with {expected}")]
    CutAtFront { expected: u64 },
    #[error("lines were cut off at the end: there should be {expected}, the last is {last}")]
    CutAtEnd { expected: u64, last: u64 },
    #[error("the head of the record is missing or was changed, so lines may have been cut off")]
    NoHead,
}

/// What was found in the place of the head.
pub enum Found {
    Nothing,
    Forged,
    Genuine(Head),
}

/// Every place counted from 1.
pub fn verify(key: &Key, lines: &[String], head: Found) -> Verdict {
    let mut faults = Vec::new();
    let head = match head {
        Found::Genuine(head) => Some(head),
        Found::Nothing | Found::Forged => {
            faults.push(Fault::NoHead);
            None
        }
    };
    let mut last: Option<Line> = None;
    for (place, text) in (1..).zip(lines) {
        let Some(line) = Line::read(text) else {
            faults.push(Fault::Unreadable { place });
            continue;
        };
        let number = line.number;
        if !line.is_genuine(key) {
            faults.push(Fault::Changed { place, number });
        }
        match (&last, &head) {
            (Some(last), _) if number != last.number + 1 => {
                faults.push(Fault::Removed { place, last: last.number, found: number });
            }
            (Some(last), _) if line.before != last.code => faults.push(Fault::Broken { place, number }),
            (None, Some(head)) if number != head.first.max(1) || line.before != head.before_first => {
                faults.push(Fault::CutAtFront { expected: head.first.max(1) });
            }
            _ => {}
        }
        last = Some(line);
    }
    if let Some(head) = head {
        let (number, code) = last.map_or((0, String::new()), |line| (line.number, line.code));
        // One more than the head knows is what a crash leaves behind; each line proves itself.
        if number < head.last {
            faults.push(Fault::CutAtEnd { expected: head.last, last: number });
        } else if number == head.last && code != head.code {
            faults.push(Fault::Broken { place: lines.len(), number });
        }
    }
    Verdict { lines: lines.len(), faults }
}
