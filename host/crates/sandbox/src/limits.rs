//! The limits of a run: their defaults here, what enforces them in the modules below.
//!
//! The operator sets them under `scripts:` in the configuration file (`host/src/config/scripts.rs`), and content can
//! only lower them: the engine settles the `config.yaml` of a root (`engine/src/settings.rs`), and `policy` of the crate
//! `scripts` takes the minimum again. A single skill sets no limits. [`memory`] and [`time`] stop a guest, [`Quota`] counts its scratch
//! space and [`Output`] its output; fuel is consumed in `guests::run`.
//!
//! [`Quota`]: crate::files::memory::Quota
//! [`Output`]: crate::output::Output

pub mod memory;
pub mod time;

use serde::Serialize;
use std::time::Duration;

/// The resources of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub time: Duration,
    /// Memories and tables of the guest together, in bytes.
    pub memory: usize,
    /// About one unit per WebAssembly instruction. Unlike time, it does not depend on the load of the machine.
    pub fuel: u64,
    /// Size of each captured output stream, in bytes.
    pub output: usize,
    /// Size of `/tmp`, in bytes.
    pub scratch_bytes: u64,
    /// Number of files and folders in `/tmp`.
    pub scratch_files: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_mins(1),
            memory: 256 << 20,
            // More than a fast machine consumes in a minute, so that the time limit comes first by default.
            fuel: 1_000_000_000_000,
            output: 1 << 20,
            scratch_bytes: 64 << 20,
            scratch_files: 1_000,
        }
    }
}

impl Limits {
    /// Returns the lower value of each limit.
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

/// A limit that a script exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitHit {
    Time,
    Memory,
    Fuel,
    Output,
    Scratch,
}
