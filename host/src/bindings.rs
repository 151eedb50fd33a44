//! Rust shapes of the worlds in `wit/`, one module per world. The only place with `bindgen!`.

pub mod engine {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "skillcell:plugin/engine",
        imports: { default: trappable },
        with: { "skillcell:plugin/library.skill-root": crate::worlds::engine::LentRoot },
        additional_derives: [PartialEq],
    });
}

pub use engine::exports::skillcell::plugin::catalog;
pub use engine::skillcell::plugin::{library, log, types};

pub mod scorer {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "skillcell:plugin/scorer",
        imports: { default: trappable },
        with: {
            "skillcell:plugin/types": crate::bindings::types,
            "skillcell:plugin/log": crate::bindings::log,
        },
    });
}

/// The files of scripts are our own, so that quotas and refusals are exact; the rest of WASI is wasmtime's.
pub mod files {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "wasi:filesystem/imports",
        imports: { default: trappable },
        trappable_error_type: { "wasi:filesystem/types.error-code" => crate::sandbox::p2::Failure },
        with: {
            "wasi:io": wasmtime_wasi::p2::bindings::io,
            "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
            "wasi:filesystem/types.descriptor": crate::sandbox::p2::Descriptor,
            "wasi:filesystem/types.directory-entry-stream": crate::sandbox::p2::Listing,
        },
        require_store_data_send: true,
    });
}

pub use files::wasi::filesystem as wasi_files;

pub mod script {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "skillcell:plugin/script-runtime",
        exports: { default: async },
        with: {
            "wasi:cli": wasmtime_wasi::p2::bindings::cli,
            "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
            "wasi:filesystem": crate::bindings::wasi_files,
            "wasi:http": wasmtime_wasi_http::p2::bindings::http,
            "wasi:io": wasmtime_wasi::p2::bindings::io,
            "wasi:random": wasmtime_wasi::p2::bindings::random,
            "wasi:sockets": wasmtime_wasi::p2::bindings::sockets,
        },
    });
}

pub mod integration {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "skillcell:plugin/integration",
        imports: { default: trappable },
        exports: { default: async },
        with: {
            "skillcell:plugin/log": crate::bindings::log,
            "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
            "wasi:http": wasmtime_wasi_http::p2::bindings::http,
            "wasi:io": wasmtime_wasi::p2::bindings::io,
        },
    });
}

pub use integration::exports::skillcell::plugin::query;
pub use integration::skillcell::plugin::progress;
