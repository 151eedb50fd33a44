//! Runs one shell script of a skill, as `bash FILE` would on a command line.
//!
//! The language and its commands are bashkit's. This crate gives it the folders the host lent, the real output streams and
//! no limits of its own: time, memory and disk are the host's to limit.

mod bindings;
mod run;
mod script;
mod expansions;
mod sourced;
mod shell;
mod limits;
mod commands;
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
