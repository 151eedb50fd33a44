//! Rebuilds this crate when an interface changes: cargo does not know that `bindgen!` reads `wit/`.

fn main() {
    println!("cargo::rerun-if-changed=../../../wit");
}
