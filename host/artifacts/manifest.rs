//! The manifests of the bundled guests, `plugins/*/*/plugin.yaml`, and the table that is generated from them.

use crate::plugins;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Deserialize)]
pub struct Manifest {
    pub name: String,
    /// Position in lists.
    order: u32,
    #[serde(default)]
    extensions: Vec<String>,
    #[serde(default)]
    aliases: Vec<String>,
    service: Option<Service>,
    /// The cargo package, except for CPython, which comes compiled in a crate of its own.
    #[serde(skip)]
    pub package: Option<String>,
}

#[derive(Deserialize)]
struct Service {
    address: Option<String>,
    posts: String,
    token_variable: String,
    token_header: String,
    token_required: bool,
    probe: Probe,
}

#[derive(Deserialize)]
struct Probe {
    path: String,
    body: Option<String>,
    account: Option<String>,
}

/// The guests of one kind, in the order in which they are listed.
pub fn read(kind: &str) -> Vec<Manifest> {
    let read = |folder: PathBuf| {
        let place = folder.display();
        let text =
            std::fs::read_to_string(folder.join("plugin.yaml")).unwrap_or_else(|error| panic!("{place}: {error}"));
        let manifest: Manifest = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{place}: {error}"));
        Manifest { package: plugins::package(&folder), ..manifest }
    };
    let mut found: Vec<Manifest> = plugins::folders(kind).into_iter().map(read).collect();
    found.sort_by_key(|manifest| manifest.order);
    found
}

impl Manifest {
    /// The file of its native code, below the build folder.
    pub fn native(&self) -> String {
        format!("{}.cwasm", self.package.as_ref().unwrap_or(&self.name).replace('-', "_"))
    }
}

/// Rust source for the tables of all bundled guests.
pub fn tables(runtimes: &[Manifest], scorers: &[Manifest], integrations: &[Manifest]) -> String {
    let bytes = |file: String| format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))");
    let compiled = |manifest: &Manifest| bytes(manifest.native());
    let runtime = |manifest: &Manifest| {
        let Manifest { name, extensions, aliases, package, .. } = manifest;
        let (compressed, is_cpython) = (bytes(format!("{}.zst", manifest.native())), package.is_none());
        format!(
            "Runtime {{ name: {name:?}, extensions: &{extensions:?}, aliases: &{aliases:?}, is_cpython: {is_cpython}, \
             compressed: {compressed} }},"
        )
    };
    let scorer = |manifest: &Manifest| format!("Scorer {{ name: {:?}, code: {} }},", manifest.name, compiled(manifest));
    let integration = |manifest: &Manifest| {
        let service = manifest.service.as_ref().unwrap_or_else(|| panic!("{} has a service", manifest.name));
        let Service { address, posts, token_variable, token_header, token_required, probe } = service;
        let Probe { path, body, account } = probe;
        format!(
            "Integration {{ name: {:?}, code: {}, address: {address:?}, posts: {posts:?}, token_variable: {token_variable:?}, \
             token_header: {token_header:?}, token_required: {token_required}, probe_path: {path:?}, probe_body: {body:?}, \
             probe_account: {account:?} }},",
            manifest.name,
            compiled(manifest)
        )
    };
    format!(
        "pub static RUNTIMES: &[Runtime] = &[{}];\npub static SCORERS: &[Scorer] = &[{}];\n\
         pub static INTEGRATIONS: &[Integration] = &[{}];\n",
        runtimes.iter().map(runtime).collect::<String>(),
        scorers.iter().map(scorer).collect::<String>(),
        integrations.iter().map(integration).collect::<String>()
    )
}
