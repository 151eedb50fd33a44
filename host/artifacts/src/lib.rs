//! The guests that skillcell carries, compiled ahead of time by this crate's build script.

pub mod compiler;

/// The engine as native code for this target.
pub static ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm"));

/// The example library of `fixtures/skills`: paths and contents, sorted by path.
pub static BUNDLED_SKILLS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));
