//! Calls of a module to WASI 0.1, with any numbers and any memory.
//!
//! The input is a list of calls: one byte for the function, then one or more for each parameter ([`Numbers`]). The guest's memory
//! has some paths and buffers at its start, and the input itself after them.

use crate::scratch::{self, SCRATCH_BYTES};
use bytes::Bytes;
use sandbox::clock_rng::ClockRng;
use sandbox::denials::Denials;
use sandbox::files::Files;
use sandbox::files::memory::{Memory as Volume, Quota};
use sandbox::gate::Gate;
use sandbox::limits::memory::Meter;
use sandbox::limits::time::Stop;
use sandbox::output::Output;
use sandbox::p1;
use sandbox::state::{Capabilities, Nesting, ScriptState};
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use wasmtime::{Config, Engine, Func, InstancePre, Linker, Memory, Module, Store, Val, ValType};

const MAX_CALLS: usize = 64;

/// What is kept of each output stream.
const OUTPUT_BYTES: usize = 500;

/// Slots of 16 bytes at the start of the memory: paths, each followed by zeros.
const PATHS: [&str; 12] = [
    "tmp",
    "tmp/a",
    "tmp/b",
    "tmp/f",
    "tmp/f/a",
    "skill/run.py",
    "skill",
    ".",
    "..",
    "tmp/../tmp/a",
    "/etc/passwd",
    "tmp/a/",
];

/// Lists of buffers after them: pairs of address and length.
const BUFFERS: [(u32, u32); 8] = [
    (0x400, 8),
    (0x410, 100),
    (0x500, 600),
    (0x400, 0),
    (0xfff8, 16),
    (0xffff_fff0, 32),
    (0x400, 0xffff_ffff),
    (0x600, 1),
];

const BUFFERS_AT: usize = 0x100;
const INPUT_AT: usize = 0x800;
const PAGE: usize = 0x1_0000;

/// The last error of WASI 0.1.
const MAX_ERRNO: i32 = 76;

struct Guest {
    pre: InstancePre<ScriptState>,
    engine: Engine,
    /// The functions, with the types of their parameters.
    functions: Vec<(String, Vec<ValType>)>,
    gate: Gate,
    runtime: tokio::runtime::Runtime,
}

thread_local! {
    static GUEST: Guest = Guest::new();
}

pub fn wasi(bytes: &[u8]) {
    GUEST.with(|guest| {
        let quota = scratch::quota();
        let mut store = Store::new(&guest.engine, guest.state(&quota));
        let _context = guest.runtime.enter();
        guest.run(&mut store, bytes);
        let state = store.data();
        scratch::check_size(&state.granted.files);
        let (stdout, stderr) = (state.granted.stdout.take(), state.granted.stderr.take());
        // Bytes that are not UTF-8 become characters of three.
        assert!(stdout.text.len() <= OUTPUT_BYTES * 3 && stderr.text.len() <= OUTPUT_BYTES * 3);
        drop(store);
        scratch::check_returned(quota);
    });
}

impl Guest {
    /// Makes a module that has a function for every import, with the same parameters, which calls it.
    fn new() -> Self {
        let mut config = Config::new();
        config.memory_reservation(0).memory_guard_size(0).signals_based_traps(false);
        let engine = Engine::new(&config).expect("these settings fit together");
        let mut linker = Linker::new(&engine);
        p1::add_to_linker(&mut linker).expect("no function twice");
        let gate = Gate::new(&[], Denials::default());
        let mut store = Store::new(&engine, state(&scratch::quota(), gate.clone()));
        let imports: Vec<(String, Func)> =
            linker.iter(&mut store).filter_map(|(_, name, item)| Some((name.to_owned(), item.into_func()?))).collect();
        let mut functions: Vec<(String, Vec<ValType>, bool)> = Vec::new();
        for (name, function) in imports {
            let kind = function.ty(&store);
            functions.push((name, kind.params().collect(), kind.results().len() > 0));
        }
        functions.sort_by(|one, other| one.0.cmp(&other.0));
        let mut text = String::from("(module\n");
        for (name, parameters, has_result) in &functions {
            let parameters: String = parameters.iter().map(|kind| format!(" {kind}")).collect();
            let result = if *has_result { "(result i32)" } else { "" };
            text += &format!(
                "(import \"wasi_snapshot_preview1\" \"{name}\" (func ${name} (param{parameters}) {result}))\n"
            );
        }
        text += "(memory (export \"memory\") 1)\n";
        for (name, parameters, has_result) in &functions {
            let gets: String = (0..parameters.len()).map(|number| format!("local.get {number} ")).collect();
            let parameters: String = parameters.iter().map(|kind| format!(" {kind}")).collect();
            let result = if *has_result { "(result i32)" } else { "" };
            text += &format!("(func (export \"{name}\") (param{parameters}) {result} {gets} call ${name})\n");
        }
        text += ")";
        let module = Module::new(&engine, wat::parse_str(&text).expect("a valid module")).expect("a valid module");
        let pre = linker.instantiate_pre(&module).expect("every import exists");
        let functions = functions.into_iter().map(|(name, parameters, _)| (name, parameters)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        Self { pre, engine, functions, gate, runtime }
    }

    fn state(&self, quota: &Arc<Quota>) -> ScriptState {
        state(quota, self.gate.clone())
    }

    fn run(&self, store: &mut Store<ScriptState>, bytes: &[u8]) {
        let instance =
            finished(self.pre.instantiate_async(&mut *store)).expect("it waits for nothing").expect("a small module");
        let memory = instance.get_memory(&mut *store, "memory").expect("an exported memory");
        fill(memory, store, bytes);
        let mut numbers = Numbers(bytes);
        for _ in 0..MAX_CALLS {
            let Some(chosen) = numbers.byte() else { break };
            let (name, parameters) = &self.functions[usize::from(chosen) % self.functions.len()];
            let parameters: Vec<Val> = parameters.iter().map(|kind| numbers.value(kind)).collect();
            let function = instance.get_func(&mut *store, name).expect("an exported function");
            let mut results = vec![Val::I32(0); usize::from(name != "proc_exit")];
            match finished(function.call_async(&mut *store, &parameters, &mut results)) {
                // It waits for a time that the guest chose.
                None => break,
                Some(Err(error)) => {
                    assert_eq!(name, "proc_exit", "{error:?}");
                    break;
                }
                Some(Ok(())) => {}
            }
            let errno = results[0].unwrap_i32();
            assert!((0..=MAX_ERRNO).contains(&errno), "{name} returns {errno}");
            assert_eq!(memory.data_size(&*store), PAGE, "{name} grows the memory");
        }
    }
}

fn state(quota: &Arc<Quota>, gate: Gate) -> ScriptState {
    let denials = Denials::default();
    let mut files = Files::new(denials.clone());
    files.mount("skill", Volume::frozen([("run.py".to_owned(), Bytes::from_static(b"print('hello')"))]));
    files.mount("tmp", Volume::scratch(Arc::clone(quota)));
    let granted = Capabilities {
        files,
        argv: vec!["run.py".to_owned(), "--flag".to_owned()],
        variables: vec![("NAME".to_owned(), "value".to_owned())],
        stdin: Bytes::from_static(b"a line of standard input\n"),
        stdout: Output::new(OUTPUT_BYTES),
        stderr: Output::new(OUTPUT_BYTES),
        clock_rng: ClockRng::new(true),
        denials,
        gate,
        nesting: Nesting::default(),
    };
    let stop = Stop { deadline: Instant::now() + Duration::from_hours(1), cancelled: CancellationToken::new() };
    ScriptState::new(granted, Meter::new(1 << 20), stop)
}

fn fill(memory: Memory, store: &mut Store<ScriptState>, bytes: &[u8]) {
    let data = memory.data_mut(store);
    for (slot, path) in PATHS.iter().enumerate() {
        data[slot * 16..][..path.len()].copy_from_slice(path.as_bytes());
    }
    for (slot, (address, length)) in BUFFERS.iter().enumerate() {
        let pair = [address.to_le_bytes(), length.to_le_bytes()];
        data[BUFFERS_AT + slot * 8..][..8].copy_from_slice(pair.as_flattened());
    }
    let bytes = &bytes[..bytes.len().min(PAGE - INPUT_AT)];
    data[INPUT_AT..][..bytes.len()].copy_from_slice(bytes);
}

/// Numbers that a guest passes: small ones, addresses of the slots, limits, or anything.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> u64 {
        match self.byte().unwrap_or_default() {
            small @ 0..=0x3f => u64::from(small),
            slot @ 0x40..=0x7f => u64::from(slot - 0x40) * 16,
            high @ 0x80..=0xbf => u64::from(high - 0x80) * 0x100,
            0xc0 => u64::MAX,
            0xc1 => u64::from(u32::MAX),
            0xc2 => i64::MAX.cast_unsigned(),
            0xc3 => PAGE as u64,
            0xc4 => PAGE as u64 - 1,
            0xc5 => PAGE as u64 - 8,
            0xc6 => SCRATCH_BYTES,
            0xc7 => SCRATCH_BYTES + 1,
            0xc8..=0xdf => 1 << 31,
            _ => (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte().unwrap_or_default())),
        }
    }

    fn value(&mut self, kind: &ValType) -> Val {
        let number = self.number();
        match kind {
            ValType::I64 => Val::I64(number.cast_signed()),
            _ => {
                let [a, b, c, d, ..] = number.to_le_bytes();
                Val::I32(i32::from_le_bytes([a, b, c, d]))
            }
        }
    }
}

/// Polls a future a few times. `None` if it waits for something.
fn finished<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..3).find_map(|_| match future.as_mut().poll(&mut context) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    })
}
