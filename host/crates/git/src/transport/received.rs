//! Checks the answer to a fetch while it is received.
//!
//! A few kilobytes of a pack can expand to gigabytes, which libgit2 would hold in memory. So every object is inflated here
//! first, piece by piece into one small buffer, and nothing is passed on to libgit2 that is over a limit. What the check
//! understands must be what libgit2 understands: whatever is unusual is refused.

mod pack;

use crate::error::NetworkError;
use pack::Pack;

/// Maximum size of what precedes a pack: acknowledged commits and shallow boundaries, which libgit2 collects.
const MAX_NEGOTIATION_BYTES: u64 = 1 << 20;

/// Digits of the length of a line, which counts them too.
const LENGTH_DIGITS: usize = 4;

/// Why a pack is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    TooLarge(String),
    Malformed(&'static str),
}

impl Refusal {
    pub fn into_error(self, address: String) -> NetworkError {
        match self {
            Self::TooLarge(reason) => NetworkError::TooLarge { address, reason },
            Self::Malformed(reason) => NetworkError::NotGit { address, reason: reason.to_owned() },
        }
    }
}

/// The answer to one request for objects: lines, among them the pack in pieces, or after them the pack itself.
#[derive(Default)]
pub struct Received {
    state: State,
    pack: Pack,
    negotiation: u64,
    has_data: bool,
}

enum State {
    Length(Vec<u8>),
    /// Before the first byte of a line, with its length.
    Line(usize),
    Text(usize),
    Data(usize),
    /// Progress and errors, next to the pack.
    Aside(usize),
    /// A pack without lines.
    Raw,
    Done,
}

impl Default for State {
    fn default() -> Self {
        Self::Length(Vec::new())
    }
}

impl Received {
    /// Checks the next bytes of the answer.
    pub fn check(&mut self, mut bytes: &[u8]) -> Result<(), Refusal> {
        while let Some(&first) = bytes.first() {
            let mut take = |count: usize| {
                let (taken, rest) = bytes.split_at(count.min(bytes.len()));
                bytes = rest;
                taken
            };
            self.state = match &mut self.state {
                State::Length(digits) => {
                    digits.extend_from_slice(take(LENGTH_DIGITS - digits.len()));
                    let digits = std::mem::take(digits);
                    if digits.len() < LENGTH_DIGITS { State::Length(digits) } else { self.begin_line(&digits)? }
                }
                State::Line(length) => match first {
                    1 => {
                        take(1);
                        self.has_data = true;
                        next(*length - 1, State::Data)
                    }
                    2 | 3 => next(*length, State::Aside),
                    // libgit2 skips a piece of the pack that comes before such a line.
                    _ if self.has_data => return Err(Refusal::Malformed("its pack is interrupted")),
                    _ => next(*length, State::Text),
                },
                State::Text(left) => {
                    let count = take(*left).len();
                    self.negotiation += count as u64;
                    if self.negotiation > MAX_NEGOTIATION_BYTES {
                        let what = "what precedes the objects of its answer is larger than 1 MiB";
                        return Err(Refusal::TooLarge(what.to_owned()));
                    }
                    next(*left - count, State::Text)
                }
                State::Data(left) => {
                    let data = take(*left);
                    self.pack.check(data)?;
                    next(*left - data.len(), State::Data)
                }
                State::Aside(left) => next(*left - take(*left).len(), State::Aside),
                State::Raw => {
                    self.pack.check(bytes)?;
                    return Ok(());
                }
                State::Done => return Err(Refusal::Malformed("something follows its pack")),
            };
        }
        Ok(())
    }

    fn begin_line(&mut self, digits: &[u8]) -> Result<State, Refusal> {
        if digits == b"PACK" && !self.has_data {
            self.pack.check(digits)?;
            return Ok(State::Raw);
        }
        let is_number = digits.iter().all(u8::is_ascii_hexdigit);
        let number = std::str::from_utf8(digits).ok().filter(|_| is_number);
        match number.and_then(|digits| usize::from_str_radix(digits, 16).ok()) {
            Some(0) if self.has_data => Ok(State::Done),
            Some(0) => Ok(State::default()),
            Some(length) if length > LENGTH_DIGITS => Ok(State::Line(length - LENGTH_DIGITS)),
            _ => Err(Refusal::Malformed("it answers with a line of an invalid length")),
        }
    }
}

/// The state with this many bytes left of a line.
fn next(left: usize, state: impl Fn(usize) -> State) -> State {
    if left == 0 { State::default() } else { state(left) }
}

#[cfg(test)]
mod tests;
