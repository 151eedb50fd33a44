//! Builds the guests that tests need.

#[path = "../host/artifacts/components/guests.rs"]
mod guests;

fn main() {
    guests::depends_on(&[
        "engine",
        "wit",
        "plugins/integrations/kit",
        "tests/components",
        "Cargo.lock",
        ".cargo/config.toml",
        "host/artifacts/components/guests.rs",
    ]);
    let components = guests::build(&[
        "fragile-engine",
        "echo-runtime",
        "hostile-guest",
        "tally",
        "hostile-scorer",
        "hostile-integration",
    ]);
    println!("cargo::rustc-env=COMPONENTS={}", components.display());
}
