//! Rust types of `wasi:filesystem`, which this crate implements so that quotas and denials are exact. wasmtime implements
//! the rest of WASI.

wasmtime::component::bindgen!({
    path: "../../../wit",
    world: "wasi:filesystem/imports",
    imports: { default: trappable },
    trappable_error_type: { "wasi:filesystem/types.error-code" => crate::p2::Failure },
    with: {
        "wasi:io": wasmtime_wasi::p2::bindings::io,
        "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        "wasi:filesystem/types.descriptor": crate::p2::Descriptor,
        "wasi:filesystem/types.directory-entry-stream": crate::p2::Listing,
    },
    require_store_data_send: true,
});

pub use wasi::filesystem::{preopens, types};
