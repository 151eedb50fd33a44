//! The imports and exports of a WebAssembly file, and the world they belong to.

use serde::Serialize;
use wasmparser::{Encoding, Parser, Payload};

/// A world that skillcell hosts.
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

    /// The export that identifies a component of this world, in any version.
    fn export(self) -> &'static str {
        match self {
            Self::Engine => "skillcell:plugin/catalog",
            Self::Scorer => "skillcell:plugin/scoring",
            Self::ScriptRuntime => "skillcell:plugin/script",
            Self::Integration => "skillcell:plugin/query",
        }
    }

    /// The prefixes of the imports that the host offers. Whether their types match is only known after loading.
    fn offered_prefixes(self) -> &'static [&'static str] {
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

/// Why a file is not a component.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAComponent {
    #[error("it is not WebAssembly\nhint: `skillcell plugin new NAME` creates a project that builds a plugin")]
    NotWebAssembly,
    #[error("it is a core module, not a component\nhint: build it for the target `wasm32-wasip2`")]
    CoreModule,
    #[error("it is not valid WebAssembly: {0}\nhint: build it again")]
    Damaged(String),
}

/// The imports and exports of a component, in their order.
#[derive(Debug, Default)]
pub struct Contents {
    pub imports: Vec<String>,
    pub exports: Vec<String>,
}

impl Contents {
    pub fn of(bytes: &[u8]) -> Result<Self, NotAComponent> {
        if !bytes.starts_with(b"\0asm") {
            return Err(NotAComponent::NotWebAssembly);
        }
        let mut contents = Self::default();
        let mut depth = 0_u32;
        for part in Parser::new(0).parse_all(bytes) {
            let damaged = |error: wasmparser::BinaryReaderError| NotAComponent::Damaged(error.message().to_owned());
            match part.map_err(damaged)? {
                Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => {
                    return Err(NotAComponent::CoreModule);
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

    /// The world that it implements, by its exports.
    pub fn world(&self) -> Option<World> {
        let has = |export: &str| self.exports.iter().any(|name| name.split('@').next() == Some(export));
        World::ALL.into_iter().find(|world| has(world.export()))
    }

    /// The imports that the host does not offer to this world.
    pub fn not_offered(&self, world: World) -> Vec<&str> {
        let is_offered = |name: &&str| world.offered_prefixes().iter().any(|prefix| name.starts_with(prefix));
        self.imports.iter().map(String::as_str).filter(|name| !is_offered(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Result<Contents, NotAComponent> {
        Contents::of(&wat::parse_str(text).unwrap())
    }

    #[test]
    fn the_world_depends_on_top_level_exports() {
        let inner = r#"(component (component (instance $i) (export "skillcell:plugin/catalog@0.1.0" (instance $i)))"#;
        let scorer = format!(r#"{inner} (instance $s) (export "skillcell:plugin/scoring@9.0.0" (instance $s)))"#);
        let found = contents(&scorer).unwrap();
        assert_eq!(
            (found.world(), found.exports),
            (Some(World::Scorer), vec!["skillcell:plugin/scoring@9.0.0".to_owned()])
        );
        assert_eq!(contents(&format!("{inner})")).unwrap().world(), None, "nested exports do not count");
        assert_eq!(contents("(component)").unwrap().world(), None);
    }

    #[test]
    fn imports_are_compared_with_those_of_the_world() {
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
    fn other_files_are_rejected_with_their_kind() {
        assert_eq!(Contents::of(b"").unwrap_err(), NotAComponent::NotWebAssembly);
        assert_eq!(Contents::of(b"# Text").unwrap_err(), NotAComponent::NotWebAssembly);
        assert_eq!(contents("(module)").unwrap_err(), NotAComponent::CoreModule);
        let whole = wat::parse_str(r#"(component (import "a" (instance)))"#).unwrap();
        for length in 8..whole.len() {
            // A file cut between two sections is still valid.
            let cut = Contents::of(&whole[..length]);
            assert!(matches!(cut, Err(NotAComponent::Damaged(_)) | Ok(_)), "{length}: {cut:?}");
        }
        assert!(matches!(Contents::of(&whole[..whole.len() - 1]), Err(NotAComponent::Damaged(_))));
    }
}
