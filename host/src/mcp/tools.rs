//! The tools: what they are called, and what a client is told about them.

pub mod get_asset;
pub mod run_script;
pub mod get_skill;
pub mod file_view;
mod list_skills;
pub mod problem_view;
mod query;
mod read_skill;
mod refresh_skills;
mod report_usage;
mod schemas;
mod skill;
mod skill_resource;
pub mod skill_view;
pub mod skills_list;
pub mod skills_search;
mod words;

use crate::mcp::answer::{Answer, MOST_BYTES, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use crate::mcp::surface::Surface;
use crate::scripts::Progress;
use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use rmcp::object;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Most text around the JSON of an answer, in characters.
const AROUND: usize = 100_000;

/// A tool of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolName {
    Skill,
    SkillResource,
    SkillsList,
    SkillsSearch,
    ReadSkill,
    Query,
    GetSkill,
    ListSkills,
    GetAsset,
    RunScript,
    ReportUsage,
    RefreshSkills,
}

impl ToolName {
    pub const ALL: [Self; 12] = [
        Self::Skill,
        Self::SkillResource,
        Self::SkillsList,
        Self::SkillsSearch,
        Self::ReadSkill,
        Self::Query,
        Self::GetSkill,
        Self::ListSkills,
        Self::GetAsset,
        Self::RunScript,
        Self::ReportUsage,
        Self::RefreshSkills,
    ];

    /// The tool that a name means. Two also answer to a dotted name, which several clients refuse in a list.
    pub fn called(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name || tool.dotted_name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::SkillResource => "skill-resource",
            Self::SkillsList => "skills_list",
            Self::SkillsSearch => "skills_search",
            Self::ReadSkill => "read_skill",
            Self::Query => "query",
            Self::GetSkill => "get_skill",
            Self::ListSkills => "list_skills",
            Self::GetAsset => "get_asset",
            Self::RunScript => "run_script",
            Self::ReportUsage => "report_usage",
            Self::RefreshSkills => "refresh_skills",
        }
    }

    fn dotted_name(self) -> &'static str {
        match self {
            Self::SkillsList => "skills.list",
            Self::SkillsSearch => "skills.search",
            other => other.name(),
        }
    }

    /// How a client of this surface knows the tool.
    pub fn name_in(self, surface: &Surface) -> &'static str {
        if surface.dotted_names { self.dotted_name() } else { self.name() }
    }

    fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
        match self {
            // A script may write where the operator lets it, and reach the hosts that were granted.
            Self::RunScript => hints.read_only(false).destructive(true).idempotent(false).open_world(true),
            Self::Query => hints.open_world(true),
            Self::ReportUsage => hints.read_only(false).idempotent(false),
            Self::RefreshSkills => hints.read_only(false).open_world(true),
            _ => hints,
        }
    }

    /// What a client is told. Structured answers are left out for clients that do not know them.
    pub fn described(
        self,
        surface: &Surface,
        integrations: &[String],
        catalog: Option<&str>,
        structured: bool,
    ) -> Tool {
        let mut description = words::description(self, surface);
        if let Some(catalog) = catalog.filter(|_| self == Self::Skill) {
            description = format!("{description}\n\n{catalog}");
        }
        let size = MetaObject(object!({"anthropic/maxResultSizeChars": MOST_BYTES + AROUND}));
        let tool = Tool::new(self.name_in(surface), description, Arc::new(schemas::input(self, integrations)));
        let tool = tool.with_title(words::title(self)).with_annotations(self.annotations()).with_meta(size);
        match schemas::output(self).filter(|_| structured) {
            Some(output) => tool.with_raw_output_schema(Arc::new(output)),
            None => tool,
        }
    }

    pub async fn call(
        self,
        server: &Skillcell,
        arguments: Arguments,
        cancelled: CancellationToken,
        progress: Progress,
    ) -> Result<Answer, ToolError> {
        match self {
            Self::Skill => skill::skill(server, arguments).await,
            Self::SkillResource => skill_resource::skill_resource(server, arguments).await,
            Self::SkillsList => skills_list::skills_list(server, arguments).await,
            Self::SkillsSearch => skills_search::skills_search(server, arguments).await,
            Self::ReadSkill => read_skill::read_skill(server, arguments).await,
            Self::Query => query::query(server, arguments, cancelled, progress).await,
            Self::GetSkill => get_skill::get_skill(server, arguments).await,
            Self::ListSkills => list_skills::list_skills(server, arguments).await,
            Self::GetAsset => get_asset::get_asset(server, arguments).await,
            Self::RunScript => run_script::run_script(server, arguments, cancelled, progress).await,
            Self::ReportUsage => report_usage::report_usage(server, arguments).await,
            Self::RefreshSkills => refresh_skills::refresh_skills(server, arguments).await,
        }
    }
}

/// Length of a description of `skill` without the catalog, in characters.
pub fn words_before_catalog(surface: &Surface) -> usize {
    words::description(ToolName::Skill, surface).chars().count() + 2
}
