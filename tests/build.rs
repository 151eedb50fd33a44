//! Builds the guests that tests need.

#[path = "../host/artifacts/components/cargo.rs"]
mod cargo;
#[path = "../host/artifacts/components/guests.rs"]
mod guests;

fn main() {
    cargo::depends_on(&[
        "engine",
        "wit",
        "plugins/integrations/kit",
        "tests/components",
        "Cargo.lock",
        ".cargo/config.toml",
        "host/artifacts/components",
    ]);
    let packages =
        ["fragile-engine", "echo-runtime", "hostile-guest", "tally", "hostile-scorer", "hostile-integration"];
    let components = guests::build(&packages.map(str::to_owned));
    println!("cargo::rustc-env=COMPONENTS={}", components.display());
}
