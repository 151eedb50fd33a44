//! The settings under which guests are compiled. The build script and the server share them, because native code only
//! loads under the settings it was made with.

pub fn config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    // A guest can be stopped at any loop or call.
    config.epoch_interruption(true);
    config
}

/// For scripts and their runtimes, scorers and integrations: they consume fuel, and yield or are stopped at every tick.
pub fn script_config() -> wasmtime::Config {
    let mut config = config();
    config.consume_fuel(true);
    // Interpreters recurse where their scripts do. Unused stack takes no memory.
    config.max_wasm_stack(8 << 20);
    config.async_stack_size(10 << 20);
    config
}
