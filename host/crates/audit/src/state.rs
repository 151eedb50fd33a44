//! The state of the record, in a file beside the key: which lines there must be, what rotation removed, and how often refusals
//! were repeated. Write access to the folder of the record alone does not suffice to roll it back.

use crate::chain::text_of;
use crate::disk;
use base::digest::hex;
use base::user_files::{self, Key, Untrusted};
use serde::{Deserialize, Serialize};
use std::io::{self, Read as _};
use std::path::Path;

/// The file has two slots of this size, written in turn, so that an interrupted write leaves the other one.
pub const SLOT_BYTES: usize = 4096;

/// A slot begins with its turn, so that the newer one is tried first.
const TURN_DIGITS: usize = 20;

/// Refusals whose repetitions are counted at the same time.
pub const MAX_REPEATS: usize = 16;

/// Ranges of lost lines. Further ones extend the last.
pub const MAX_LOST: usize = 4;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// How often the state was written. Lines carry the turn they belong to, which reveals an older state.
    #[serde(skip)]
    pub turn: u64,
    pub runs: RingState,
    pub refusals: RingState,
    /// The least recent first.
    pub repeats: Vec<Repeat>,
}

/// Which lines a ring has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingState {
    /// The first line that rotation has not removed.
    pub first: u64,
    /// The code of the line before the first one; empty if it is lost.
    pub before_first: String,
    pub last: u64,
    /// The code of the last line.
    pub code: String,
    /// The length of the current file. A longer file contains lines that were written right before a crash.
    pub length: u64,
    /// The numbers of the last lines of the rotated files.
    pub files: Vec<u64>,
    /// The time of the last line that rotation removed.
    pub removed_until: String,
    /// Lines that were changed or deleted before rotation removed their file.
    pub lost: Vec<(u64, u64)>,
}

impl Default for RingState {
    fn default() -> Self {
        Self {
            first: 1,
            before_first: String::new(),
            last: 0,
            code: String::new(),
            length: 0,
            files: Vec::new(),
            removed_until: String::new(),
            lost: Vec::new(),
        }
    }
}

impl RingState {
    pub fn lose(&mut self, first: u64, last: u64) {
        let is_full = self.lost.len() == MAX_LOST;
        match self.lost.last_mut() {
            Some(range) if is_full || range.1 + 1 == first => range.1 = last,
            _ => self.lost.push((first, last)),
        }
    }
}

/// A refusal and how often it was repeated since its line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// A keyed hash of the entry without its time.
    pub mark: String,
    /// The number of its line.
    pub number: u64,
    pub count: u64,
    /// When the line was written, in seconds since the epoch.
    pub since: u64,
    /// The time of the last repetition.
    pub until: String,
}

impl State {
    /// Returns `None` if the file is missing or was not written with this key.
    pub fn read(path: &Path, key: &Key) -> io::Result<Option<Self>> {
        let file = match user_files::open(path) {
            Ok(file) => file,
            Err(Untrusted::Unusable { reason, .. }) if reason.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(untrusted) => return Err(io::Error::other(untrusted)),
        };
        let mut bytes = Vec::with_capacity(2 * SLOT_BYTES);
        file.take(2 * SLOT_BYTES as u64).read_to_end(&mut bytes)?;
        let mut slots: Vec<&[u8]> =
            bytes.chunks(SLOT_BYTES).filter_map(|slot| slot.split(|byte| *byte == b'\n').next()).collect();
        slots.sort_unstable_by(|left, right| right.cmp(left));
        Ok(slots.into_iter().find_map(|slot| Self::from_slot(slot, key)))
    }

    fn from_slot(slot: &[u8], key: &Key) -> Option<Self> {
        let (turn, rest) = slot.split_at_checked(TURN_DIGITS)?;
        let (proof, plain) = rest.split_at_checked(64)?;
        if hex(&key.sign(&[b"state", turn, plain])).as_bytes() != proof {
            return None;
        }
        let mut state: Self = serde_json::from_slice(plain).ok()?;
        state.turn = str::from_utf8(turn).ok()?.parse().ok()?;
        Some(state)
    }

    /// Writes the state over the older of the two in the file.
    pub fn write(&mut self, path: &Path, key: &Key) -> io::Result<()> {
        self.turn += 1;
        let slot = self.slot(key);
        assert!(slot.len() <= SLOT_BYTES, "everything in the state is bounded");
        disk::overwrite(path, self.turn % 2 * SLOT_BYTES as u64, slot.as_bytes())
    }

    /// Replaces the file.
    pub fn create(&self, path: &Path, key: &Key) -> io::Result<()> {
        debug_assert_eq!(self.turn, 0, "the first slot");
        disk::replace(path, self.slot(key).as_bytes())
    }

    pub fn slot(&self, key: &Key) -> String {
        let (turn, plain) = (format!("{:0TURN_DIGITS$}", self.turn), text_of(self));
        let proof = hex(&key.sign(&[b"state", turn.as_bytes(), plain.as_bytes()]));
        format!("{turn}{proof}{plain}\n")
    }
}
