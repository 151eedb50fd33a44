//! The devices that scripts expect in `/dev`, which the host does not provide.
//!
//! bashkit handles standard streams and process substitutions itself.

use std::path::Path;
use std::time::UNIX_EPOCH;

use bashkit::{DirEntry, FileType, Metadata};

use crate::random;

/// bashkit reads whole files, so an endless device needs a limit, far beyond what a script reads.
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

    /// bashkit has no type for character devices. This makes `[ -e ]` and `[ -w ]` true and `[ -f ]` false.
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
