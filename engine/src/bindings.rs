//! Generated bindings of world `engine`. The whole crate uses these types.

#![allow(unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]

wit_bindgen::generate!({
    path: "../wit",
    world: "engine",
    pub_export_macro: true,
    default_bindings_module: "skillcell_engine::bindings",
    additional_derives: [PartialEq],
});
