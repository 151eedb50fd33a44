//! Where the bundled guests are.

use crate::cargo;
use std::path::{Path, PathBuf};

/// The folders of bundled guests below `plugins`.
pub const KINDS: [&str; 3] = ["runtimes", "scorers", "integrations"];

/// The package of the engine, which is in a folder of its own.
pub const ENGINE: &str = "skillcell-engine";

/// The folders of the guests of one kind: those with a manifest.
pub fn folders(kind: &str) -> Vec<PathBuf> {
    let all =
        std::fs::read_dir(cargo::workspace().join("plugins").join(kind)).expect("the plugins are in the repository");
    let folders = all.map(|entry| entry.expect("a readable folder").path());
    folders.filter(|folder| folder.join("plugin.yaml").exists()).collect()
}

/// The cargo package in a folder. CPython has none, because it comes compiled in a crate of its own.
pub fn package(folder: &Path) -> Option<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).expect("a package has a name");
    Some(name.trim_matches('"').to_owned())
}

/// The file to which cargo compiles a package.
pub fn component(package: &str) -> String {
    format!("{}.wasm", package.replace('-', "_"))
}
