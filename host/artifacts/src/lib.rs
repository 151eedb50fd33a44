//! The guests that skillcell carries, compiled ahead of time by this crate's build script.

pub mod compiler;

/// The engine as native code for this target.
pub static ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm"));

/// The runtimes for scripts as native code for this target. Python comes compiled in its own crate.
pub static JAVASCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/javascript.cwasm"));
pub static SHELL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shell.cwasm"));

/// The example library of `fixtures/skills`: paths and contents, sorted by path.
pub static BUNDLED_SKILLS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));
