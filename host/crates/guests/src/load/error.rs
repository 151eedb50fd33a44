//! Why a guest cannot be used.

use super::World;
use super::bounds::Excess;
use base::digest::Sha256;
use base::place::{Audience, Place};
use base::printable::quoted;

/// A guest that cannot be used, and what to do about it.
#[derive(Debug, Clone)]
pub struct LoadError {
    pub(super) world: &'static str,
    pub(super) source: Source,
    pub fault: Fault,
}

#[derive(Debug, Clone)]
pub(super) enum Source {
    Bundled(&'static str),
    File(Place),
}

/// Why a guest cannot be used. The message is the predicate of a sentence about it, and names no place of this machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("cannot be read: {0}")]
    Unreadable(String),
    #[error("has {size} bytes, and the limit is {limit}")]
    TooLarge { size: u64, limit: u64 },
    #[error("has the digest {found}, and {pinned} is pinned")]
    // Boxed, because errors are moved around.
    OtherDigest { found: Box<Sha256>, pinned: Sha256 },
    #[error("is not a WebAssembly component")]
    NotAComponent,
    #[error("is not valid WebAssembly: {0}")]
    Invalid(String),
    #[error("is too complex to compile: {0}")]
    Complex(Excess),
    #[error("was not compiled in time")]
    NotCompiled,
    #[error("exports {exports} instead of `{wanted}`")]
    OtherWorld { exports: String, wanted: &'static str },
    #[error("is built for `{version}`, and this server supports `{wanted}`")]
    OtherVersion { version: String, wanted: &'static str },
    #[error("does not fit world `{world}`: {reason}")]
    Misfit { world: &'static str, reason: String },
    #[error("cannot be loaded: {0}")]
    Bundled(String),
}

impl LoadError {
    pub fn for_audience(&self, audience: Audience) -> String {
        let Self { world, source, fault } = self;
        let guest = match source {
            Source::Bundled(name) => format!("bundled {world} `{name}`"),
            Source::File(place) => format!("{world} `{}`", place.for_audience(audience)),
        };
        format!("the {guest} {fault}\nhint: {}", fault.hint(world))
    }
}

impl Fault {
    pub(crate) fn other_world(exports: &[String], wanted: &'static str) -> Self {
        let exports = if exports.is_empty() { "nothing".to_owned() } else { quoted(exports) };
        Self::OtherWorld { exports, wanted }
    }

    pub(crate) fn misfit(world: &'static str, error: &wasmtime::Error) -> Self {
        Self::Misfit { world, reason: format!("{error:#}") }
    }

    fn hint(&self, world: &str) -> String {
        match self {
            Self::Unreadable(_) => "check its path".to_owned(),
            Self::TooLarge { .. } | Self::Complex(_) => "build it for size".to_owned(),
            Self::OtherDigest { found, .. } => {
                format!("put the pinned file back, or pin `{found}` if you trust the new one")
            }
            Self::NotAComponent | Self::Invalid(_) if world == World::SCORER.name => {
                "`skillcell plugin new NAME --kind scorer` creates a project that builds one".to_owned()
            }
            Self::NotAComponent | Self::Invalid(_) => "build it for the target wasm32-wasip2".to_owned(),
            Self::NotCompiled => "try again".to_owned(),
            Self::OtherWorld { .. } | Self::OtherVersion { .. } | Self::Misfit { .. } => {
                format!("build it against world `{world}` in the `wit/` of this server")
            }
            Self::Bundled(_) => "build skillcell again".to_owned(),
        }
    }
}
