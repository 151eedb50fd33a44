//! Fuzz targets: functions that pass any bytes to code that reads foreign bytes, and check what must hold whatever they are.
//!
//! A target panics if a promise is broken, for instance if a path that was accepted leaves its root. [`TARGETS`] lists all of
//! them; each has inputs of interest in `corpus/TARGET`, among them those that broke something once. The same functions run in
//! two ways:
//!
//! - `cargo test` runs each over its corpus and a fixed number of variations of it, within seconds (`tests/corpus.rs`);
//! - `just fuzz TARGET [RUNS]` runs one of them under libFuzzer, which looks for inputs that reach new code (`main.rs`). The
//!   wrapper `instrument` adds the counters for that to the crates of this workspace. Stable Rust is enough; the fuzzer itself is
//!   compiled by a C++ compiler. New inputs go to `target/fuzz/TARGET`, and one that fails to `target/fuzz/TARGET-failures`:
//!   copy it to the corpus together with the fix.

#![expect(clippy::format_push_string, clippy::single_match_else, reason = "short texts, and the likely case first")]

mod audit;
mod config;
mod front_matter;
mod graphql;
mod lines;
mod packs;
mod paths;
mod scratch;
mod skills;
mod trees;
mod uris;
mod wasi;
mod wheels;

/// Passes bytes to the code under test, and panics if a promise is broken.
pub type Target = fn(&[u8]);

/// By the name of the folder in `corpus`.
pub const TARGETS: [(&str, Target); 12] = [
    ("audit", audit::audit),
    ("config", config::config),
    ("front_matter", front_matter::front_matter),
    ("graphql", graphql::graphql),
    ("lines", lines::lines),
    ("packs", packs::packs),
    ("paths", paths::paths),
    ("skills", skills::skills),
    ("trees", trees::trees),
    ("uris", uris::uris),
    ("wasi", wasi::wasi),
    ("wheels", wheels::wheels),
];

pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}
