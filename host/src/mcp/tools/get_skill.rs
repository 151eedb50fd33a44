//! `get_skill`: the right skill for a task, with everything it inherits.

use crate::analytics::Event;
use crate::bindings::catalog::{Answer as Found, Asset, Candidate, LookupError, Match, Matching, Request, Script};
use crate::bindings::types::Location;
use crate::catalog::Ranker;
use crate::library::snapshot::Snapshot;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use crate::mcp::tools::file_view::{AssetView, ScriptView};
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use serde::Serialize;
use std::sync::Arc;

/// What was found, and what it is from.
struct Asked {
    found: Result<Found, LookupError>,
    /// How large an asset may be that comes with it.
    limit: u64,
    /// What decided in each root that it matches. Empty when nobody had to decide.
    rules: Vec<Matching>,
    snapshot: Arc<Snapshot>,
}

pub async fn get_skill(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let context = arguments.required_text("context")?;
    let chosen = arguments.text("skill_path")?;
    let with_assets = arguments.boolean("include_assets")?.unwrap_or(false);
    arguments.finish()?;

    let request = Request { context: context.clone(), chosen: chosen.clone() };
    let asked = request.clone();
    let question = move |ranker: &mut Ranker<'_>, snapshot: &Arc<Snapshot>| {
        let found = ranker.find(&asked)?;
        let rules = rules(&asked, found.as_ref().ok(), ranker.engine, snapshot)?;
        let limit = inline_limit(ranker.engine, found.as_ref().ok(), with_assets)?;
        Ok(Asked { found, limit, rules, snapshot: Arc::clone(snapshot) })
    };
    let by_scorer = server.catalog.has_scorer();
    let anew = move |before: &Asked, engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| {
        let Some(now) = still_matched(before.found.as_ref().ok(), &request, by_scorer, engine)? else {
            return Ok(None);
        };
        let rules = rules(&request, Some(&now), engine, snapshot)?;
        if rules != before.rules {
            return Ok(None);
        }
        let limit = inline_limit(engine, Some(&now), with_assets)?;
        Ok(Some(Asked { found: Ok(now), limit, rules, snapshot: Arc::clone(snapshot) }))
    };
    let answered = server.catalog.ask_best(question, anew, |asked: &Asked| sources(asked.found.as_ref().ok()));
    let Asked { found, limit, snapshot, .. } = Box::pin(answered).await?;
    server.usage.raise_all(found.as_ref().ok().map(|found| event(found, context, chosen.is_some())));
    Ok(match found {
        Err(error) => Answer::no_skill(chosen.as_deref().unwrap_or_default(), &error),
        Ok(found) => Answer::json(&FoundView::new(found, &Inline { limit, snapshot: &snapshot })),
    })
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

/// The skill that matched before, with its files as an engine has them that knows no others. As long as the same of its words
/// match and it has the same score, it stays the answer. Otherwise the ranking has to decide again. A scorer goes by more than
/// words, so what it chose stays chosen, with its score, until it is told of the change.
fn still_matched(
    before: Option<&Found>,
    request: &Request,
    by_scorer: bool,
    engine: &mut EngineInstance,
) -> Result<Option<Found>, Broken> {
    let Some(Found::Matched(before)) = before else { return Ok(None) };
    let candidate = &before.candidate;
    let same = Request { context: request.context.clone(), chosen: Some(candidate.address.clone()) };
    let Ok(Found::Matched(mut now)) = engine.find(&same, None)? else { return Ok(None) };
    if by_scorer {
        now.candidate.score = candidate.score;
    }
    let is_same = now.candidate.matched_keywords == candidate.matched_keywords
        && now.candidate.score.total_cmp(&candidate.score).is_eq();
    Ok((by_scorer || request.chosen.is_some() || is_same).then_some(Found::Matched(now)))
}

/// What decides in each root whether a skill matches. All have a say, unless the caller chose.
fn rules(
    request: &Request,
    found: Option<&Found>,
    engine: &mut EngineInstance,
    snapshot: &Snapshot,
) -> Result<Vec<Matching>, Broken> {
    match (&request.chosen, found) {
        (None, Some(Found::Matched(_))) => {
            (0..).zip(&snapshot.roots).map(|(root, _)| Ok(engine.settings_of(root)?.matching)).collect()
        }
        _ => Ok(Vec::new()),
    }
}

/// How large an asset may be that comes with the answer. All are in one root, because nothing is inherited from another.
fn inline_limit(engine: &mut EngineInstance, found: Option<&Found>, wanted: bool) -> Result<u64, Broken> {
    let Some(Found::Matched(found)) = found.filter(|_| wanted) else { return Ok(0) };
    match found.assets.iter().chain(&found.inherited_assets).next() {
        Some(asset) => Ok(engine.settings_of(asset.folder.root)?.assets.inline_text_max_bytes),
        None => Ok(0),
    }
}

/// The files an answer was made from. That nothing matches, or several do, says something about all files.
fn sources(found: Option<&Found>) -> Option<Vec<Location>> {
    match found {
        Some(Found::Matched(found)) => Some(found.sources.clone()),
        _ => None,
    }
}

/// The answer as clients see it.
#[derive(Serialize)]
#[serde(untagged)]
pub enum FoundView {
    NoMatch(NoMatch),
    Ambiguous(Ambiguous),
    Matched(Box<MatchView>),
}

#[derive(Serialize)]
pub struct NoMatch {
    no_match: bool,
    message: &'static str,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the names are the contract")]
pub struct Ambiguous {
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
pub struct MatchView {
    skill_path: String,
    score: f64,
    matched_keywords: Vec<String>,
    content: String,
    assets: Vec<AssetView>,
    scripts: Vec<ScriptView>,
    inherited_assets: Vec<AssetView>,
    inherited_scripts: Vec<ScriptView>,
}

/// Puts small text assets into the answer when the caller wants them. With a limit of 0 that is none.
struct Inline<'a> {
    limit: u64,
    snapshot: &'a Snapshot,
}

impl FoundView {
    /// Without assets in it.
    pub fn plain(found: Found) -> Self {
        Self::new(found, &Inline { limit: 0, snapshot: &Snapshot::default() })
    }

    fn new(found: Found, inline: &Inline) -> Self {
        match found {
            Found::NoMatch => Self::NoMatch(NoMatch { no_match: true, message: "No skill matches the given context." }),
            Found::Ambiguous(candidates) => Self::Ambiguous(Ambiguous {
                ambiguous: true,
                candidates: candidates.into_iter().map(CandidateView::from).collect(),
                message: "Multiple skills match. Specify your need or pick a skill_path.",
            }),
            Found::Matched(found) => Self::Matched(Box::new(MatchView::new(found, inline))),
        }
    }
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
        let asset = |asset: Asset| {
            let content = inline.text(&asset);
            AssetView { content, ..asset.into() }
        };
        let assets = |assets: Vec<Asset>| assets.into_iter().map(asset).collect();
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
