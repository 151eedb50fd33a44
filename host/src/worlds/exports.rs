//! What a component is, by what it exports.

use wasmtime::Engine;
use wasmtime::component::Component;

/// How far a component has the export that makes it a guest of some world.
pub enum Exports {
    Wanted,
    /// The same interface in a version that does not fit; its whole name.
    OtherVersion(String),
    /// None of it. What there is instead, for people.
    Others(String),
}

impl Exports {
    /// `wanted` is the whole name of an interface, with its version.
    pub fn of(component: &Component, engine: &Engine, wanted: &str) -> Self {
        let described = component.component_type();
        let mut exports: Vec<String> = described.exports(engine).map(|(name, _)| name.to_owned()).collect();
        if exports.iter().any(|name| name == wanted) {
            return Self::Wanted;
        }
        let bare = |name: &str| name.split('@').next().unwrap_or(name).to_owned();
        match exports.iter().position(|name| bare(name) == bare(wanted)) {
            Some(place) => Self::OtherVersion(exports.swap_remove(place)),
            None if exports.is_empty() => Self::Others("nothing".to_owned()),
            None => Self::Others(format!("`{}`", exports.join("`, `"))),
        }
    }
}
