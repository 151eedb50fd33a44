//! Compiles the guests to components, in cargo's folder for this package.

mod cargo;
mod guests;
mod plugins;

use std::path::{Path, PathBuf};

fn main() {
    cargo::depends_on(&["engine", "plugins/runtimes", "plugins/scorers", "plugins/integrations", "wit"]);
    cargo::depends_on(&["Cargo.lock", ".cargo/config.toml", "host/artifacts/components"]);
    let out = PathBuf::from(cargo::variable("OUT_DIR"));
    let build = |packages: &[String]| {
        let components = guests::build(packages);
        for file in packages.iter().map(|package| plugins::component(package)) {
            std::fs::copy(components.join(&file), out.join(&file)).expect("cargo's folder is writable");
        }
    };
    let folders: Vec<PathBuf> = plugins::KINDS.into_iter().flat_map(plugins::folders).collect();
    let packages = |on_others: bool| -> Vec<String> {
        let wanted = folders.iter().filter(|folder| builds_on_others(folder) == on_others);
        wanted.filter_map(|folder| plugins::package(folder)).collect()
    };
    build(&[vec![plugins::ENGINE.to_owned()], packages(false)].concat());
    // Last, because cargo builds the other guest as a library for these, in the place of its component.
    for package in packages(true) {
        build(&[package]);
    }
    println!("cargo::metadata=folder={}", out.display());
}

/// Whether a scorer is built with another one as a library.
fn builds_on_others(folder: &Path) -> bool {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    manifest.lines().any(|line| line.starts_with("scorer-"))
}
