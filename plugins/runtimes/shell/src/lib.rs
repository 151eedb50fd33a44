//! Runs one shell script of a skill, like `bash FILE` on a command line.
//!
//! bashkit implements the language and its commands. This crate connects it to the folders that the host lends and the
//! real output streams, without limits of its own: the host limits time, memory and disk.

mod bindings;
mod run;
mod script;
mod conditions;
mod expansions;
mod sourced;
mod shell;
mod limits;
mod commands;
mod programs;
mod dates;
mod bc;
mod diff;
mod ls;
mod files;
mod devices;
mod failures;
mod output;
mod messages;
mod random;

pub use run::run;
pub use shell::prepare;

#[cfg(target_family = "wasm")]
mod component {
    struct Component;

    impl crate::bindings::exports::skillcell::plugin::script::Guest for Component {
        fn run(file: String) -> u8 {
            crate::run(&file)
        }
    }

    #[allow(unsafe_code, reason = "generated glue")]
    mod glue {
        use super::Component;
        crate::bindings::export!(Component with_types_in crate::bindings);
    }
}
