//! The shape of the answer to `get_skill`.

use crate::file::{AssetView, ScriptView};
use bindings::catalog::{Answer as Found, Asset, Candidate, Match, Script};
use library::snapshot::Snapshot;
use serde::Serialize;

/// No match, several candidates, or the skill.
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

/// Inlines text assets up to a size; with a limit of 0, none.
pub struct Inline<'a> {
    pub limit: u64,
    pub snapshot: &'a Snapshot,
}

impl FoundView {
    /// Without inlined assets.
    pub fn plain(found: Found) -> Self {
        Self::new(found, &Inline { limit: 0, snapshot: &Snapshot::default() })
    }

    pub fn new(found: Found, inline: &Inline) -> Self {
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
