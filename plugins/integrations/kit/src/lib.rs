//! Shared code of integrations.
//!
//! An integration implements [`Integration`] and is exported with [`export_integration!`]. It parses the question with
//! [`words`], queries a [`service`] through [`http`], and formats its answer with [`text`] and [`time`]. Only the real
//! client needs WebAssembly, so integrations are tested natively with [`recorded`] answers.

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
