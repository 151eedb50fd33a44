//! Builds guests from a build script, so that `cargo run` and `cargo test` need no other step.

use crate::cargo::{variable, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-wasip2";
const PROFILE: &str = "guest";

/// Compiles packages of this workspace to components and returns the folder they are in.
///
/// They share `target/guests`, which `just build-engine` fills too. It is a folder of its own because the outer cargo
/// holds the lock on the usual one.
pub fn build(packages: &[String]) -> PathBuf {
    ensure_target();
    let folder = target_folder().join("guests");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--profile", PROFILE, "--target", TARGET, "--target-dir"]).arg(&folder);
    cargo.args(packages.iter().flat_map(|package| ["-p", package.as_str()]));
    // What the outer build was told is about the native target.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_TARGET"] {
        cargo.env_remove(name);
    }
    let status = cargo.current_dir(workspace()).status().expect("cargo starts");
    assert!(status.success(), "the guests {packages:?} do not build; run `just build-engine` to see why");
    folder.join(TARGET).join(PROFILE)
}

/// `target/release/build/NAME/out` is where cargo lets a build script write.
fn target_folder() -> PathBuf {
    let out = PathBuf::from(variable("OUT_DIR"));
    out.ancestors().nth(4).expect("cargo's folder layout").to_owned()
}

/// Adds the WebAssembly target when it is missing. A toolchain file alone does not where rustup may not install by itself.
fn ensure_target() {
    // Build scripts that run at the same time must not install it twice.
    let lock = std::fs::File::create(target_folder().join("rustup.lock")).expect("cargo's folder is writable");
    lock.lock().expect("the file can be locked");
    let sysroot = Command::new(variable("RUSTC")).args(["--print", "sysroot"]).output().expect("rustc starts").stdout;
    let sysroot = String::from_utf8(sysroot).expect("a path in UTF-8");
    if Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).join("lib").exists() {
        return;
    }
    println!("cargo::warning=the Rust target {TARGET} is missing: adding it with `rustup target add {TARGET}`");
    let added = Command::new("rustup").args(["target", "add", TARGET]).status();
    assert!(added.is_ok_and(|status| status.success()), "run `rustup target add {TARGET}` and build again");
}
