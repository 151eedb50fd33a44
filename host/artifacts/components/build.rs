//! Compiles the guests to components, in cargo's folder for this package.

mod guests;
mod manifest;

use std::path::PathBuf;

fn main() {
    guests::depends_on(&["engine", "plugins/runtimes", "plugins/scorers", "plugins/integrations", "wit"]);
    guests::depends_on(&["Cargo.lock", ".cargo/config.toml"]);
    println!("cargo::rerun-if-changed=guests.rs");
    println!("cargo::rerun-if-changed=manifest.rs");
    let out = PathBuf::from(guests::variable("OUT_DIR"));
    let plugins = guests::workspace().join("plugins");
    let all: Vec<_> = manifest::KINDS.iter().flat_map(|kind| manifest::read(&plugins.join(kind))).collect();
    let build = |packages: &[&str]| {
        let components = guests::build(packages);
        for file in packages.iter().map(|package| manifest::component(package)) {
            std::fs::copy(components.join(&file), out.join(&file)).expect("cargo's folder is writable");
        }
    };
    let on_others = |wanted: bool| {
        let some = all.iter().filter(move |manifest| manifest.builds_on_others == wanted);
        some.filter_map(|manifest| manifest.package.as_deref())
    };
    build(&[manifest::ENGINE].into_iter().chain(on_others(false)).collect::<Vec<_>>());
    // Last, because cargo builds the other guest as a library for these, in the place of its component.
    for package in on_others(true) {
        build(&[package]);
    }
    println!("cargo::metadata=folder={}", out.display());
}
