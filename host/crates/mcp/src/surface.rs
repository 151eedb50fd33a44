//! What clients see of this server: the tools and their names, and where the catalog is. A profile is a row of data; no other
//! code depends on which profile it is.

use crate::tools::ToolName;
use bindings::catalog::Duplicates;
use bindings::types::SkillModel;

/// The default maximum length of a text that contains the catalog. Clients truncate at 2,048.
const MAX_CHARACTERS: usize = 1_900;

/// Of the instructions, which every session pays for.
const MAX_INSTRUCTIONS: usize = 1_800;

/// A list of this length costs a model some 7,000 tokens.
const SKILLS_PER_PAGE: usize = 50;

/// What another server's documentation says about a tool. Our own words are shorter.
#[derive(Debug)]
pub struct Documented {
    pub tool: ToolName,
    pub purpose: Option<&'static str>,
    /// Descriptions of arguments, by name.
    pub arguments: &'static [(&'static str, &'static str)],
}

const SK: &[Documented] = &[
    Documented {
        tool: ToolName::SkillsList,
        purpose: None,
        arguments: &[
            ("query", "Optional substring filter applied to install name, meta.name, or description"),
            ("includeBody", "Include the SKILL.md body (minus YAML front-matter) in the structured payload"),
        ],
    },
    Documented {
        tool: ToolName::SkillsSearch,
        purpose: None,
        arguments: &[
            ("query", "Keywords to match (all whitespace-separated tokens must be present)"),
            ("limit", "Maximum number of hits"),
        ],
    },
];

const CCSKI: &[Documented] = &[Documented {
    tool: ToolName::Skill,
    purpose: Some("Load a skill by name to get specialized instructions."),
    arguments: &[],
}];

const SKILLJACK: &[Documented] = &[
    Documented {
        tool: ToolName::Skill,
        purpose: Some("Load and activate an Agent Skill by name. Returns the full SKILL.md content."),
        arguments: &[],
    },
    Documented {
        tool: ToolName::SkillResource,
        purpose: Some(
            "Read files within a skill's directory (scripts, references, assets, snippets). `path` is a file, a folder (all files below it), or empty for the list of files.",
        ),
        arguments: &[],
    },
];

const SX: &[Documented] = &[
    Documented {
        tool: ToolName::ReadSkill,
        purpose: Some(
            "Read a skill's full instructions and content by name, with `@file` references resolved to absolute paths (URIs over HTTP).",
        ),
        arguments: &[("name", "Name of the skill to read")],
    },
    Documented {
        tool: ToolName::Query,
        purpose: Some(
            "Query integrated services (GitHub, CircleCI, Linear) in natural language about the repository of the working folder: pull requests, reviews, checks, builds, issues.",
        ),
        arguments: &[
            ("query", "Natural language query describing what you want to know"),
            ("integration", "Service to query"),
        ],
    },
];

/// The tools that suffice to find, load and use skills.
pub const CORE_TOOLS: [ToolName; 5] =
    [ToolName::GetSkill, ToolName::Skill, ToolName::SkillResource, ToolName::RunScript, ToolName::SkillsSearch];

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
    /// What the replaced server's documentation says about its tools.
    pub documented: &'static [Documented],
    /// Whether the answer of `skill` starts with the name and the folder.
    pub skill_header: bool,
    /// Replaces the default instructions.
    pub instructions: Option<&'static str>,
    pub catalog: CatalogPlace,
    pub format: CatalogFormat,
    /// The maximum length of a text that contains the catalog; `None` is unlimited.
    pub max_characters: Option<usize>,
    /// The most characters of the instructions.
    pub max_instructions: usize,
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
    /// Whether skills are ranked by the share of their keywords, unless the operator chooses a scorer.
    pub ranks_by_keywords: bool,
    /// Whether `query` is listed. The configuration sets it if an integration can be asked.
    pub lists_query: bool,
    /// The most skills in one answer of `skills_list`.
    pub skills_per_page: usize,
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

impl Surface {
    /// The tools that clients see in the list.
    pub fn listed(&self) -> impl Iterator<Item = ToolName> {
        self.tools.iter().copied().filter(|tool| self.lists_query || *tool != ToolName::Query)
    }

    pub fn documented_for(&self, tool: ToolName) -> Option<&'static Documented> {
        self.documented.iter().find(|documented| documented.tool == tool)
    }
}

impl Profile {
    pub fn surface(self) -> Surface {
        use ToolName as Tool;
        let unified = Surface {
            server_name: "skillcell",
            tools: Tool::ALL.to_vec(),
            dotted_names: false,
            documented: &[],
            skill_header: true,
            instructions: None,
            catalog: CatalogPlace::Both,
            format: CatalogFormat::List,
            max_characters: Some(MAX_CHARACTERS),
            max_instructions: MAX_INSTRUCTIONS,
            duplicates: Duplicates::Refuse,
            only_model: None,
            short_uris: false,
            notify_on: NotifyOn::OtherAnswers,
            all_roots: false,
            only_declared_scripts: false,
            ranks_by_keywords: false,
            lists_query: false,
            skills_per_page: SKILLS_PER_PAGE,
        };
        match self {
            Self::Unified => unified,
            Self::Sk => Surface {
                server_name: "sk-mcp",
                tools: vec![Tool::SkillsList, Tool::SkillsSearch],
                dotted_names: true,
                documented: SK,
                instructions: Some(
                    "Use skills.list for exhaustive metadata of every skill, and skills.search for targeted lookups.",
                ),
                catalog: CatalogPlace::None,
                only_model: Some(SkillModel::Folder),
                notify_on: NotifyOn::EveryChange,
                skills_per_page: usize::MAX,
                ..unified
            },
            Self::Ccski => Surface {
                tools: vec![Tool::Skill],
                documented: CCSKI,
                catalog: CatalogPlace::Description,
                max_characters: None,
                all_roots: true,
                ..unified
            },
            Self::Skilljack => Surface {
                tools: vec![Tool::Skill, Tool::SkillResource],
                documented: SKILLJACK,
                skill_header: false,
                catalog: CatalogPlace::Description,
                format: CatalogFormat::Xml,
                max_characters: None,
                duplicates: Duplicates::First,
                short_uris: true,
                notify_on: NotifyOn::SkillFiles,
                ..unified
            },
            Self::Sx => Surface {
                tools: vec![Tool::ReadSkill, Tool::Query],
                documented: SX,
                catalog: CatalogPlace::None,
                lists_query: true,
                ..unified
            },
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
                ranks_by_keywords: true,
                ..unified
            },
        }
    }
}
