//! The devices scripts expect under `/dev`, which the host does not lend.
//!
//! Standard streams and process substitutions are not here: bashkit answers those itself.

use std::path::Path;
use std::time::UNIX_EPOCH;

use bashkit::{DirEntry, FileType, Metadata};

use crate::random;

/// bashkit reads files as a whole, so an endless device must end somewhere: far beyond what a script takes from it.
const ZERO_BYTES: usize = 1024 * 1024;
const RANDOM_BYTES: usize = 64 * 1024;

#[derive(Clone, Copy)]
pub enum Device {
    Null,
    Zero,
    Random,
}

const DEVICES: [(&str, Device); 4] =
    [("null", Device::Null), ("zero", Device::Zero), ("random", Device::Random), ("urandom", Device::Random)];

impl Device {
    pub fn at(path: &Path) -> Option<Self> {
        let name = path.strip_prefix("/dev").ok()?.to_str()?;
        DEVICES.iter().find(|(known, _)| *known == name).map(|(_, device)| *device)
    }

    pub fn read(self) -> Vec<u8> {
        match self {
            Self::Null => Vec::new(),
            Self::Zero => vec![0; ZERO_BYTES],
            Self::Random => random::bytes(RANDOM_BYTES),
        }
    }

    /// There is no kind for character devices. What matters is that `[ -e ]` and `[ -w ]` hold, and `[ -f ]` does not.
    pub fn metadata() -> Metadata {
        Metadata { file_type: FileType::Fifo, size: 0, mode: 0o666, modified: UNIX_EPOCH, created: UNIX_EPOCH }
    }
}

pub fn is_folder(path: &Path) -> bool {
    path == Path::new("/dev")
}

pub fn folder() -> Metadata {
    Metadata { file_type: FileType::Directory, size: 0, mode: 0o755, modified: UNIX_EPOCH, created: UNIX_EPOCH }
}

pub fn entries() -> Vec<DirEntry> {
    DEVICES.iter().map(|(name, _)| DirEntry { name: (*name).to_owned(), metadata: Device::metadata() }).collect()
}
