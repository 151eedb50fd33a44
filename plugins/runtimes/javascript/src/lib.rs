//! Runs one JavaScript or TypeScript file of a skill, as Node and tsx would on a command line.
//!
//! The language is boa's. What scripts expect of Node lies in `node/` as JavaScript, on top of the few functions in `native`.
//! Nothing there is parsed before a script touches it, because most scripts are short and start-up is what they pay.

mod bindings;
mod run;
mod host;
mod event_loop;
mod source;
mod positions;
mod resolve;
mod modules;
mod commonjs;
mod builtins;
mod globals;
mod lazy;
mod process;
mod console;
mod native;
mod http;
mod report;

pub use run::run;

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
