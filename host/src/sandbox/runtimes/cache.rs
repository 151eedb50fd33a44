//! Native code that was compiled before, kept in a folder of the user's own.
//!
//! Native code can do anything, so it is loaded only when the folder and the file belong to the user alone and a code at its
//! head proves that this user's skillcell wrote it, for this very WebAssembly and this very compiler.

use crate::private::{self, Key, Untrusted};
use crate::sha256::Sha256;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

/// The length of the code at the head of a file.
const HEAD: usize = 32;

/// Largest file that is read, in bytes. Native code is about three times as large as its WebAssembly.
const LARGEST: u64 = 512 << 20;

/// Most files that are kept; the oldest go first.
const MOST_FILES: usize = 64;

pub struct Cache {
    folder: PathBuf,
    key: Key,
}

/// Native code of which we know where it comes from.
pub struct Code(Vec<u8>);

impl Code {
    /// What our own compiler made just now.
    pub fn compiled(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub fn component(&self, engine: &Engine) -> wasmtime::Result<Component> {
        #[expect(unsafe_code, reason = "native code, but compiled by us: now, or earlier and proven by its code")]
        // SAFETY: a `Code` is made only from what `precompile_component` returned.
        unsafe {
            Component::deserialize(engine, &self.0)
        }
    }

    pub fn module(&self, engine: &Engine) -> wasmtime::Result<Module> {
        #[expect(unsafe_code, reason = "native code, but compiled by us: now, or earlier and proven by its code")]
        // SAFETY: a `Code` is made only from what `precompile_module` returned.
        unsafe {
            Module::deserialize(engine, &self.0)
        }
    }
}

/// Opens what was compiled before, else compiles it and keeps it for the next time.
pub fn compiled<T>(
    cache: Option<&Cache>,
    engine: &Engine,
    digest: &Sha256,
    compile: impl FnOnce(&Engine) -> wasmtime::Result<Vec<u8>>,
    open: impl Fn(Code) -> wasmtime::Result<T>,
) -> wasmtime::Result<T> {
    let name = Cache::name(engine, digest);
    if let Some(code) = cache.and_then(|cache| cache.get(&name))
        && let Ok(opened) = open(code)
    {
        return Ok(opened);
    }
    let code = Code::compiled(compile(engine)?);
    if let Some(cache) = cache {
        cache.put(&name, &code);
    }
    open(code)
}

impl Cache {
    /// Uses a folder, which is made if it is missing.
    pub fn open(folder: &Path, key: &Path) -> Result<Self, Untrusted> {
        private::folder(folder)?;
        Ok(Self { folder: folder.to_owned(), key: Key::in_file(key)? })
    }

    /// The name of a file: what was compiled, and by which compiler with which settings.
    pub fn name(engine: &Engine, digest: &Sha256) -> String {
        let mut compiler = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut compiler);
        format!("{}-{:016x}.cwasm", digest.hex(), compiler.finish())
    }

    /// The code of that name, if it is there and ours.
    pub fn get(&self, name: &str) -> Option<Code> {
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

    fn read(&self, path: &Path, name: &str) -> Result<Code, Untrusted> {
        // The folder may have been opened to others since we began.
        private::folder(&self.folder)?;
        let unusable = |reason| Untrusted::Unusable { path: path.to_owned(), reason };
        let mut bytes = Vec::new();
        private::open(path)?.take(LARGEST).read_to_end(&mut bytes).map_err(unusable)?;
        let odd = |what| Untrusted::Odd { path: path.to_owned(), what };
        let (head, code) = bytes.split_at_checked(HEAD).ok_or(odd("too short"))?;
        if !self.key.made(head, &[name.as_bytes(), code]) {
            return Err(odd("not written by this user's skillcell, or changed since"));
        }
        bytes.drain(..HEAD);
        Ok(Code(bytes))
    }

    /// Keeps code for the next time. That it cannot is no reason to fail.
    pub fn put(&self, name: &str, code: &Code) {
        let mut bytes = self.key.code(&[name.as_bytes(), &code.0]).to_vec();
        bytes.extend_from_slice(&code.0);
        if let Err(error) = private::write(&self.folder.join(name), &bytes) {
            tracing::warn!("compiled code cannot be kept in {}: {error}", self.folder.display());
        }
        self.forget_oldest();
    }

    fn forget_oldest(&self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        let dated = entries.flatten().filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
        let mut files: Vec<_> = dated.collect();
        files.sort();
        let surplus = files.len().saturating_sub(MOST_FILES);
        for (_, path) in files.into_iter().take(surplus) {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    const WASM: &[u8] = b"\0asm\x01\0\0\0";

    fn cache(folder: &Path) -> Cache {
        Cache::open(&folder.join("native"), &folder.join("cache.key")).unwrap()
    }

    fn engine() -> Engine {
        Engine::new(&skillcell_artifacts::compiler::script_config()).unwrap()
    }

    /// A cache with one good file in it.
    fn filled(folder: &Path, engine: &Engine) -> (Cache, String, PathBuf) {
        let cache = cache(folder);
        let name = Cache::name(engine, &Sha256::of(WASM));
        cache.put(&name, &Code::compiled(engine.precompile_module(WASM).unwrap()));
        let path = folder.join("native").join(&name);
        (cache, name, path)
    }

    #[test]
    fn code_that_we_wrote_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine();
        let (cache, name, _) = filled(folder.path(), &engine);
        cache.get(&name).unwrap().module(&engine).unwrap();
    }

    #[test]
    fn forged_code_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine();
        let (cache, name, path) = filled(folder.path(), &engine);
        let good = std::fs::read(&path).unwrap();
        let mut changed = good.clone();
        *changed.last_mut().unwrap() ^= 1;
        let other = tempfile::tempdir().unwrap();
        let (_, _, foreign) = filled(other.path(), &engine);
        for forged in [&changed, &good[..HEAD + 10], &good[..HEAD - 1], &[], &std::fs::read(foreign).unwrap()] {
            private::write(&path, forged).unwrap();
            assert!(cache.get(&name).is_none());
        }
        private::write(&path, &good).unwrap();
        assert!(cache.get(&name).is_some());
        let moved = Cache::name(&engine, &Sha256::of(b"other"));
        std::fs::copy(&path, folder.path().join("native").join(&moved)).unwrap();
        assert!(cache.get(&moved).is_none(), "code of one component must not run as another");
    }

    #[test]
    fn stale_code_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine();
        let (cache, name, _) = filled(folder.path(), &engine);
        let mut settings = skillcell_artifacts::compiler::script_config();
        settings.epoch_interruption(false);
        let newer = Engine::new(&settings).unwrap();
        assert_ne!(Cache::name(&newer, &Sha256::of(WASM)), name, "another compiler looks for another file");
        assert!(cache.get(&name).unwrap().module(&newer).is_err(), "and would not take this one");
    }

    #[test]
    fn code_that_others_could_have_written_is_not_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine();
        let (cache, name, path) = filled(folder.path(), &engine);
        let set = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        set(&path, 0o666);
        assert!(cache.get(&name).is_none());
        set(&path, 0o600);
        set(&folder.path().join("native"), 0o777);
        assert!(cache.get(&name).is_none());
        set(&folder.path().join("native"), 0o700);
        assert!(cache.get(&name).is_some());
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
            assert!(cache.get(&name).is_none());
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        }
        let elsewhere = folder.path().join("elsewhere");
        std::fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(cache.get(&name).is_none(), "a link is not followed");
    }

    #[test]
    fn the_oldest_code_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        for number in 0..MOST_FILES + 5 {
            cache.put(&format!("{number}.cwasm"), &Code::compiled(vec![0]));
        }
        let kept = std::fs::read_dir(folder.path().join("native")).unwrap().count();
        assert_eq!(kept, MOST_FILES);
    }
}
