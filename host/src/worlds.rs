//! Per world: the state of a store, the linker, and one typed function per export.

pub mod engine;
mod exports;
mod imports;
pub mod integration;
pub mod plugin_file;
pub mod scorer;
