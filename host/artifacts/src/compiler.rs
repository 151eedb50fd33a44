//! The settings under which guests are compiled. The build script and the server share them, because native code only
//! loads under the settings it was made with.

pub fn config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    // A guest can be stopped at any loop or call.
    config.epoch_interruption(true);
    config
}

/// For scripts and the runtimes that interpret them: their work is counted in steps, and every few steps they come up for
/// air.
pub fn script_config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    config.consume_fuel(true);
    config
}
