//! Runs one target under libFuzzer, which provides `main` and reads the command line. FUZZ_TARGET names the target.

#![no_main]

use skillcell_fuzz::{TARGETS, Target, target};
use std::sync::LazyLock;

#[expect(clippy::disallowed_methods, reason = "the arguments belong to libFuzzer")]
static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    target(&name)
        .unwrap_or_else(|| panic!("FUZZ_TARGET is `{name}`, and the targets are {:?}", TARGETS.map(|(name, _)| name)))
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| CHOSEN(bytes));
