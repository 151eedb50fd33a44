//! A component that the operator names by its path: read, made sure of, and compiled.

use super::exports::Exports;
use crate::sandbox::runtimes::cache::{self, Cache, Code};
use crate::sandbox::runtimes::check_functions;
use crate::sha256::Sha256;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Largest component that is compiled, in bytes. One with a whole JavaScript engine in it has about twelve million.
pub const LARGEST: u64 = 32 << 20;

/// Why a file cannot be used. What kind of plugin it should be is for the caller to say.
#[derive(Debug, thiserror::Error)]
pub enum PluginFileError {
    #[error("it cannot be read: {0}\nhint: check the path in the operator's file")]
    Unreadable(io::Error),
    #[error("it has {size} bytes, and the limit is {LARGEST}\nhint: build it for size")]
    TooLarge { size: u64 },
    #[error(
        "its digest is {found}, and {pinned} is pinned\nhint: put the pinned file back, or pin `{found}` if you trust the new one"
    )]
    OtherDigest { found: Sha256, pinned: Sha256 },
    #[error("it is no WebAssembly component: {0}\nhint: build it for the target wasm32-wasip2")]
    NotAComponent(String),
    #[error("it exports {exports}, and this server needs `{wanted}`\nhint: build it against the `wit/` of this server")]
    OtherWorld { exports: String, wanted: &'static str },
    #[error(
        "it is for `{version}`, and this server speaks `{wanted}`\nhint: build it against the `wit/` of this server"
    )]
    OtherVersion { version: String, wanted: &'static str },
    #[error("it needs something that it does not get here: {0}\nhint: the world in `wit/` says what there is")]
    Misfit(String),
}

/// How to tell without reading that a file is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileState {
    /// Nothing for a file that is not there.
    pub fn of(path: &Path) -> Option<Self> {
        let file = std::fs::metadata(path).ok()?;
        Some(Self {
            device: file.dev(),
            inode: file.ino(),
            size: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        })
    }
}

/// Compiles the component in a file, unless that was done before. It must have this export, and this digest if one is pinned.
/// Takes a second or two: not for a thread that answers requests.
pub fn compile(
    path: &Path,
    pinned: Option<Sha256>,
    wanted: &'static str,
    engine: &Engine,
    cache: Option<&Cache>,
) -> Result<(Component, Sha256), PluginFileError> {
    let bytes = read(path).map_err(PluginFileError::Unreadable)?;
    if bytes.len() as u64 > LARGEST {
        let size = std::fs::metadata(path).map_or(bytes.len() as u64, |file| file.len());
        return Err(PluginFileError::TooLarge { size });
    }
    let found = Sha256::of(&bytes);
    if let Some(pinned) = pinned.filter(|pinned| *pinned != found) {
        return Err(PluginFileError::OtherDigest { found, pinned });
    }
    check_functions(&bytes).map_err(|error| PluginFileError::NotAComponent(error.to_string()))?;
    let compile = |engine: &Engine| engine.precompile_component(&bytes);
    let open = |code: Code| code.component(engine);
    let component = cache::compiled(cache, engine, &found, compile, open)
        .map_err(|error| PluginFileError::NotAComponent(error.root_cause().to_string()))?;
    match Exports::of(&component, engine, wanted) {
        Exports::Wanted => Ok((component, found)),
        Exports::OtherVersion(version) => Err(PluginFileError::OtherVersion { version, wanted }),
        Exports::Others(exports) => Err(PluginFileError::OtherWorld { exports, wanted }),
    }
}

/// All of a file, or a little more than is allowed.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe would be waited for.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
