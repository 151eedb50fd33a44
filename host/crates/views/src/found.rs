//! The shape of the answer to `get_skill`.

use bindings::catalog::{Answer as Found, Argument, Asset, Candidate, Execution, Script};
use serde::Serialize;

/// No match, several candidates, or the skill.
#[derive(Serialize)]
#[serde(untagged)]
pub enum FoundView {
    NoMatch {
        no_match: bool,
        message: &'static str,
    },
    Ambiguous {
        ambiguous: bool,
        candidates: Vec<CandidateView>,
        message: &'static str,
    },
    Matched {
        skill_path: String,
        score: f64,
        matched_keywords: Vec<String>,
        content: String,
        assets: Vec<AssetView>,
        scripts: Vec<ScriptView>,
        inherited_assets: Vec<AssetView>,
        inherited_scripts: Vec<ScriptView>,
    },
}

#[derive(Serialize)]
pub struct CandidateView {
    skill_path: String,
    score: f64,
    description: String,
    matched_keywords: Vec<String>,
}

impl FoundView {
    /// Without inlined assets.
    pub fn plain(found: Found) -> Self {
        Self::new(found, |_| None)
    }

    /// `inline` returns the content of an asset that is to be in the answer.
    pub fn new(found: Found, inline: impl Fn(&Asset) -> Option<String>) -> Self {
        let asset = |asset: Asset| AssetView { content: inline(&asset), ..asset.into() };
        let assets = |assets: Vec<Asset>| assets.into_iter().map(asset).collect();
        let scripts = |scripts: Vec<Script>| scripts.into_iter().map(ScriptView::from).collect();
        match found {
            Found::NoMatch => Self::NoMatch { no_match: true, message: "No skill matches the given context." },
            Found::Ambiguous(candidates) => Self::Ambiguous {
                ambiguous: true,
                candidates: candidates.into_iter().map(CandidateView::from).collect(),
                message: "Multiple skills match. Specify your need or pick a skill_path.",
            },
            Found::Matched(found) => Self::Matched {
                skill_path: found.candidate.address,
                score: found.candidate.score,
                matched_keywords: found.candidate.matched_keywords,
                content: found.content,
                assets: assets(found.assets),
                scripts: scripts(found.scripts),
                inherited_assets: assets(found.inherited_assets),
                inherited_scripts: scripts(found.inherited_scripts),
            },
        }
    }
}

impl From<Candidate> for CandidateView {
    fn from(candidate: Candidate) -> Self {
        let Candidate { address, score, description, matched_keywords, .. } = candidate;
        Self { skill_path: address, score, description, matched_keywords }
    }
}

#[derive(Serialize)]
pub struct AssetView {
    pub file: String,
    pub description: String,
    pub r#type: String,
    /// The skill it is inherited from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Serialize)]
pub struct ScriptView {
    pub file: String,
    pub description: String,
    pub execution: &'static str,
    pub args: Vec<ArgumentView>,
    /// The skill it is inherited from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

#[derive(Serialize)]
pub struct ArgumentView {
    pub name: String,
    pub description: String,
    pub required: bool,
}

impl From<Asset> for AssetView {
    fn from(asset: Asset) -> Self {
        let Asset { file, description, kind, inherited_from, .. } = asset;
        Self { file, description, r#type: kind, from: inherited_from, content: None }
    }
}

impl From<Script> for ScriptView {
    fn from(script: Script) -> Self {
        let Script { file, description, execution, arguments, inherited_from, .. } = script;
        let execution = match execution {
            Execution::Claude => "claude",
            Execution::Server => "server",
        };
        let argument = |Argument { name, description, required }| ArgumentView { name, description, required };
        let args = arguments.into_iter().map(argument).collect();
        Self { file, description, execution, args, from: inherited_from }
    }
}
