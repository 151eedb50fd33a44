//! `get_skill`: the right skill for a task, with everything it inherits.

use super::{Hints, Tool, ToolName};
use crate::answer::{self, Answer, Result, failed};
use crate::server::Server;
use analytics::Event;
use bindings::catalog::{Answer as Found, Asset, Request};
use call::Call;
use guests::call::Broken;
use guests::engine::EngineInstance;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;
use views::found::{FoundView, MAX_NEAREST, OnDisk};

#[derive(Deserialize, JsonSchema)]
pub struct GetSkill {
    context: String,
    skill_path: Option<String>,
    include_assets: Option<bool>,
}

impl Tool for GetSkill {
    const NAME: &'static str = "get_skill";
    const TITLE: &'static str = "Get the skill for a task";
    const PURPOSE: &'static str = "Call this before a task: it finds the team's instructions for it. If `ambiguous`, call \
        again with the `skill_path` of a candidate.";
    const HINTS: Hints = &[
        (ToolName::RunScript, "run one of its `scripts` with arguments and files"),
        (ToolName::Skill, "load one by name"),
    ];

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        let Self { context, skill_path: chosen, include_assets } = self;
        let with_assets = include_assets.unwrap_or_default();
        let request = Request { context: context.clone(), chosen: chosen.clone() };
        let with_files = !server.surface.only_declared_scripts;
        let asked = server.catalog.rank_fresh(
            move |ranker, snapshot| {
                let found = ranker.find(&request)?;
                let limit = inline_limit(ranker.engine, found.as_ref().ok(), with_assets)?;
                let on_disk = match &found {
                    Ok(Found::Matched(found)) if with_files => {
                        OnDisk::of(ranker.engine, snapshot, &found.candidate.address)?
                    }
                    _ => None,
                };
                let nearest = match &found {
                    Ok(Found::NoMatch) if with_files => Some(ranker.nearest(&request.context, MAX_NEAREST)?),
                    _ => None,
                };
                Ok((found, limit, on_disk, nearest, Arc::clone(snapshot)))
            },
            // An answer without a match depends on all files.
            |(found, ..)| match found {
                Ok(Found::Matched(found)) => Some(found.sources.clone()),
                _ => None,
            },
        );
        let (found, limit, on_disk, nearest, snapshot) = Box::pin(asked).await.map_err(failed)?;
        call.usage.record_all(found.as_ref().ok().map(|found| event(found, context, chosen.is_some())));
        let inline = |asset: &Asset| {
            let is_wanted = limit > 0 && !asset.binary;
            String::from_utf8(is_wanted.then(|| snapshot.read(asset, limit))?.ok()?).ok()
        };
        Ok(match found {
            Err(error) => answer::no_skill(chosen.as_deref().unwrap_or_default(), &error),
            Ok(found) => {
                let view = FoundView::new(found, inline);
                answer::json(&match (on_disk, nearest) {
                    (Some(on_disk), _) => {
                        let folder = server.shown_folder(&on_disk.skill);
                        on_disk.add_to(view, folder, |file| server.scripts.runtime_of(file, server.audience()))
                    }
                    (None, Some(nearest)) => view.with_nearest(nearest),
                    (None, None) => view,
                })
            }
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
    let Some(asset) = found.assets.iter().chain(&found.inherited_assets).next() else { return Ok(0) };
    Ok(engine.settings_of(asset.folder.root)?.assets.inline_text_max_bytes)
}
