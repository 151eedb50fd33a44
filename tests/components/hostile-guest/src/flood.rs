//! Output is limited without an error for the script.

use std::io::{Write as _, stderr, stdout};

/// Prints far more than the limit on both streams, and exits with 7.
pub fn flood() {
    let text = "é".repeat(1_000);
    for _ in 0..1_000 {
        stdout().write_all(text.as_bytes()).expect("standard output takes everything");
        stderr().write_all(text.as_bytes()).expect("standard error takes everything");
    }
    std::process::exit(7);
}
