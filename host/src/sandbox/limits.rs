//! How much a script may use up, and which limit it hit.

use serde::Serialize;
use std::time::Duration;

/// What one run may use. The operator's file sets it; content may only lower it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub time: Duration,
    /// Memory and tables of the guest together, in bytes.
    pub memory: usize,
    /// Steps of WebAssembly, about one per instruction. A limit that does not depend on how busy the machine is.
    pub fuel: u64,
    /// Most of each output stream that is kept, in bytes.
    pub output: usize,
    /// Room in `/tmp`, in bytes, and how many files and folders may be there.
    pub scratch_bytes: u64,
    pub scratch_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_mins(1),
            memory: 256 << 20,
            // More than a fast machine does in a minute, so that time comes first unless somebody lowers this.
            fuel: 1_000_000_000_000,
            output: 1 << 20,
            scratch_bytes: 64 << 20,
            scratch_files: 1_000,
        }
    }
}

impl Limits {
    /// The lower of both, limit by limit.
    pub fn lowered(&self, other: &Self) -> Self {
        Self {
            time: self.time.min(other.time),
            memory: self.memory.min(other.memory),
            fuel: self.fuel.min(other.fuel),
            output: self.output.min(other.output),
            scratch_bytes: self.scratch_bytes.min(other.scratch_bytes),
            scratch_files: self.scratch_files.min(other.scratch_files),
        }
    }
}

/// A limit that a script ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitHit {
    Time,
    Memory,
    Fuel,
    Output,
    Scratch,
}
