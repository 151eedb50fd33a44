//! Nested runs: a guest waits while another one runs on its files, out of its time, memory, fuel and output.

mod program;

use super::{ScriptWorld, cpython};
use crate::run::{End, Run};
use base::place::Audience;
use bindings::programs::{Command, Destination, Ended, Failure};
use program::Program;
use sandbox::files::memory::Memory;
use sandbox::limits::time::{RunEnded, Stop};
use sandbox::output::Output;
use sandbox::state::{Capabilities, Nesting, ScriptState};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use wasmtime::component::Linker;
use wasmtime::{Store, StoreContextMut, Trap};

/// How many guests may wait for one.
const MAX_DEPTH: usize = 4;

/// The exit code of a shell for a process that crashed.
const ABORTED: u8 = 134;

/// Lets components start programs.
pub fn add_to_linker(linker: &mut Linker<ScriptState>, world: Weak<ScriptWorld>) -> wasmtime::Result<()> {
    linker.instance("skillcell:plugin/programs@0.1.1")?.func_wrap_async(
        "run",
        move |store: StoreContextMut<'_, ScriptState>, (command,): (Command,)| {
            let world = Weak::upgrade(&world);
            Box::new(async move { Ok((running(world)?.run_nested(store, command).await?,)) })
        },
    )
}

/// A guest is only called by its world.
pub fn running(world: Option<Arc<ScriptWorld>>) -> wasmtime::Result<Arc<ScriptWorld>> {
    world.ok_or_else(|| wasmtime::Error::msg("the server is shutting down"))
}

impl ScriptWorld {
    /// Runs a program for the guest of `store`. An error ends that guest too.
    pub(super) async fn run_nested(
        &self,
        mut store: StoreContextMut<'_, ScriptState>,
        mut command: Command,
    ) -> wasmtime::Result<Result<Ended, Failure>> {
        let fuel = store.get_fuel()?;
        let state = store.data_mut();
        if state.granted.nesting.depth == MAX_DEPTH {
            return Ok(Err(Failure::TooDeep));
        }
        let Some(program) = Program::find(&mut command, &mut state.granted) else { return Ok(Err(Failure::NotFound)) };
        let guest = self
            .bundled(program.language)
            .map_err(|error| wasmtime::Error::msg(error.for_audience(Audience::Remote)))?;
        let now = Instant::now();
        let timeout = command.timeout.and_then(|timeout| now.checked_add(Duration::from_millis(timeout)));
        let timeout = timeout.filter(|timeout| *timeout < state.stop.deadline);
        let stop = Stop { deadline: timeout.unwrap_or(state.stop.deadline), cancelled: state.stop.cancelled.clone() };
        let run = Run {
            name: "script",
            engine: guest.engine().clone(),
            executor: Arc::clone(&self.executor),
            time: stop.deadline.saturating_duration_since(now),
            fuel,
            cancelled: stop.cancelled.clone(),
            meter: |state: &mut ScriptState| &mut state.meter,
        };
        let to = [(command.stdout, state.granted.stdout.clone()), (command.stderr, state.granted.stderr.clone())];
        let (file, text_folder) = (program.file.clone(), program.text_folder());
        let nested = ScriptState::new(capabilities(&mut state.granted, program, command), state.meter.nested(), stop);
        let body = async move |store: &mut Store<ScriptState>| guest.call(store, &file).await;
        let left = |nested: &mut ScriptState| {
            let granted = &mut nested.granted;
            (nested.meter.clone(), granted.take_files(), granted.stdout.clone(), granted.stderr.clone())
        };
        let outcome = run.drive_here(nested, body, left).await;
        store.set_fuel(fuel - outcome.fuel_used)?;
        let state = store.data_mut();
        let (meter, files, stdout, stderr) = outcome.left;
        state.meter.add_nested(&meter);
        state.granted.files = files;
        state.granted.files.unmount(&text_folder);
        let exit_code = match outcome.end {
            End::Returned(code) => Some(u8::try_from(code).unwrap_or(u8::MAX)),
            End::Crashed(reason) => {
                stderr.append(format!("Script crashed: {reason}.\n").as_bytes());
                Some(ABORTED)
            }
            End::OutOfTime if timeout.is_some() => None,
            End::OutOfTime | End::Cancelled => return Err(RunEnded.into()),
            End::OutOfFuel => return Err(Trap::OutOfFuel.into()),
            End::OutOfMemory => return Err(wasmtime::Error::msg("a nested run exceeds the memory limit")),
        };
        let [stdout, stderr] =
            [(&to[0], stdout), (&to[1], stderr)].map(|((destination, own), nested)| match destination {
                Destination::Capture => own.take_nested(&nested),
                Destination::Inherit | Destination::Output => Vec::new(),
            });
        Ok(Ok(Ended { exit_code, stdout, stderr }))
    }
}

/// Lends everything that a guest has to a nested one. Its files are away until the nested guest has ended.
fn capabilities(granted: &mut Capabilities, mut program: Program, command: Command) -> Capabilities {
    let mut files = granted.take_files();
    if program.language.is_cpython() {
        cpython::mount(&mut files);
    }
    if let Some(text) = program.text.take() {
        files.mount(&program.text_folder(), Memory::frozen([(program.text_name(), text)]));
    }
    let stream = |destination, own: &Output| match destination {
        Destination::Inherit => own.clone(),
        Destination::Capture | Destination::Output => own.with_same_limit(),
    };
    let stdout = stream(command.stdout, &granted.stdout);
    let stderr = match command.stderr {
        Destination::Output => stdout.clone(),
        other => stream(other, &granted.stderr),
    };
    let mut variables = command.variables;
    variables.retain(|(name, _)| name != "PWD");
    variables.push(("PWD".to_owned(), command.folder));
    Capabilities {
        files,
        argv: program.argv,
        variables,
        stdin: command.stdin.into(),
        stdout,
        stderr,
        clock_rng: granted.clock_rng.clone(),
        denials: granted.denials.clone(),
        gate: granted.gate.clone(),
        nesting: Nesting { depth: granted.nesting.depth + 1, runtimes: Arc::clone(&granted.nesting.runtimes) },
    }
}
