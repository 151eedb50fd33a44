//! Rust shapes of the worlds in `wit/`, one module per world. The only place with `bindgen!`.

pub mod engine {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "engine",
        imports: { default: trappable },
        with: { "skillcell:plugin/library.skill-root": crate::worlds::engine::LentRoot },
        additional_derives: [PartialEq],
    });
}

pub use engine::exports::skillcell::plugin::catalog;
pub use engine::skillcell::plugin::{library, log, types};
