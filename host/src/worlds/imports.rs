//! What every guest that only thinks may import: the words of the border, and the standard streams that every Rust guest
//! asks for, which lead nowhere.

use crate::bindings::types;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::p2::bindings::{self, cli, sync::io};

/// Longest line of a guest's log, in bytes.
const LOG_LINE: usize = 2_000;

/// The streams lead where the store's WASI context leads them.
pub fn add_to_linker<S: WasiView + 'static>(linker: &mut Linker<S>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, Nothing>(linker, |_| Nothing)?;
    add_surroundings(linker)?;
    io::error::add_to_linker::<_, Streams>(linker, |state| state.ctx().table)?;
    io::poll::add_to_linker::<_, Streams>(linker, |state| state.ctx().table)?;
    io::streams::add_to_linker::<_, Streams>(linker, |state| state.ctx().table)?;
    Ok(())
}

/// The same for a guest that has something to wait for, and whose thread does not.
pub fn add_waiting_to_linker<S: WasiView + 'static>(linker: &mut Linker<S>) -> wasmtime::Result<()> {
    use bindings::io;
    add_surroundings(linker)?;
    io::error::add_to_linker::<_, Streams>(linker, |state| state.ctx().table)?;
    io::poll::add_to_linker::<_, Streams>(linker, |state| state.ctx().table)?;
    io::streams::add_to_linker::<_, Streams>(linker, |state| state.ctx().table)?;
    Ok(())
}

fn add_surroundings<S: WasiView + 'static>(linker: &mut Linker<S>) -> wasmtime::Result<()> {
    cli::environment::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::exit::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::stdin::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::stdout::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::stderr::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_input::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_output::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_stdin::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_stdout::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    cli::terminal_stderr::add_to_linker::<_, WasiCli>(linker, S::cli)?;
    Ok(())
}

/// A line of a guest as it can be logged.
pub fn log_line(line: &str) -> impl std::fmt::Display {
    line[..line.floor_char_boundary(LOG_LINE)].escape_debug()
}

/// The `types` import reaches nothing.
struct Nothing;

impl HasData for Nothing {
    type Data<'state> = Self;
}

impl types::Host for Nothing {}

struct Streams;

impl HasData for Streams {
    type Data<'state> = &'state mut ResourceTable;
}
