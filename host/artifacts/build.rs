//! Compiles the guests from WebAssembly to native code, compresses the runtimes, and packs the bundled skills.

#[path = "src/compiler.rs"]
mod compiler;
#[path = "components/guests.rs"]
mod guests;
#[path = "components/manifest.rs"]
mod manifest;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

fn main() {
    guests::depends_on(&["fixtures/skills"]);
    let out = PathBuf::from(guests::variable("OUT_DIR"));
    let components = PathBuf::from(guests::variable("DEP_SKILLCELL_COMPONENTS_FOLDER"));
    println!("cargo::rerun-if-changed={}", components.display());
    println!("cargo::rerun-if-changed=components/manifest.rs");
    let plugins = guests::workspace().join("plugins");
    let [runtimes, scorers, integrations] = manifest::KINDS.map(|kind| manifest::read(&plugins.join(kind)));
    let engine = components.join(manifest::component(manifest::ENGINE));
    precompile(compiler::config(), &engine, &out.join("engine.cwasm"));
    for plugin in runtimes.iter().chain(&scorers).chain(&integrations) {
        if let Some(package) = &plugin.package {
            let component = components.join(manifest::component(package));
            precompile(compiler::script_config(), &component, &out.join(plugin.native()));
        }
    }
    for runtime in &runtimes {
        let name = runtime.native();
        match runtime.package {
            Some(_) => compress(&std::fs::read(out.join(&name)).expect("it was just written"), &out.join(&name)),
            None => compress(bashkit_cpython_wasm::cwasm_bytes(), &out.join(&name)),
        }
    }
    let write = |name: &str, text: String| std::fs::write(out.join(name), text).expect("cargo's folder is writable");
    write("tables.rs", manifest::tables(&runtimes, &scorers, &integrations));
    write("bundled.rs", bundled(&guests::workspace().join("fixtures/skills")));
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

/// Runtimes make up most of the binary, and a process that runs a script decompresses one in some 30 ms.
fn compress(code: &[u8], native: &Path) {
    let compressed = zstd::bulk::compress(code, 12).expect("memory for the runtime");
    std::fs::write(native.with_extension("cwasm.zst"), compressed).expect("cargo's folder is writable");
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
    let entry = |file: &PathBuf| {
        let name = file.strip_prefix(folder).expect("found below it").to_string_lossy().replace('\\', "/");
        format!("({name:?}, include_bytes!({:?})),", file.display().to_string())
    };
    format!("&[{}]", files.iter().map(entry).collect::<String>())
}
