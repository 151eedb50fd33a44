//! The guests that skillcell carries, compiled ahead of time by this crate's build script.

pub mod compiler;

/// The engine as native code for this target.
pub static ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm"));

/// The runtimes for scripts as native code for this target. Python comes compiled in its own crate.
pub static JAVASCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime_javascript.cwasm"));
pub static SHELL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime_shell.cwasm"));

/// The scorers as native code for this target.
pub static BM25: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scorer_bm25.cwasm"));
pub static HYBRID: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scorer_hybrid.cwasm"));

/// The integrations as native code for this target.
pub static GITHUB: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/integration_github.cwasm"));
pub static CIRCLECI: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/integration_circleci.cwasm"));
pub static LINEAR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/integration_linear.cwasm"));
pub static GATEWAY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/integration_gateway.cwasm"));

/// The example library of `fixtures/skills`: paths and contents, sorted by path.
pub static BUNDLED_SKILLS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));
