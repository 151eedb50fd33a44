//! Checks the chains of lines against the state.

use crate::chain::Line;
use crate::state::{RingState, State};
use crate::{Stage, stages};
use base::user_files::Key;
use std::fmt::{self, Display, Formatter};

/// The result of a check.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub lines: usize,
    /// Evidence of tampering.
    pub faults: Vec<Fault>,
    /// What rotation removed, which is no fault.
    pub removed: Vec<Removed>,
    /// The first lines of what has not ended, or whose server was killed.
    pub unfinished: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the state of the record is missing or was changed, so lines may have been cut off")]
    NoState,
    #[error("the state of the record is older than its lines")]
    OldState,
    #[error("{ring}: {found}")]
    In { ring: &'static str, found: Found },
}

/// What is wrong with a ring. Positions count from 1.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Found {
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
    #[error("lines {first} to {last} were changed or deleted, not by rotation")]
    Lost { first: u64, last: u64 },
}

/// Lines that rotation removed.
#[derive(Debug, PartialEq, Eq)]
pub struct Removed {
    pub ring: &'static str,
    pub last: u64,
    /// When the last of them was written, if that is known.
    pub until: String,
}

impl Display for Removed {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: rotation removed the lines up to number {}", self.ring, self.last)?;
        if self.until.is_empty() { Ok(()) } else { write!(formatter, ", of {}", self.until.escape_debug()) }
    }
}

/// The lines of a ring, and whether a half-written one is at their end.
type Lines = (Vec<String>, bool);

pub fn verify(key: &Key, runs: Lines, refusals: Lines, state: Option<&State>) -> Verdict {
    let mut verdict = Verdict::default();
    if state.is_none() {
        verdict.faults.push(Fault::NoState);
    }
    let mut newest_turn = 0;
    let rings =
        [("runs", runs, state.map(|state| &state.runs)), ("refusals", refusals, state.map(|state| &state.refusals))];
    for (ring, (mut lines, is_torn), state) in rings {
        if is_torn {
            // Left by a crash. If it was a complete line once, the state knows, and it is missing.
            lines.pop();
        }
        let (found, turn) = check(key, &lines, state);
        verdict.faults.extend(found.into_iter().map(|found| Fault::In { ring, found }));
        newest_turn = newest_turn.max(turn);
        if let Some(state) = state.filter(|state| state.first > 1) {
            verdict.removed.push(Removed { ring, last: state.first - 1, until: state.removed_until.clone() });
        }
        verdict.lines += lines.len();
        let unfinished = stages(&lines).into_iter().zip(lines).filter(|(stage, _)| *stage == Stage::Unfinished);
        verdict.unfinished.extend(unfinished.map(|(_, line)| line));
    }
    if state.is_some_and(|state| newest_turn > state.turn + 1) {
        verdict.faults.push(Fault::OldState);
    }
    verdict
}

/// Checks every line, and that they begin and end as the state says, if it is genuine. Returns the newest turn too.
fn check(key: &Key, lines: &[String], state: Option<&RingState>) -> (Vec<Found>, u64) {
    let (mut faults, mut newest_turn) = (Vec::new(), 0);
    faults.extend(state.iter().flat_map(|state| &state.lost).map(|&(first, last)| Found::Lost { first, last }));
    let mut last: Option<Line> = None;
    for (position, text) in (1..).zip(lines) {
        let Some(line) = Line::read(text) else {
            faults.push(Found::Unreadable { position });
            continue;
        };
        let number = line.number;
        if line.is_genuine(key) {
            newest_turn = newest_turn.max(line.number_in("turn").unwrap_or(0));
        } else {
            faults.push(Found::Changed { position, number });
        }
        match (&last, state) {
            (Some(last), _) if Some(number) != last.number.checked_add(1) => {
                faults.push(Found::Removed { position, last: last.number, found: number });
            }
            (Some(last), _) if line.before != last.code => faults.push(Found::Broken { position, number }),
            (None, Some(state)) if number != state.first || !is_after(&line, state) => {
                faults.push(Found::CutAtFront { expected: state.first });
            }
            _ => {}
        }
        last = Some(line);
    }
    if let Some(state) = state {
        // A crash can leave lines that the state does not know; they were checked above like any other.
        let (number, code) =
            last.map_or((state.first - 1, state.before_first.clone()), |line| (line.number, line.code));
        if number < state.last {
            faults.push(Found::CutAtEnd { expected: state.last, last: number });
        } else if number == state.last && code != state.code {
            faults.push(Found::Broken { position: lines.len(), number });
        }
    }
    (faults, newest_turn)
}

/// The code before the first line is unknown if the line before it is lost.
fn is_after(line: &Line, state: &RingState) -> bool {
    line.before == state.before_first || (state.first > 1 && state.before_first.is_empty())
}
