//! What a client sees of this server: which tools, under which names, and where the catalog is written. A profile is a row
//! of data; nothing else in the server asks which profile it is.

use crate::bindings::catalog::Duplicates;
use crate::bindings::types::SkillModel;
use crate::mcp::tools::ToolName;

/// Most characters of a text with the catalog in it, unless told otherwise. Clients cut at 2,048.
pub const MOST_CHARACTERS: usize = 1_900;

/// The servers that this one can stand in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// Everything
    #[default]
    Unified,
    /// `skills.list` and `skills.search`
    Sk,
    /// One `skill` tool that lists all skills
    Ccski,
    /// `skill` and `skill-resource`, prompts and resources
    Skilljack,
    /// `read_skill` and `query`
    Sx,
    /// `get_skill` and what belongs to it
    SkillsMcp,
}

/// What a client sees.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table: each is a column, and all are independent")]
pub struct Surface {
    pub server_name: &'static str,
    /// In the order in which they are listed, which never changes, because clients cache the list with their prompt.
    pub tools: Vec<ToolName>,
    /// Two tools have a dot in their name.
    pub dotted_names: bool,
    /// First words of the description of `skill`.
    pub skill_words: &'static str,
    /// The answer of `skill` begins with the name and the folder.
    pub skill_header: bool,
    /// What the server says about itself in place of our own words.
    pub instructions: Option<&'static str>,
    pub catalog: CatalogPlace,
    pub format: CatalogFormat,
    /// Longest text with the catalog in it; everything when there is none.
    pub most_characters: Option<usize>,
    pub duplicates: Duplicates,
    /// Lists and searches are about skills of this model only.
    pub only_model: Option<SkillModel>,
    /// Resources are listed as `skill://{name}` and `skill://{name}/`.
    pub short_uris: bool,
    pub announces: Announces,
    /// User, project and plugin folders are roots without being asked for.
    pub all_roots: bool,
}

/// Where the catalog is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CatalogPlace {
    Description,
    Instructions,
    Both,
    None,
}

impl CatalogPlace {
    pub fn in_description(self) -> bool {
        matches!(self, Self::Description | Self::Both)
    }

    pub fn in_instructions(self) -> bool {
        matches!(self, Self::Instructions | Self::Both)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CatalogFormat {
    List,
    Xml,
}

/// When a client is told that a list changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announces {
    /// When the answer to that list is another one.
    OtherAnswers,
    /// Also when any `SKILL.md` has other bytes.
    SkillFiles,
    /// At every change, with a reason.
    EveryChange,
}

/// What the operator says in place of what the profile says.
#[derive(Debug, Default)]
pub struct Overrides {
    pub tools: Option<Vec<ToolName>>,
    pub catalog: Option<CatalogPlace>,
    pub format: Option<CatalogFormat>,
    pub most_characters: Option<usize>,
    pub duplicates: Option<Duplicates>,
}

impl Profile {
    pub fn surface(self, overrides: Overrides) -> Surface {
        let mut surface = self.row();
        if let Some(tools) = overrides.tools {
            surface.tools = ToolName::ALL.into_iter().filter(|tool| tools.contains(tool)).collect();
        }
        surface.catalog = overrides.catalog.unwrap_or(surface.catalog);
        surface.format = overrides.format.unwrap_or(surface.format);
        surface.most_characters = overrides.most_characters.or(surface.most_characters);
        surface.duplicates = overrides.duplicates.unwrap_or(surface.duplicates);
        surface
    }

    fn row(self) -> Surface {
        use ToolName as Tool;
        let unified = Surface {
            server_name: "skillcell",
            tools: Tool::ALL.to_vec(),
            dotted_names: false,
            skill_words: "Load a skill by name to get specialized instructions.",
            skill_header: true,
            instructions: None,
            catalog: CatalogPlace::Both,
            format: CatalogFormat::List,
            most_characters: Some(MOST_CHARACTERS),
            duplicates: Duplicates::Refuse,
            only_model: None,
            short_uris: false,
            announces: Announces::OtherAnswers,
            all_roots: false,
        };
        match self {
            Self::Unified => unified,
            Self::Sk => Surface {
                server_name: "sk-mcp",
                tools: vec![Tool::SkillsList, Tool::SkillsSearch],
                dotted_names: true,
                instructions: Some(
                    "Use skills.list for exhaustive metadata of every skill, and skills.search for targeted lookups.",
                ),
                catalog: CatalogPlace::None,
                only_model: Some(SkillModel::Folder),
                announces: Announces::EveryChange,
                ..unified
            },
            Self::Ccski => Surface {
                tools: vec![Tool::Skill],
                catalog: CatalogPlace::Description,
                most_characters: None,
                all_roots: true,
                ..unified
            },
            Self::Skilljack => Surface {
                tools: vec![Tool::Skill, Tool::SkillResource],
                skill_words: "Load and activate an Agent Skill by name. Returns the full SKILL.md content.",
                skill_header: false,
                catalog: CatalogPlace::Description,
                format: CatalogFormat::Xml,
                most_characters: None,
                duplicates: Duplicates::First,
                short_uris: true,
                announces: Announces::SkillFiles,
                ..unified
            },
            Self::Sx => Surface { tools: vec![Tool::ReadSkill, Tool::Query], catalog: CatalogPlace::None, ..unified },
            Self::SkillsMcp => Surface {
                tools: vec![
                    Tool::GetSkill,
                    Tool::ListSkills,
                    Tool::GetAsset,
                    Tool::RunScript,
                    Tool::ReportUsage,
                    Tool::RefreshSkills,
                ],
                catalog: CatalogPlace::None,
                ..unified
            },
        }
    }
}
