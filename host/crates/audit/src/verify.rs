//! Checks the chain of lines and its head.

use super::chain::{Head, Line};
use base::user_files::Key;

/// The result of a check.
#[derive(Debug, PartialEq, Eq)]
pub struct Verdict {
    pub lines: usize,
    pub faults: Vec<Fault>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("line {position} is not a line of this record")]
    Unreadable { position: usize },
    #[error("line {position}, number {number}, was changed")]
    Changed { position: usize, number: u64 },
    #[error("lines were removed before line {position}: number {found} follows {last}")]
    Removed { position: usize, last: u64, found: u64 },
    #[error("line {position}, number {number}, does not follow the line before it")]
    Broken { position: usize, number: u64 },
    #[error("lines were cut off at the beginning: the first should be {expected}")]
    CutAtFront { expected: u64 },
    #[error("lines were cut off at the end: the last should be {expected}, but is {last}")]
    CutAtEnd { expected: u64, last: u64 },
    #[error("the head of the record is missing or was changed, so lines may have been cut off")]
    NoHead,
}

/// Checks every line, and that they begin and end as the head says, if it is genuine. Positions in faults count from 1.
pub fn verify(key: &Key, lines: &[String], head: Option<Head>) -> Verdict {
    let mut faults = Vec::new();
    if head.is_none() {
        faults.push(Fault::NoHead);
    }
    let mut last: Option<Line> = None;
    for (position, text) in (1..).zip(lines) {
        let Some(line) = Line::read(text) else {
            faults.push(Fault::Unreadable { position });
            continue;
        };
        let number = line.number;
        if !line.is_genuine(key) {
            faults.push(Fault::Changed { position, number });
        }
        match (&last, &head) {
            (Some(last), _) if number != last.number + 1 => {
                faults.push(Fault::Removed { position, last: last.number, found: number });
            }
            (Some(last), _) if line.before != last.code => faults.push(Fault::Broken { position, number }),
            (None, Some(head)) if number != head.first.max(1) || line.before != head.before_first => {
                faults.push(Fault::CutAtFront { expected: head.first.max(1) });
            }
            _ => {}
        }
        last = Some(line);
    }
    if let Some(head) = head {
        let (number, code) = last.map_or((0, String::new()), |line| (line.number, line.code));
        // A crash can leave one line that the head does not know; that line was checked above like any other.
        if number < head.last {
            faults.push(Fault::CutAtEnd { expected: head.last, last: number });
        } else if number == head.last && code != head.code {
            faults.push(Fault::Broken { position: lines.len(), number });
        }
    }
    Verdict { lines: lines.len(), faults }
}
