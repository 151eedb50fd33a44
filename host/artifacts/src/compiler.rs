//! The settings under which guests are compiled. The build script and the server share them, because native code only
//! loads under the settings it was made with.

pub fn config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    // A guest can be stopped at any loop or call.
    config.epoch_interruption(true);
    config
}

/// For scripts and the runtimes that interpret them: their work is counted in steps, and they come up for air at every tick,
/// wherever they spent the time.
pub fn script_config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    config.consume_fuel(true);
    config.epoch_interruption(true);
    // Interpreters recurse where their scripts do. What is not used is not taken from the machine.
    config.max_wasm_stack(8 << 20);
    config.async_stack_size(10 << 20);
    config
}
