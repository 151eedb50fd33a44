//! Generated bindings of world `script-runtime`.

#![allow(unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]

wit_bindgen::generate!({
    path: "../../../wit",
    world: "script-runtime",
    generate_all,
    pub_export_macro: true,
    default_bindings_module: "crate::bindings",
});
