//! Everything that one script can reach: the fields here are the complete list. Integrations have `IntegrationState` in `guests`.

use crate::clock_rng::ClockRng;
use crate::denials::Denials;
use crate::files::Files;
use crate::gate::Gate;
use crate::limits::memory::Meter;
use crate::limits::time::Stop;
use crate::output::Output;
use crate::p1::Descriptors;
use crate::p2::FilesView;
use bytes::Bytes;
use std::sync::Arc;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::p2::pipe::MemoryInputPipe;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// Of files, listings, streams and requests that a component holds at once.
const MAX_HANDLES: usize = 4_096;

/// Of one set of headers, which the host stores.
const MAX_HEADER_BYTES: usize = 16 << 10;

/// A folder that a guest has open from its start: the name that the guest knows it by, and its path.
pub(crate) type Preopened = (&'static str, &'static str);

/// Interpreters reach everything from the top.
const TOP: &[Preopened] = &[("/", "")];

/// Programs look for relative paths in the folder they start in. They are compiled with wasi-libc, which strips `/` and `.` from these names,
/// takes the longest that a path starts with, and of equal ones the last.
const OF_PROGRAMS: &[Preopened] = &[("/", ""), ("/skill", "skill"), ("/tmp", "tmp"), ("/work", "work"), (".", "work")];

/// The state of a store that runs one script.
pub struct ScriptState {
    pub granted: Capabilities,
    pub meter: Meter,
    pub stop: Stop,
    pub(crate) descriptors: Descriptors,
    preopened: &'static [Preopened],
    /// What the host has for a guest that takes it in a second call.
    pub reply: Vec<u8>,
    handles: ResourceTable,
    listed_entries: usize,
    wasi: WasiCtx,
    http: WasiHttpCtx,
}

/// What a guest is granted.
pub struct Capabilities {
    pub files: Files,
    /// The program, the script and what the caller gave it.
    pub argv: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub stdin: Bytes,
    pub stdout: Output,
    pub stderr: Output,
    pub clock_rng: ClockRng,
    pub denials: Denials,
    pub gate: Gate,
    pub nesting: Nesting,
}

impl Capabilities {
    /// For a guest of the host's own, which has these files and nothing else. It sees the same time and the same random numbers in every run.
    pub fn of_files(files: Files, argv: Vec<String>, max_output_bytes: usize, denials: Denials) -> Self {
        Self {
            files,
            argv,
            variables: Vec::new(),
            stdin: Bytes::new(),
            stdout: Output::new(max_output_bytes),
            stderr: Output::new(max_output_bytes),
            clock_rng: ClockRng::new(true),
            gate: Gate::new(&[], denials.clone()),
            denials,
            nesting: Nesting::default(),
        }
    }

    /// Takes the files away from the guest.
    pub fn take_files(&mut self) -> Files {
        std::mem::replace(&mut self.files, Files::new(self.denials.clone()))
    }
}

/// Which other guests a guest may start.
#[derive(Debug, Clone, Default)]
pub struct Nesting {
    /// How many guests wait for this one.
    pub depth: usize,
    /// By name.
    pub runtimes: Arc<[&'static str]>,
}

impl ScriptState {
    pub fn new(granted: Capabilities, meter: Meter, stop: Stop) -> Self {
        let (stdout, stderr) = (&granted.stdout, &granted.stderr);
        let mut wasi = WasiCtxBuilder::new();
        wasi.args(&granted.argv).envs(&granted.variables);
        // Never the server's own streams: one stray line there would corrupt the protocol.
        wasi.stdin(MemoryInputPipe::new(granted.stdin.clone())).stdout(stdout.clone()).stderr(stderr.clone());
        granted.clock_rng.configure(&mut wasi);
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(MAX_HEADER_BYTES);
        let mut handles = ResourceTable::new();
        handles.set_max_capacity(MAX_HANDLES);
        let descriptors = Descriptors::new(granted.stdin.clone(), stdout.clone(), stderr.clone(), TOP);
        Self {
            granted,
            meter,
            stop,
            descriptors,
            preopened: TOP,
            reply: Vec::new(),
            handles,
            listed_entries: 0,
            wasi: wasi.build(),
            http,
        }
    }

    /// For a script that is a program: relative paths lead into `/work`.
    #[must_use]
    pub fn starting_in_work(mut self) -> Self {
        let Capabilities { stdin, stdout, stderr, .. } = &self.granted;
        self.descriptors = Descriptors::new(stdin.clone(), stdout.clone(), stderr.clone(), OF_PROGRAMS);
        self.preopened = OF_PROGRAMS;
        self
    }

    pub fn files(&mut self) -> FilesView<'_> {
        let Self { granted, handles, listed_entries, stop, preopened, .. } = self;
        FilesView { files: &mut granted.files, handles, listed_entries, stop, preopened }
    }
}

impl WasiView for ScriptState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.handles }
    }
}

impl WasiHttpView for ScriptState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.granted.gate, table: &mut self.handles, ctx: &mut self.http }
    }
}
