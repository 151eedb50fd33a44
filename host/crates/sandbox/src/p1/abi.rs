//! The constants of WASI 0.1: errors, file types, flags and rights.

use crate::files::{FileError, Kind};

/// The error that an import returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

pub type Result<T = (), E = Errno> = std::result::Result<T, E>;

impl Errno {
    pub const BADF: Self = Self(8);
    pub const BUSY: Self = Self(10);
    pub const EXIST: Self = Self(20);
    pub const FAULT: Self = Self(21);
    pub const ILSEQ: Self = Self(25);
    pub const INTR: Self = Self(27);
    pub const INVAL: Self = Self(28);
    pub const IO: Self = Self(29);
    pub const ISDIR: Self = Self(31);
    pub const LOOP: Self = Self(32);
    pub const MFILE: Self = Self(33);
    pub const NAMETOOLONG: Self = Self(37);
    pub const NOENT: Self = Self(44);
    pub const NOSPC: Self = Self(51);
    pub const NOTDIR: Self = Self(54);
    pub const NOTEMPTY: Self = Self(55);
    pub const NOTSUP: Self = Self(58);
    pub const PERM: Self = Self(63);
    pub const ROFS: Self = Self(69);
    pub const SPIPE: Self = Self(70);
    pub const XDEV: Self = Self(75);
    pub const NOTCAPABLE: Self = Self(76);
}

impl From<FileError> for Errno {
    fn from(error: FileError) -> Self {
        match error {
            FileError::NotFound => Self::NOENT,
            FileError::Exists => Self::EXIST,
            FileError::NotAFolder => Self::NOTDIR,
            FileError::IsAFolder => Self::ISDIR,
            FileError::NotEmpty => Self::NOTEMPTY,
            FileError::NotPermitted
            | FileError::Protected
            | FileError::Link
            | FileError::HardLink
            | FileError::TooLargeToMove => Self::PERM,
            FileError::ReadOnly => Self::ROFS,
            FileError::Escapes => Self::NOTCAPABLE,
            FileError::ThroughLink => Self::LOOP,
            FileError::OtherVolume => Self::XDEV,
            FileError::Full => Self::NOSPC,
            FileError::TooManyOpen => Self::MFILE,
            FileError::BadPath => Self::INVAL,
            FileError::LongName => Self::NAMETOOLONG,
            FileError::Busy => Self::BUSY,
            FileError::Interrupted => Self::INTR,
            FileError::Failed => Self::IO,
        }
    }
}

pub const CHARACTER_DEVICE: u64 = 2;

pub fn file_type(kind: Kind) -> u64 {
    match kind {
        Kind::Other => 0,
        Kind::Folder => 3,
        Kind::File => 4,
        Kind::Link => 7,
    }
}

/// Flags of `path_open`.
pub const O_CREAT: u32 = 1;
pub const O_DIRECTORY: u32 = 2;
pub const O_EXCL: u32 = 4;
pub const O_TRUNC: u32 = 8;

/// Descriptor flag: writes go to the end.
pub const APPEND: u32 = 1;

/// Lookup flag: a link at the end is followed.
pub const FOLLOW: u32 = 1;

/// The right to write, requested by `path_open`. Other rights are ignored, because the file tree decides what is allowed.
pub const RIGHT_WRITE: u64 = 1 << 6;
pub const ALL_RIGHTS: u64 = (1 << 30) - 1;

/// Flags for setting times.
pub const SET_ACCESSED: u32 = 1;
pub const SET_ACCESSED_NOW: u32 = 2;
pub const SET_MODIFIED: u32 = 4;
pub const SET_MODIFIED_NOW: u32 = 8;
