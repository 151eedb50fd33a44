//! `get_skill`: the right skill for a task, with everything it inherits.

use crate::bindings::catalog::{Answer as Found, Argument, Asset, Candidate, Execution, Match, Request, Script};
use crate::bindings::types::Location;
use crate::library::snapshot::Snapshot;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use crate::worlds::engine::EngineInstance;
use serde::Serialize;
use std::sync::Arc;

pub async fn get_skill(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let context = arguments.required_text("context")?;
    let chosen = arguments.text("skill_path")?;
    let with_assets = arguments.boolean("include_assets")?.unwrap_or(false);
    arguments.finish()?;

    let matching = server.config.matching;
    let request = Request {
        context,
        chosen: chosen.clone(),
        min_score: matching.min_score,
        ambiguity_threshold: matching.ambiguity_threshold,
        max_results: matching.max_results,
    };
    let question =
        move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| Ok((engine.find(&request)?, Arc::clone(snapshot)));
    let answered = server.catalog.ask_fresh(question, |(found, _)| sources(found.as_ref().ok()));
    let (found, snapshot) = answered.await?;
    Ok(match found {
        Err(error) => Answer::no_skill(chosen.as_deref().unwrap_or_default(), &error),
        Ok(Found::NoMatch) => Answer::json(&NoMatch { no_match: true, message: "No skill matches the given context." }),
        Ok(Found::Ambiguous(candidates)) => Answer::json(&Ambiguous {
            ambiguous: true,
            candidates: candidates.into_iter().map(CandidateView::from).collect(),
            message: "Multiple skills match. Specify your need or pick a skill_path.",
        }),
        Ok(Found::Matched(found)) => {
            let limit = if with_assets { server.config.inline_limit.min(server.config.file_limit) } else { 0 };
            let inline = Inline { limit, snapshot: &snapshot };
            Answer::json(&MatchView::new(found, &inline))
        }
    })
}

/// The files an answer was made from. That nothing matches, or several do, says something about all files.
fn sources(found: Option<&Found>) -> Option<Vec<Location>> {
    match found {
        Some(Found::Matched(found)) => Some(found.sources.clone()),
        _ => None,
    }
}

#[derive(Serialize)]
struct NoMatch {
    no_match: bool,
    message: &'static str,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the names are the contract")]
struct Ambiguous {
    ambiguous: bool,
    candidates: Vec<CandidateView>,
    message: &'static str,
}

#[derive(Serialize)]
struct CandidateView {
    skill_path: String,
    score: f64,
    description: String,
    matched_keywords: Vec<String>,
}

#[derive(Serialize)]
struct MatchView {
    skill_path: String,
    score: f64,
    matched_keywords: Vec<String>,
    content: String,
    assets: Vec<AssetView>,
    scripts: Vec<ScriptView>,
    inherited_assets: Vec<AssetView>,
    inherited_scripts: Vec<ScriptView>,
}

#[derive(Serialize)]
struct AssetView {
    file: String,
    description: String,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

#[derive(Serialize)]
struct ScriptView {
    file: String,
    description: String,
    execution: &'static str,
    args: Vec<ArgumentView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

#[derive(Serialize)]
struct ArgumentView {
    name: String,
    description: String,
    required: bool,
}

/// Puts small text assets into the answer when the caller wants them. With a limit of 0 that is none.
struct Inline<'a> {
    limit: u64,
    snapshot: &'a Snapshot,
}

impl Inline<'_> {
    fn text(&self, asset: &Asset) -> Option<String> {
        if self.limit == 0 || asset.binary {
            return None;
        }
        String::from_utf8(self.snapshot.read(asset, self.limit).ok()?).ok()
    }
}

impl From<Candidate> for CandidateView {
    fn from(candidate: Candidate) -> Self {
        Self {
            skill_path: candidate.address,
            score: candidate.score,
            description: candidate.description,
            matched_keywords: candidate.matched_keywords,
        }
    }
}

impl MatchView {
    fn new(found: Match, inline: &Inline) -> Self {
        let assets = |assets: Vec<Asset>| assets.into_iter().map(|asset| AssetView::new(asset, inline)).collect();
        let scripts = |scripts: Vec<Script>| scripts.into_iter().map(ScriptView::from).collect();
        Self {
            skill_path: found.candidate.address,
            score: found.candidate.score,
            matched_keywords: found.candidate.matched_keywords,
            content: found.content,
            assets: assets(found.assets),
            scripts: scripts(found.scripts),
            inherited_assets: assets(found.inherited_assets),
            inherited_scripts: scripts(found.inherited_scripts),
        }
    }
}

impl AssetView {
    fn new(asset: Asset, inline: &Inline) -> Self {
        let content = inline.text(&asset);
        Self {
            file: asset.file,
            description: asset.description,
            r#type: asset.kind,
            from: asset.inherited_from,
            content,
        }
    }
}

impl From<Script> for ScriptView {
    fn from(script: Script) -> Self {
        let argument = |argument: Argument| ArgumentView {
            name: argument.name,
            description: argument.description,
            required: argument.required,
        };
        Self {
            file: script.file,
            description: script.description,
            execution: match script.execution {
                Execution::Claude => "claude",
                Execution::Server => "server",
            },
            args: script.arguments.into_iter().map(argument).collect(),
            from: script.inherited_from,
        }
    }
}
