//! Drives the real server: its binary, over standard input and output or over HTTP.

mod authority;
mod case;
pub mod endpoint;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod faults;
mod generate;
pub mod git_server;
pub mod http;
pub mod measure;
mod native;
mod numbers;
mod project;
pub mod ranking;
mod repository;
mod script_runs;
pub mod services;
mod session;
pub mod wheels;
mod wire;

pub use case::{Case, Outcome, all_cases};
pub use generate::{SYLLABLES, write_library};
pub use native::native_catalog;
pub use numbers::Numbers;
pub use project::Project;
pub use repository::Upstream;
pub use script_runs::{InputFile, ScriptRun, Surroundings, script_library, script_runs};
pub use session::{Launch, Session};
pub use skillcell_engine::bindings::exports::skillcell::plugin::catalog::Request;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a test waits for something that must happen. Far more than it takes, because no test asserts that it is quick.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Limit for what must not wait for something that hangs. The benches measure how long it takes; what hangs in a test does so
/// for a minute or longer.
pub const SOON: Duration = Duration::from_secs(30);

/// The longest that a request waits for changes on disk. An answer that took longer may have been made from older files.
pub const MAX_WAIT: Duration = Duration::from_secs(1);

/// The top folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository").to_owned()
}

/// Writes files below a folder, making folders as needed.
pub fn write_files(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("a writable folder");
        std::fs::write(file, text).expect("a writable folder");
    }
}

/// Replaces a file, or creates it, in one step: no reader ever sees a part of it.
pub fn put_file(folder: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let file = folder.join(path);
    let parent = file.parent().expect("a file is in a folder");
    std::fs::create_dir_all(parent).expect("a writable folder");
    let next = parent.join(".next");
    std::fs::write(&next, bytes).expect("a writable folder");
    std::fs::rename(next, file).expect("a writable folder");
}

/// Every file below a folder, sorted. A symbolic link counts as a file.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let entry = entry.expect("a readable folder");
            let is_folder = entry.file_type().expect("a kind").is_dir();
            if is_folder { waiting.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    found.sort();
    found
}

/// Polls until a condition holds, for what sends no event. Panics after `PATIENCE`.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// A guest of `tests/components`, built by this crate's build script.
pub fn component(name: &str) -> PathBuf {
    Path::new(env!("COMPONENTS")).join(format!("{}.wasm", name.replace('-', "_")))
}
