//! Drives the real server: its binary, over its standard input and output.

mod case;
pub mod endpoint;
mod generate;
pub mod git_server;
pub mod http;
pub mod measure;
mod native;
mod repository;
mod session;

pub use case::{Case, Outcome, all_cases};
pub use generate::write_library;
pub use native::native_catalog;
pub use repository::Upstream;
pub use session::{Launch, Session};
pub use skillcell_engine::bindings::exports::skillcell::plugin::catalog::Request;

use std::path::{Path, PathBuf};

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

/// A guest of `tests/components`, built by this crate's build script.
pub fn component(name: &str) -> PathBuf {
    Path::new(env!("COMPONENTS")).join(format!("{}.wasm", name.replace('-', "_")))
}
