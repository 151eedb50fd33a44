//! The tools. Each file has one: a struct whose fields are its arguments and whose field docs are their descriptions in the
//! schema, and a [`Tool`] implementation with its name, its texts and what it does.

mod get_asset;
mod get_skill;
mod list_skills;
mod query;
mod read_skill;
mod refresh_skills;
mod report_usage;
mod run_script;
mod skill;
mod skill_resource;
mod skills_list;
mod skills_search;

pub use get_asset::{asset_served, unreadable};

use crate::answer::{Answer, MAX_BYTES, Result};
use crate::arguments;
use crate::server::{Server, Shared};
use crate::surface::Surface;
use crate::texts::Texts;
use call::Call;
use rmcp::model::{self, JsonObject, MetaObject, ToolAnnotations};
use rmcp::object;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

/// The most text around the JSON of an answer, in characters.
const MAX_SURROUNDING: usize = 100_000;

/// Tools, each with a task that it does better.
pub type Hints = &'static [(ToolName, &'static str)];

/// A tool, and one call of it: the fields are the arguments.
pub trait Tool: JsonSchema + DeserializeOwned + Send + 'static {
    const NAME: &'static str;
    /// Another name that calls it. Several clients reject dots in a list.
    const DOTTED_NAME: &'static str = Self::NAME;
    const TITLE: &'static str;
    /// What it does, and when to use it.
    const PURPOSE: &'static str;
    const HINTS: Hints = &[];

    fn annotations() -> ToolAnnotations {
        read_only()
    }

    /// The schema of the structured answer, if there is one.
    fn output_schema() -> Option<JsonObject> {
        None
    }

    /// Completes the description with what depends on the configuration and the skills.
    fn customize(_tool: &mut model::Tool, _server: &Shared, _texts: &Texts) {}

    fn call(self, server: &Server, call: &Call) -> impl Future<Output = Result<Answer>> + Send;
}

fn read_only() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false)
}

/// Declares [`ToolName`] and the table of tools, in the order in which clients see them.
macro_rules! tools {
    ($($module:ident::$tool:ident),*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ToolName {
            $($tool),*
        }

        impl ToolName {
            pub const ALL: [Self; 12] = [$(Self::$tool),*];
        }

        static ENTRIES: LazyLock<[Entry; 12]> = LazyLock::new(|| [$(Entry::of::<$module::$tool>()),*]);
    };
}

tools!(
    skill::Skill,
    skill_resource::SkillResource,
    skills_list::SkillsList,
    skills_search::SkillsSearch,
    read_skill::ReadSkill,
    query::Query,
    get_skill::GetSkill,
    list_skills::ListSkills,
    get_asset::GetAsset,
    run_script::RunScript,
    report_usage::ReportUsage,
    refresh_skills::RefreshSkills
);

/// A [`Tool`] without its type.
struct Entry {
    dotted_name: &'static str,
    purpose: &'static str,
    hints: Hints,
    /// The parts of the entry of `tools/list` that are always the same.
    listed: model::Tool,
    customize: fn(&mut model::Tool, &Shared, &Texts),
    answer: for<'a> fn(&JsonObject, Option<JsonObject>, &'a Server, &'a Call) -> Answering<'a>,
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer>> + Send + 'a>>;

impl Entry {
    fn of<T: Tool>() -> Self {
        let mut listed = model::Tool::new(T::NAME, T::PURPOSE, Arc::new(arguments::schema::<T>()))
            .with_title(T::TITLE)
            .with_annotations(T::annotations())
            .with_meta(MetaObject(object!({"anthropic/maxResultSizeChars": MAX_BYTES + MAX_SURROUNDING})));
        listed.output_schema = T::output_schema().map(Arc::new);
        Self {
            dotted_name: T::DOTTED_NAME,
            purpose: T::PURPOSE,
            hints: T::HINTS,
            listed,
            customize: T::customize,
            answer: |schema, arguments, server, call| {
                let tool = arguments::read::<T>(schema, arguments);
                Box::pin(async move { tool?.call(server, call).await })
            },
        }
    }
}

impl ToolName {
    /// Finds a tool by either of its names.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name || tool.entry().dotted_name == name)
    }

    pub fn name(self) -> &'static str {
        &self.entry().listed.name
    }

    /// Returns the name that this surface lists.
    pub fn name_in(self, surface: &Surface) -> &'static str {
        if surface.dotted_names { self.entry().dotted_name } else { self.name() }
    }

    /// Returns the description without what [`Tool::customize`] adds. Hints name only tools that the surface offers.
    pub fn description(self, surface: &Surface) -> String {
        let documented = surface.documented_for(self).and_then(|documented| documented.purpose);
        let purpose = documented.unwrap_or(self.entry().purpose);
        let offered = |(other, _): &&(Self, &str)| surface.tools.contains(other);
        let hint = |(other, task): &(Self, &str)| format!("{task}, use {}", other.name_in(surface));
        let hints: Vec<String> = self.entry().hints.iter().filter(offered).map(hint).collect();
        if hints.is_empty() { purpose.to_owned() } else { format!("{purpose} To {}.", hints.join("; to ")) }
    }

    /// Returns the entry of `tools/list`, with an output schema only for clients that know structured answers.
    pub fn describe(self, server: &Shared, texts: &Texts, structured: bool) -> model::Tool {
        let (entry, surface) = (self.entry(), &server.surface);
        let mut tool = entry.listed.clone();
        tool.name = self.name_in(surface).into();
        tool.description = Some(self.description(surface).into());
        tool.output_schema = tool.output_schema.filter(|_| structured);
        (entry.customize)(&mut tool, server, texts);
        for (argument, text) in surface.documented_for(self).map_or(&[][..], |documented| documented.arguments) {
            Arc::make_mut(&mut tool.input_schema)["properties"][argument]["description"] = json!(text);
        }
        tool
    }

    pub async fn call(self, server: &Server, arguments: Option<JsonObject>, call: &Call) -> Result<Answer> {
        let entry = self.entry();
        (entry.answer)(&entry.listed.input_schema, arguments, server, call).await
    }

    fn entry(self) -> &'static Entry {
        &ENTRIES[self as usize]
    }
}
