//! What a build script gets from cargo and tells it.

use std::path::PathBuf;

/// The top folder of the repository, for a build script of any package in it.
pub fn workspace() -> PathBuf {
    let start = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let top = start.ancestors().find(|folder| folder.join("Cargo.lock").exists());
    top.expect("a package of the workspace").to_owned()
}

/// Tells cargo to build again when one of these files or folders, named from the top of the repository, changes.
pub fn depends_on(paths: &[&str]) {
    for path in paths {
        println!("cargo::rerun-if-changed={}", workspace().join(path).display());
    }
}

#[expect(clippy::disallowed_methods, reason = "cargo talks to build scripts through the environment")]
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}
