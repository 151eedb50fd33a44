//! Per world: the state of a store, the linker, and one typed function per export.

pub mod engine;
