//! Rust types of the worlds in `wit/`, one module per world.
//!
//! Owns every `bindgen!` of a skillcell world and the resource types these map to; the file system of WASI, which the
//! sandbox implements itself, is generated there. Must not know what the host does with the types: no functions here.
//!
//! Start reading in `wit/`, where everything is documented; then [`engine`], whose types the others share.

/// A root as the engine holds it: its position in the list of roots.
pub struct LentRoot(pub u32);

pub mod engine {
    wasmtime::component::bindgen!({
        path: "../../../wit",
        world: "skillcell:plugin/engine",
        imports: { default: trappable },
        with: { "skillcell:plugin/library.skill-root": crate::LentRoot },
        additional_derives: [PartialEq],
    });
}

pub use engine::exports::skillcell::plugin::catalog;
pub use engine::skillcell::plugin::{library, log, types};

pub mod scorer {
    wasmtime::component::bindgen!({
        path: "../../../wit",
        world: "skillcell:plugin/scorer",
        imports: { default: trappable },
        with: {
            "skillcell:plugin/types": crate::types,
            "skillcell:plugin/log": crate::log,
        },
    });
}

pub use scorer::skillcell::plugin::model;

pub mod script {
    wasmtime::component::bindgen!({
        path: "../../../wit",
        world: "skillcell:plugin/script-runtime",
        exports: { default: async },
        with: {
            "wasi:cli": wasmtime_wasi::p2::bindings::cli,
            "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
            "wasi:filesystem": wasmtime_wasi::p2::bindings::filesystem,
            "wasi:http": wasmtime_wasi_http::p2::bindings::http,
            "wasi:io": wasmtime_wasi::p2::bindings::io,
            "wasi:random": wasmtime_wasi::p2::bindings::random,
            "wasi:sockets": wasmtime_wasi::p2::bindings::sockets,
        },
    });
}

pub use script::skillcell::plugin::programs;

pub mod integration {
    wasmtime::component::bindgen!({
        path: "../../../wit",
        world: "skillcell:plugin/integration",
        imports: { default: trappable },
        exports: { default: async },
        with: {
            "skillcell:plugin/log": crate::log,
            "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
            "wasi:http": wasmtime_wasi_http::p2::bindings::http,
            "wasi:io": wasmtime_wasi::p2::bindings::io,
        },
    });
}

pub use integration::exports::skillcell::plugin::query;
pub use integration::skillcell::plugin::progress;
