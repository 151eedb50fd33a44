//! The imports and exports of a WebAssembly file, and the world they belong to.

use base::printable::printable;
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

    /// The name of the world, and the export that identifies its components in any version.
    fn identity(self) -> (&'static str, &'static str) {
        match self {
            Self::Engine => ("engine", "skillcell:plugin/catalog"),
            Self::Scorer => ("scorer", "skillcell:plugin/scoring"),
            Self::ScriptRuntime => ("script-runtime", "skillcell:plugin/script"),
            Self::Integration => ("integration", "skillcell:plugin/query"),
        }
    }

    pub fn name(self) -> &'static str {
        self.identity().0
    }

    /// The world of a component with these exports.
    pub fn of(exports: &[String]) -> Option<Self> {
        let has = |export: &str| exports.iter().any(|name| name.split('@').next() == Some(export));
        Self::ALL.into_iter().find(|world| has(world.identity().1))
    }

    /// Whether the host offers an import to this world. Whether its types match is only known after loading.
    pub fn offers(self, import: &str) -> bool {
        let prefixes = match self {
            Self::Engine => "skillcell:plugin/library@",
            Self::Scorer => "skillcell:plugin/model@ wasi:random/insecure-seed@",
            Self::ScriptRuntime => "wasi:clocks/ wasi:filesystem/ wasi:http/ wasi:random/ wasi:sockets/",
            Self::Integration => {
                "skillcell:plugin/progress@ wasi:clocks/monotonic-clock@ wasi:http/ wasi:random/insecure-seed@"
            }
        };
        let shared = if self == Self::ScriptRuntime { "" } else { "skillcell:plugin/types@ skillcell:plugin/log@" };
        let all = ["wasi:cli/ wasi:io/", shared, prefixes];
        all.iter().flat_map(|list| list.split_whitespace()).any(|prefix| import.starts_with(prefix))
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

    /// Why the host cannot load it.
    pub fn problems(&self) -> Vec<String> {
        let Some(world) = World::of(&self.exports) else {
            let problem =
                "it exports nothing that skillcell uses\nhint: build it against a world in `wit/`, such as `scorer`";
            return vec![problem.to_owned()];
        };
        let problem = |import: &String| {
            let (import, world) = (printable(import), world.name());
            format!("it imports `{import}`, which world `{world}` does not offer\nhint: disable it in the build")
        };
        self.imports.iter().filter(|import| !world.offers(import)).map(problem).collect()
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
        let world = |text: &str| World::of(&contents(text).unwrap().exports);
        assert_eq!(world(&scorer), Some(World::Scorer));
        assert_eq!(contents(&scorer).unwrap().exports, ["skillcell:plugin/scoring@9.0.0"]);
        assert_eq!(world(&format!("{inner})")), None, "nested exports do not count");
        assert_eq!(world("(component)"), None);
    }

    #[test]
    fn imports_are_compared_with_those_of_the_world() {
        let [clock, error, library] =
            ["wasi:clocks/wall-clock@0.2.0", "wasi:io/error@0.2.6", "skillcell:plugin/library@0.1.0"];
        for (world, expected) in [
            (World::Scorer, vec![error]),
            (World::Engine, vec![error, library]),
            (World::ScriptRuntime, vec![clock, error]),
            (World::Integration, vec![error]),
        ] {
            let offered = [clock, error, library].into_iter().filter(|import| world.offers(import));
            assert_eq!(offered.collect::<Vec<_>>(), expected, "{world:?}");
        }
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
