//! What clients see of this server: the tools and their names, and where the catalog is. A profile is a row of data; no other
//! code depends on which profile it is.

use crate::tools::ToolName;
use bindings::catalog::Duplicates;
use bindings::types::SkillModel;

/// The default maximum length of a text that contains the catalog. Clients truncate at 2,048.
pub const MAX_CHARACTERS: usize = 1_900;

/// The servers that this one can replace.
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

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table: each is a column, and all are independent")]
pub struct Surface {
    pub server_name: &'static str,
    /// In the order of the list, which never changes, because clients cache it with their prompt.
    pub tools: Vec<ToolName>,
    /// Whether two tools are listed with a dot in their name.
    pub dotted_names: bool,
    /// Replaces the purpose of the tool `skill`.
    pub skill_purpose: Option<&'static str>,
    /// Whether the answer of `skill` starts with the name and the folder.
    pub skill_header: bool,
    /// Replaces the default instructions.
    pub instructions: Option<&'static str>,
    pub catalog: CatalogPlace,
    pub format: CatalogFormat,
    /// The maximum length of a text that contains the catalog; `None` is unlimited.
    pub max_characters: Option<usize>,
    pub duplicates: Duplicates,
    /// Restricts lists and searches to skills of this model.
    pub only_model: Option<SkillModel>,
    /// Whether resources are listed as `skill://{name}` and `skill://{name}/`.
    pub short_uris: bool,
    pub notify_on: NotifyOn,
    /// Whether user, project and plugin folders are roots by default.
    pub all_roots: bool,
    /// Whether scripts run only if their skill declares them, with named arguments.
    pub only_declared_scripts: bool,
}

/// Which texts contain the catalog.
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

/// When clients are notified that a list changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotifyOn {
    /// When the answer changed.
    OtherAnswers,
    /// Also when any `SKILL.md` changed.
    SkillFiles,
    /// On every change, with a reason.
    EveryChange,
}

impl Profile {
    pub fn surface(self) -> Surface {
        use ToolName as Tool;
        let unified = Surface {
            server_name: "skillcell",
            tools: Tool::ALL.to_vec(),
            dotted_names: false,
            skill_purpose: None,
            skill_header: true,
            instructions: None,
            catalog: CatalogPlace::Both,
            format: CatalogFormat::List,
            max_characters: Some(MAX_CHARACTERS),
            duplicates: Duplicates::Refuse,
            only_model: None,
            short_uris: false,
            notify_on: NotifyOn::OtherAnswers,
            all_roots: false,
            only_declared_scripts: false,
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
                notify_on: NotifyOn::EveryChange,
                ..unified
            },
            Self::Ccski => Surface {
                tools: vec![Tool::Skill],
                catalog: CatalogPlace::Description,
                max_characters: None,
                all_roots: true,
                ..unified
            },
            Self::Skilljack => Surface {
                tools: vec![Tool::Skill, Tool::SkillResource],
                skill_purpose: Some("Load and activate an Agent Skill by name. Returns the full SKILL.md content."),
                skill_header: false,
                catalog: CatalogPlace::Description,
                format: CatalogFormat::Xml,
                max_characters: None,
                duplicates: Duplicates::First,
                short_uris: true,
                notify_on: NotifyOn::SkillFiles,
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
                only_declared_scripts: true,
                ..unified
            },
        }
    }
}
