//! Generated bindings of world `integration`.

#![allow(unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]

wit_bindgen::generate!({
    path: "../../../wit",
    world: "integration",
    generate_all,
    pub_export_macro: true,
    default_bindings_module: "integration_kit::bindings",
    additional_type_attributes: {
        "skillcell:plugin/query@0.1.1/query-error": [#[derive(PartialEq)]],
    },
});
