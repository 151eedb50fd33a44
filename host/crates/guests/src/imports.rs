//! The imports that several worlds share: `wasi:cli` and `wasi:io`, which every Rust guest asks for, the types of
//! skillcell, and the log.
//!
//! What the streams lead to is decided by the WASI context in the store's state.

use ::bindings::log::{self, Level};
use ::bindings::types;
use std::sync::Arc;
use wasmtime::component::{HasData, HasSelf, Linker, ResourceTable};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::p2::bindings::{self, cli};

/// In bytes.
const MAX_LOG_LINE: usize = 2_000;

/// For guests that are called synchronously.
pub fn add_sync<S: WasiView + 'static>(linker: &mut Linker<S>) -> wasmtime::Result<()> {
    use bindings::sync::io;
    types::add_to_linker::<_, NoData>(linker, |_| NoData)?;
    add_cli(linker)?;
    io::error::add_to_linker::<_, HasSelf<ResourceTable>>(linker, |state| state.ctx().table)?;
    io::poll::add_to_linker::<_, HasSelf<ResourceTable>>(linker, |state| state.ctx().table)?;
    io::streams::add_to_linker::<_, HasSelf<ResourceTable>>(linker, |state| state.ctx().table)
}

/// For guests that wait without blocking their thread.
pub fn add_async<S: WasiView + 'static>(linker: &mut Linker<S>) -> wasmtime::Result<()> {
    use bindings::io;
    add_cli(linker)?;
    io::error::add_to_linker::<_, HasSelf<ResourceTable>>(linker, |state| state.ctx().table)?;
    io::poll::add_to_linker::<_, HasSelf<ResourceTable>>(linker, |state| state.ctx().table)?;
    io::streams::add_to_linker::<_, HasSelf<ResourceTable>>(linker, |state| state.ctx().table)
}

fn add_cli<S: WasiView + 'static>(linker: &mut Linker<S>) -> wasmtime::Result<()> {
    cli::environment::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::exit::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::stdin::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::stdout::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::stderr::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_input::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_output::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_stdin::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_stdout::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_stderr::add_to_linker::<_, WasiCli>(linker, S::cli)
}

/// Makes a line of a guest safe to log.
pub fn log_line(line: &str) -> impl std::fmt::Display {
    line[..line.floor_char_boundary(MAX_LOG_LINE)].escape_debug()
}

/// Logs a message of a guest. A macro, because the target of an event is a constant.
macro_rules! log_guest {
    ($target:literal, $level:expr, $($message:tt)+) => {
        match $level {
            ::bindings::log::Level::Debug => tracing::debug!(target: $target, $($message)+),
            ::bindings::log::Level::Info => tracing::info!(target: $target, $($message)+),
            ::bindings::log::Level::Warn => tracing::warn!(target: $target, $($message)+),
        }
    };
}
pub(crate) use log_guest;

/// The `log` import of a guest that may write only so many lines.
pub struct LimitedLog {
    pub name: Arc<str>,
    pub lines_left: u32,
    /// What the limit applies to.
    pub unit: &'static str,
    pub write: fn(Level, &str),
}

impl log::Host for LimitedLog {
    fn write(&mut self, level: Level, line: String) -> wasmtime::Result<()> {
        let Some(left) = self.lines_left.checked_sub(1) else { return Ok(()) };
        self.lines_left = left;
        let Self { name, unit, .. } = self;
        (self.write)(level, &format!("{name}: {}", log_line(&line)));
        if left == 0 {
            (self.write)(Level::Debug, &format!("{name}: further messages of this {unit} are dropped"));
        }
        Ok(())
    }
}

/// The `types` import has no functions.
struct NoData;

impl HasData for NoData {
    type Data<'state> = Self;
}

impl types::Host for NoData {}
