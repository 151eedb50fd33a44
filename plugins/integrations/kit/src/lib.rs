//! What integrations have in common.
//!
//! An integration implements [`Integration`] and is exported with [`export_integration!`]. It finds out with [`words`] what is
//! asked, asks a [`service`] through [`http`], and lays out its answer with [`text`] and [`time`]. Nothing here needs
//! WebAssembly but the real client, so integrations are tested natively with [`recorded`] answers.

pub mod bindings;
pub mod integration;
pub mod http;
pub mod service;
pub mod json;
pub mod words;
pub mod text;
pub mod time;
#[cfg(not(target_family = "wasm"))]
pub mod recorded;

pub use bindings::exports::skillcell::plugin::query::{Missing, QueryError, Question, Remote, Repository};
pub use integration::Integration;
