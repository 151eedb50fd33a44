//! Native code of guests, and the folder that caches it.
//!
//! Native code can do anything. It is loaded only if it is part of this binary, was compiled by this process, or comes from
//! a folder that only the user can access, with a tag that proves that this user's skillcell compiled it from the same
//! WebAssembly with the same compiler.

use base::digest::Sha256;
use base::user_files::{self, Key, Untrusted};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

/// Length of the authentication tag at the start of a file.
const TAG_BYTES: usize = 32;

/// Of one file. Native code is about three times as large as its WebAssembly.
const MAX_BYTES: u64 = 512 << 20;

/// Beyond this, the oldest files are evicted.
const MAX_FILES: usize = 64;

/// Native code from a trusted source: the only `unsafe` of this crate is here.
pub(crate) struct NativeCode(Cow<'static, [u8]>);

impl NativeCode {
    /// `code` was compiled by the build script and is embedded in this binary.
    pub fn bundled(code: impl Into<Cow<'static, [u8]>>) -> Self {
        Self(code.into())
    }

    /// `code` was just returned by the compiler of this process.
    pub fn compiled(code: Vec<u8>) -> Self {
        Self(Cow::Owned(code))
    }

    pub fn component(&self, engine: &Engine) -> wasmtime::Result<Component> {
        #[expect(unsafe_code, reason = "native code, but from a trusted source")]
        // SAFETY: a `NativeCode` holds only what wasmtime compiled, which checks the version and the kind again.
        unsafe {
            Component::deserialize(engine, &self.0)
        }
    }

    pub fn module(&self, engine: &Engine) -> wasmtime::Result<Module> {
        #[expect(unsafe_code, reason = "native code, but from a trusted source")]
        // SAFETY: see `component`.
        unsafe {
            Module::deserialize(engine, &self.0)
        }
    }
}

/// A folder with compiled code.
pub struct Cache {
    folder: PathBuf,
    key: Key,
}

impl Cache {
    /// Opens a folder, and creates it if it is missing.
    pub fn open(folder: &Path, key: &Path) -> Result<Self, Untrusted> {
        user_files::ensure_folder(folder)?;
        Ok(Self { folder: folder.to_owned(), key: Key::in_file(key)? })
    }

    /// Names the file after the WebAssembly, the compiler and its settings.
    pub(crate) fn file_name(engine: &Engine, digest: &Sha256) -> String {
        let mut compiler = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut compiler);
        format!("{}-{:016x}.cwasm", digest.hex(), compiler.finish())
    }

    /// Returns the code in a file, if it exists and is authentic.
    pub(crate) fn get(&self, name: &str) -> Option<NativeCode> {
        let path = self.folder.join(name);
        match self.read(&path, name) {
            Ok(code) => Some(code),
            Err(Untrusted::Unusable { reason, .. }) if reason.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!("compiled code is not used: {error}");
                None
            }
        }
    }

    fn read(&self, path: &Path, name: &str) -> Result<NativeCode, Untrusted> {
        // The permissions of the folder may have changed since the start.
        user_files::ensure_folder(&self.folder)?;
        let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
        let mut bytes = Vec::new();
        user_files::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes).map_err(unusable)?;
        let invalid = |what| Untrusted::Invalid { path: path.to_owned(), what };
        let (tag, code) = bytes.split_at_checked(TAG_BYTES).ok_or(invalid("too short"))?;
        if !self.key.verify(tag, &[name.as_bytes(), code]) {
            return Err(invalid("not written by this user's skillcell, or changed since"));
        }
        bytes.drain(..TAG_BYTES);
        Ok(NativeCode(bytes.into()))
    }

    /// Adds code. A failure is only logged, because the code can be compiled again.
    pub(crate) fn put(&self, name: &str, code: &NativeCode) {
        let mut bytes = self.key.sign(&[name.as_bytes(), &code.0]).to_vec();
        bytes.extend_from_slice(&code.0);
        if let Err(error) = user_files::write(&self.folder.join(name), &bytes) {
            tracing::warn!("compiled code cannot be cached in {}: {error}", self.folder.display());
        }
        self.evict_oldest();
    }

    fn evict_oldest(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let dated = entries.flatten().filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
        let mut files: Vec<_> = dated.collect();
        files.sort();
        let surplus = files.len().saturating_sub(MAX_FILES);
        for (_, path) in files.into_iter().take(surplus) {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests;
