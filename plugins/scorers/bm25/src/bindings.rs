//! Rust shapes of world `scorer`. The types below are the ones the whole crate speaks in.

#![allow(unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]

wit_bindgen::generate!({
    path: "../../../wit",
    world: "scorer",
    pub_export_macro: true,
    default_bindings_module: "scorer_bm25::bindings",
    additional_derives: [PartialEq],
});
