//! Generated bindings of world `scorer`. The whole crate uses these types.

#![allow(unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]

wit_bindgen::generate!({
    path: "../../../wit",
    world: "scorer",
    pub_export_macro: true,
    default_bindings_module: "scorer_bm25::bindings",
    additional_derives: [PartialEq],
});
