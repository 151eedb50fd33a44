//! Compiles the guests from WebAssembly to native code, compresses the runtimes, and packs the bundled skills.

#[path = "components/cargo.rs"]
mod cargo;
#[path = "src/compiler.rs"]
mod compiler;
mod manifest;
#[path = "components/plugins.rs"]
mod plugins;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

fn main() {
    cargo::depends_on(&["fixtures/skills"]);
    let out = PathBuf::from(cargo::variable("OUT_DIR"));
    let components = PathBuf::from(cargo::variable("DEP_SKILLCELL_COMPONENTS_FOLDER"));
    println!("cargo::rerun-if-changed={}", components.display());
    println!("cargo::rerun-if-changed=manifest.rs");
    let [runtimes, scorers, integrations] = plugins::KINDS.map(manifest::read);
    let engine = components.join(plugins::component(plugins::ENGINE));
    precompile(compiler::config(), &engine, &out.join("engine.cwasm"));
    for plugin in runtimes.iter().chain(&scorers).chain(&integrations) {
        if let Some(package) = &plugin.package {
            let component = components.join(plugins::component(package));
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
    write("bundled.rs", bundled(&cargo::workspace().join("fixtures/skills")));
}

/// Native code for the baseline CPU of the target, so that the binary runs on every machine it is copied to.
fn precompile(mut config: wasmtime::Config, component: &Path, native: &Path) {
    config.target(&cargo::variable("TARGET")).expect("Cranelift knows the target");
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
