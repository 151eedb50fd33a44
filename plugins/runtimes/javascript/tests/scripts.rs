//! Runs the scripts beside this file. Each checks itself, and says so with its exit code.
//!
//! They also pass under Node (those that end in `.ts` under tsx), which is how we know that they ask for the right thing.

use std::path::{Path, PathBuf};

#[test]
fn scripts_behave_as_under_node() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder lies beside this file")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.is_file())
        .collect();
    scripts.sort();
    assert!(!scripts.is_empty());
    let failed: Vec<_> = scripts.iter().filter(|script| code_of(script) != expected_code(script)).collect();
    assert!(failed.is_empty(), "see standard error for what went wrong in {failed:?}");
}

fn code_of(script: &Path) -> u8 {
    runtime_javascript::run(script.to_str().expect("paths here are text"))
}

/// A name such as `exits-3.js` says which code the script ends with.
fn expected_code(script: &Path) -> u8 {
    let name = script.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    name.rsplit_once("exits-").map_or(0, |(_, code)| code.parse().expect("a code follows `exits-`"))
}
