//! Loads and runs guests: WebAssembly components of the four worlds in `wit/worlds.wit`.
//!
//! Owns the way from a file to a checked and compiled component ([`load`], [`cache`]), the limits under which it runs, and a
//! typed function for each export. Must not know what the answers are used for: no catalog, no grants, no MCP. What a
//! script or an integration can reach while it runs is up to `sandbox`.
//!
//! Start reading with [`executor`], which compiles and runs; then the world in question:
//!
//! | world | module | runs in | time counts | limits are set by |
//! |---|---|---|---|---|
//! | `engine` | [`engine`] | [`call`], on the caller's thread | while it runs | constants in [`engine`] |
//! | `scorer` | [`scorer`] | [`call`], on the caller's thread | while it runs | [`scorer::Limits`] |
//! | `script-runtime` | [`script`] | [`run`], on a separate thread | by the clock | [`sandbox::limits::Limits`] in a [`script::Job`] |
//! | `integration` | [`integration`] | [`run`], on a separate thread | by the clock | [`integration::Limits`] |
//!
//! Memory is counted by one [`Meter`](sandbox::limits::memory::Meter) in the state of each store, for [`call`] inside its
//! [`Budget`](call::Budget).

pub mod executor;
pub mod load;
pub mod cache;
pub mod call;
pub mod run;
pub mod engine;
pub mod scorer;
pub mod script;
pub mod integration;
mod imports;
