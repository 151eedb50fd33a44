//! Compiles the guests to WebAssembly and from there to native code, and packs the bundled skills.

mod guests;
#[path = "src/compiler.rs"]
mod compiler;

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// The packages of guests whose steps are counted.
const PLUGINS: [&str; 7] = [
    "runtime-javascript",
    "runtime-shell",
    "scorer-bm25",
    "integration-github",
    "integration-circleci",
    "integration-linear",
    "integration-gateway",
];
const HYBRID: &str = "scorer-hybrid";

fn main() {
    guests::depends_on(&["engine", "plugins/runtimes", "plugins/scorers", "plugins/integrations", "wit"]);
    guests::depends_on(&["fixtures/skills", "Cargo.lock", ".cargo/config.toml"]);
    println!("cargo::rerun-if-changed=guests.rs");
    let out = PathBuf::from(guests::variable("OUT_DIR"));
    let components = guests::build(&[&["skillcell-engine"][..], &PLUGINS].concat());
    let precompile_plugin = |package: &str| {
        let plugin = package.replace('-', "_");
        let component = components.join(format!("{plugin}.wasm"));
        precompile(compiler::script_config(), &component, &out.join(format!("{plugin}.cwasm")));
    };
    precompile(compiler::config(), &components.join("skillcell_engine.wasm"), &out.join("engine.cwasm"));
    for package in PLUGINS {
        precompile_plugin(package);
    }
    // Last, because it builds on another scorer without what makes that one a component, and cargo puts that where the
    // component was.
    guests::build(&[HYBRID]);
    precompile_plugin(HYBRID);
    std::fs::write(out.join("bundled.rs"), bundled(&guests::workspace().join("fixtures/skills")))
        .expect("cargo's folder is writable");
}

/// Native code for the baseline CPU of the target, so that the binary runs on every machine it is copied to.
fn precompile(mut config: wasmtime::Config, component: &Path, native: &Path) {
    config.target(&guests::variable("TARGET")).expect("Cranelift knows the target");
    let engine = wasmtime::Engine::new(&config).expect("the settings fit the target");
    let bytes = std::fs::read(component).expect("the nested build made the component");
    // A change of one guest need not cost the minute that all of them take.
    let mut made_from = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut made_from);
    bytes.hash(&mut made_from);
    let (made_from, note) = (made_from.finish().to_string(), native.with_extension("made-from"));
    if native.exists() && std::fs::read_to_string(&note).is_ok_and(|before| before == made_from) {
        return;
    }
    let code = engine.precompile_component(&bytes).expect("a valid component");
    std::fs::write(native, code).expect("cargo's folder is writable");
    std::fs::write(note, made_from).expect("cargo's folder is writable");
}

/// Rust source for a list of all files below a folder, sorted, with their bytes.
fn bundled(folder: &Path) -> String {
    let mut files = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next).expect("the bundled skills are in the repository") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() { waiting.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut source = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(folder).expect("found below it").to_string_lossy().replace('\\', "/");
        writeln!(source, "({name:?}, include_bytes!({:?})),", file.display().to_string()).expect("a string grows");
    }
    source + "]\n"
}
