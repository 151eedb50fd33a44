//! Everything that one guest can reach. A field here is the complete answer to what an import can touch.

use crate::sandbox::denials::Denials;
use crate::sandbox::files::Files;
use crate::sandbox::gate::Gate;
use crate::sandbox::meter::Meter;
use crate::sandbox::nature::Nature;
use crate::sandbox::output::Output;
use crate::sandbox::p1::Descriptors;
use crate::sandbox::p2::FilesView;
use crate::sandbox::stop::Stop;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// Most things of the host that a component holds at once: files, listings, streams, requests.
const MOST_HANDLES: usize = 4_096;

/// Largest set of headers, in bytes. They are kept by the host.
const MOST_HEADER_BYTES: usize = 16 << 10;

/// The state of a store that runs one script.
pub struct ScriptState {
    pub files: Files,
    pub descriptors: Descriptors,
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub stdout: Output,
    pub stderr: Output,
    pub nature: Nature,
    pub denials: Denials,
    pub meter: Meter,
    pub stop: Stop,
    handles: ResourceTable,
    listed: usize,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    gate: Gate,
}

/// What a guest is lent, before it becomes the state of a store.
pub struct Lent {
    pub files: Files,
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub stdout: Output,
    pub stderr: Output,
    pub nature: Nature,
    pub denials: Denials,
    pub gate: Gate,
}

impl ScriptState {
    pub fn new(lent: Lent, meter: Meter, stop: Stop) -> Self {
        let Lent { files, arguments, variables, stdout, stderr, nature, denials, gate } = lent;
        let mut wasi = WasiCtxBuilder::new();
        wasi.args(&arguments).envs(&variables);
        // Never our own streams: one stray line there would corrupt the protocol.
        wasi.stdout(stdout.clone()).stderr(stderr.clone());
        nature.give_to(&mut wasi);
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(MOST_HEADER_BYTES);
        let mut handles = ResourceTable::new();
        handles.set_max_capacity(MOST_HANDLES);
        Self {
            files,
            descriptors: Descriptors::default(),
            arguments,
            variables,
            stdout,
            stderr,
            nature,
            denials,
            meter,
            stop,
            handles,
            listed: 0,
            wasi: wasi.build(),
            http,
            gate,
        }
    }

    pub fn files(&mut self) -> FilesView<'_> {
        FilesView { files: &mut self.files, handles: &mut self.handles, listed: &mut self.listed }
    }
}

impl WasiView for ScriptState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.handles }
    }
}

impl WasiHttpView for ScriptState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.gate, table: &mut self.handles, ctx: &mut self.http }
    }
}
