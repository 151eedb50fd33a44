//! `get_skill`: the right skill for a task, with everything it inherits.

use super::{Tool, ToolName};
use crate::answer::{Answer, ToolError};
use crate::server::Server;
use analytics::Event;
use bindings::catalog::{Answer as Found, LookupError, Request};
use bindings::types::Location;
use call::Call;
use catalog::Ranker;
use guests::call::Broken;
use guests::engine::EngineInstance;
use library::snapshot::Snapshot;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use views::found::{FoundView, Inline};

#[derive(Deserialize, JsonSchema)]
pub struct GetSkill {
    /// The task in a sentence or two, in English or French
    context: String,
    /// The candidate to take, from an ambiguous answer or a list
    skill_path: Option<String>,
    /// Put the contents of small text assets into the answer
    include_assets: Option<bool>,
}

/// What the engine found.
struct Outcome {
    found: Result<Found, LookupError>,
    /// The maximum size of an asset whose content is in the answer.
    limit: u64,
    snapshot: Arc<Snapshot>,
}

impl Tool for GetSkill {
    const NAME: &'static str = "get_skill";
    const TITLE: &'static str = "Get the skill for a task";
    const PURPOSE: &'static str = "Get the team's instructions for a task, with everything they inherit. Call it before you \
        begin work: describe the task in `context` and follow what comes back. If the answer is `ambiguous`, call again \
        with the `skill_path` of one candidate.";
    const HINTS: &'static [(ToolName, &'static str)] =
        &[(ToolName::Skill, "load a skill whose name you know"), (ToolName::SkillsSearch, "look for a word")];

    async fn call(self, server: &Server, call: &Call) -> Result<Answer, ToolError> {
        let Self { context, skill_path: chosen, include_assets } = self;
        let with_assets = include_assets.unwrap_or_default();
        let request = Request { context: context.clone(), chosen: chosen.clone() };
        let question = move |ranker: &mut Ranker<'_>, snapshot: &Arc<Snapshot>| {
            let found = ranker.find(&request)?;
            let limit = inline_limit(ranker.engine, found.as_ref().ok(), with_assets)?;
            Ok(Outcome { found, limit, snapshot: Arc::clone(snapshot) })
        };
        let answered = server.catalog.rank_fresh(question, |outcome: &Outcome| sources(outcome.found.as_ref().ok()));
        let Outcome { found, limit, snapshot } = Box::pin(answered).await?;
        call.usage.record_all(found.as_ref().ok().map(|found| event(found, context, chosen.is_some())));
        Ok(match found {
            Err(error) => Answer::no_skill(chosen.as_deref().unwrap_or_default(), &error),
            Ok(found) => Answer::json(&FoundView::new(found, &Inline { limit, snapshot: &snapshot })),
        })
    }
}

fn event(found: &Found, context: String, was_ambiguous: bool) -> Event {
    let context = Some(context);
    match found {
        Found::NoMatch => Event::NoMatch { context },
        Found::Ambiguous(candidates) => {
            let candidates = candidates.iter().map(|candidate| candidate.address.clone()).collect();
            Event::Ambiguous { context, candidates }
        }
        Found::Matched(found) => Event::SkillServed {
            context,
            skill_path: found.candidate.address.clone(),
            score: Some(found.candidate.score),
            matched_keywords: found.candidate.matched_keywords.clone(),
            was_ambiguous,
        },
    }
}

/// Returns the maximum size of an inlined asset. All assets are in one root, because nothing is inherited from another.
fn inline_limit(engine: &mut EngineInstance, found: Option<&Found>, wanted: bool) -> Result<u64, Broken> {
    let Some(Found::Matched(found)) = found.filter(|_| wanted) else { return Ok(0) };
    match found.assets.iter().chain(&found.inherited_assets).next() {
        Some(asset) => Ok(engine.settings_of(asset.folder.root)?.assets.inline_text_max_bytes),
        None => Ok(0),
    }
}

/// Returns the files that an answer was made from, or `None` if it depends on all files, as when nothing matches.
fn sources(found: Option<&Found>) -> Option<Vec<Location>> {
    match found {
        Some(Found::Matched(found)) => Some(found.sources.clone()),
        _ => None,
    }
}
