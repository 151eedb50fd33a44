//! The guests that skillcell carries, compiled ahead of time by this crate's build script.

pub mod compiler;

use std::io;

/// The engine as native code for this target.
pub static ENGINE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.cwasm"));

/// A bundled runtime, as its manifest describes it.
pub struct Runtime {
    pub name: &'static str,
    /// Of the scripts that it runs, with the dot.
    pub extensions: &'static [&'static str],
    /// Commands that other servers would start for such scripts.
    pub aliases: &'static [&'static str],
    /// CPython is a core module, which its crate compiles with its own settings; the others are components.
    pub is_cpython: bool,
    /// Native code for this target, compressed with zstd.
    pub compressed: &'static [u8],
}

impl Runtime {
    /// Decompresses the native code.
    pub fn code(&self) -> io::Result<Vec<u8>> {
        let size = zstd::zstd_safe::get_frame_content_size(self.compressed).ok().flatten();
        zstd::bulk::decompress(self.compressed, usize::try_from(size.unwrap_or_default()).unwrap_or_default())
    }
}

/// A bundled scorer.
pub struct Scorer {
    pub name: &'static str,
    pub code: &'static [u8],
}

/// A bundled integration, and what the host has to know about its service.
pub struct Integration {
    pub name: &'static str,
    pub code: &'static [u8],
    /// The public address of the service. Without one, the operator has to configure it.
    pub address: Option<&'static str>,
    /// What may be sent with `POST`: `nothing`, `questions` (GraphQL) or `to-itself`.
    pub posts: &'static str,
    pub token_variable: &'static str,
    pub token_header: &'static str,
    pub token_required: bool,
    pub probe_path: &'static str,
    pub probe_body: Option<&'static str>,
    pub probe_account: Option<&'static str>,
}

// Generated from `plugins/*/*/plugin.yaml`.
include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The example library of `fixtures/skills`: paths and contents, sorted by path.
pub static BUNDLED_SKILLS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));
