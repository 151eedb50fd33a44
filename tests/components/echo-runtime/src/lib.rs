//! A runtime that prints the script instead of running it, and ends with 7.

#![expect(unsafe_code, reason = "generated: the exports of the component")]

use std::io::Write as _;

mod bindings {
    #![allow(unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]

    wit_bindgen::generate!({ path: "../../../wit", world: "script-runtime", generate_all, pub_export_macro: true });
}

struct EchoRuntime;

impl bindings::exports::skillcell::plugin::script::Guest for EchoRuntime {
    fn run(file: String) -> u8 {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| error.to_string());
        let mut stdout = std::io::stdout();
        write!(stdout, "{file}: {text}").and_then(|()| stdout.flush()).map_or(1, |()| 7)
    }
}

bindings::export!(EchoRuntime with_types_in bindings);
