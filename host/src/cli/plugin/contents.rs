//! What is in a file of WebAssembly, as far as its imports and exports tell.

use serde::Serialize;
use wasmparser::{Encoding, Parser, Payload};

/// A kind of component that skillcell knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum World {
    Engine,
    Scorer,
    ScriptRuntime,
    Integration,
}

impl World {
    const ALL: [Self; 4] = [Self::Engine, Self::Scorer, Self::ScriptRuntime, Self::Integration];

    pub fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Scorer => "scorer",
            Self::ScriptRuntime => "script-runtime",
            Self::Integration => "integration",
        }
    }

    /// The export that makes a component one of this world, in any version.
    fn export(self) -> &'static str {
        match self {
            Self::Engine => "skillcell:plugin/catalog",
            Self::Scorer => "skillcell:plugin/scoring",
            Self::ScriptRuntime => "skillcell:plugin/script",
            Self::Integration => "skillcell:plugin/query",
        }
    }

    /// How the names of imports begin that the host has for it. In what shape it has them, only loading shows.
    fn offers(self) -> &'static [&'static str] {
        match self {
            Self::Engine => &[
                "skillcell:plugin/types@",
                "skillcell:plugin/log@",
                "skillcell:plugin/library@",
                "wasi:cli/",
                "wasi:io/",
            ],
            Self::Scorer => &[
                "skillcell:plugin/types@",
                "skillcell:plugin/log@",
                "wasi:cli/",
                "wasi:io/",
                "wasi:random/insecure-seed@",
            ],
            Self::ScriptRuntime => &[
                "wasi:cli/",
                "wasi:clocks/",
                "wasi:filesystem/",
                "wasi:http/",
                "wasi:io/",
                "wasi:random/",
                "wasi:sockets/",
            ],
            Self::Integration => &[
                "skillcell:plugin/types@",
                "skillcell:plugin/log@",
                "skillcell:plugin/progress@",
                "wasi:cli/",
                "wasi:clocks/monotonic-clock@",
                "wasi:http/",
                "wasi:io/",
                "wasi:random/insecure-seed@",
            ],
        }
    }
}

/// Why a file is no component.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoComponent {
    #[error("it is no WebAssembly\nhint: `skillcell plugin new NAME` writes a project that builds a plugin")]
    NotWebAssembly,
    #[error("it is a core module and no component\nhint: build it for the target `wasm32-wasip2`")]
    CoreModule,
    #[error("it is no valid WebAssembly: {0}\nhint: build it again")]
    Damaged(String),
}

/// The imports and exports of a component, in the order in which they are there.
#[derive(Debug, Default)]
pub struct Contents {
    pub imports: Vec<String>,
    pub exports: Vec<String>,
}

impl Contents {
    pub fn of(bytes: &[u8]) -> Result<Self, NoComponent> {
        if !bytes.starts_with(b"\0asm") {
            return Err(NoComponent::NotWebAssembly);
        }
        let mut contents = Self::default();
        let mut depth = 0_u32;
        for part in Parser::new(0).parse_all(bytes) {
            let damaged = |error: wasmparser::BinaryReaderError| NoComponent::Damaged(error.message().to_owned());
            match part.map_err(damaged)? {
                Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => {
                    return Err(NoComponent::CoreModule);
                }
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(imports) if depth == 0 => {
                    for import in imports {
                        contents.imports.push(import.map_err(damaged)?.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(exports) if depth == 0 => {
                    for export in exports {
                        contents.exports.push(export.map_err(damaged)?.name.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(contents)
    }

    /// The world that it is made for, by what it exports.
    pub fn world(&self) -> Option<World> {
        let has = |export: &str| self.exports.iter().any(|name| name.split('@').next() == Some(export));
        World::ALL.into_iter().find(|world| has(world.export()))
    }

    /// The imports that the host does not have for this world.
    pub fn not_offered(&self, world: World) -> Vec<&str> {
        let is_offered = |name: &&str| world.offers().iter().any(|start| name.starts_with(start));
        self.imports.iter().map(String::as_str).filter(|name| !is_offered(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Result<Contents, NoComponent> {
        Contents::of(&wat::parse_str(text).unwrap())
    }

    #[test]
    fn a_component_is_known_by_what_it_exports_itself() {
        let inner = r#"(component (component (instance $i) (export "skillcell:plugin/catalog@0.1.0" (instance $i)))"#;
        let scorer = format!(r#"{inner} (instance $s) (export "skillcell:plugin/scoring@9.0.0" (instance $s)))"#);
        let found = contents(&scorer).unwrap();
        assert_eq!(
            (found.world(), found.exports),
            (Some(World::Scorer), vec!["skillcell:plugin/scoring@9.0.0".to_owned()])
        );
        assert_eq!(contents(&format!("{inner})")).unwrap().world(), None, "what is inside does not count");
        assert_eq!(contents("(component)").unwrap().world(), None);
    }

    #[test]
    fn imports_are_compared_with_what_the_world_offers() {
        let text = r#"(component (import "wasi:clocks/wall-clock@0.2.0" (instance)) (import "wasi:io/error@0.2.6" (instance))
            (import "skillcell:plugin/library@0.1.0" (instance)))"#;
        let found = contents(text).unwrap();
        assert_eq!(
            found.not_offered(World::Scorer),
            ["wasi:clocks/wall-clock@0.2.0", "skillcell:plugin/library@0.1.0"]
        );
        assert_eq!(found.not_offered(World::Engine), ["wasi:clocks/wall-clock@0.2.0"]);
        assert_eq!(found.not_offered(World::ScriptRuntime), ["skillcell:plugin/library@0.1.0"]);
    }

    #[test]
    fn other_files_are_told_apart() {
        assert_eq!(Contents::of(b"").unwrap_err(), NoComponent::NotWebAssembly);
        assert_eq!(Contents::of(b"# Text").unwrap_err(), NoComponent::NotWebAssembly);
        assert_eq!(contents("(module)").unwrap_err(), NoComponent::CoreModule);
        let whole = wat::parse_str(r#"(component (import "a" (instance)))"#).unwrap();
        for length in 8..whole.len() {
            // An end between two sections is an end like any other.
            let cut = Contents::of(&whole[..length]);
            assert!(matches!(cut, Err(NoComponent::Damaged(_)) | Ok(_)), "{length}: {cut:?}");
        }
        assert!(matches!(Contents::of(&whole[..whole.len() - 1]), Err(NoComponent::Damaged(_))));
    }
}
