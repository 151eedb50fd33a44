//! Runs one JavaScript or TypeScript file of a skill, like Node and tsx on a command line.
//!
//! boa implements the language. Node's APIs are implemented in JavaScript in `node/`, on top of the functions in
//! `native`. Nothing there is parsed before a script uses it, because most scripts are short and start-up time
//! dominates.

mod bindings;
mod run;
mod host;
mod event_loop;
mod source;
mod positions;
mod packages;
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
