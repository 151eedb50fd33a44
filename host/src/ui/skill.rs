//! One skill: its file, what a model gets when it is the answer to a task, and what comes with it.

use super::Shown;
use super::answer::{failed, json, parameter};
use super::grants::Given;
use crate::bindings::catalog::{Answer as Found, Called, FoundSkill, LookupError, Match, Needs, Request, Script};
use crate::bindings::types::Location;
use crate::catalog::{AskError, Index, no_skill};
use crate::library::roots::SkillRoot;
use crate::library::snapshot::Snapshot;
use crate::listening::Answer;
use crate::mcp::tools::file_view::{AssetView, ScriptView};
use crate::mcp::tools::problem_view::label;
use crate::mcp::tools::skill_view::model_word;
use crate::printable::printable;
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use hyper::StatusCode;
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct SkillView {
    generation: u64,
    address: String,
    shown_name: String,
    model: &'static str,
    description: String,
    uri: String,
    /// The label of its root.
    root: String,
    /// Below that root, and on this machine.
    file: String,
    path: String,
    /// The file as it is written.
    text: String,
    /// What `get_skill` answers with.
    content: String,
    /// The skills that this is made from, the most general first; itself is the last.
    chain: Vec<Step>,
    assets: Vec<AssetView>,
    scripts: Vec<NeedyScript>,
    /// What the operator grants its scripts.
    grant: Option<Given>,
}

#[derive(Serialize)]
struct Step {
    address: Option<String>,
    file: String,
}

#[derive(Serialize)]
struct NeedyScript {
    #[serde(flatten)]
    script: ScriptView,
    needs: Option<NeedsView>,
}

#[derive(Serialize)]
struct NeedsView {
    read: Vec<String>,
    write: Vec<String>,
    variables: Vec<String>,
    hosts: Vec<String>,
}

/// A skill as an engine tells of it, with its file.
struct Told {
    skill: FoundSkill,
    complete: Match,
    text: Arc<str>,
}

pub async fn skill(shown: &Shown, query: &str) -> Result<Answer, AskError> {
    let Some(name) = parameter(query, "name") else {
        return Ok(failed(StatusCode::BAD_REQUEST, "no skill was named"));
    };
    let (wanted, limit) = (name.clone(), shown.config.operator.max_size_bytes);
    let question = move |engine: &mut EngineInstance, files: &Arc<Snapshot>| look_up(engine, files, &wanted, limit);
    let sources = |told: &Result<Told, LookupError>| Some(told.as_ref().ok()?.complete.sources.clone());
    let told = Box::pin(shown.catalog.ask_fresh(question, sources)).await?;
    let index = shown.catalog.index().await?;
    Ok(match told {
        Ok(told) => json(&SkillView::new(told, shown, &index)),
        Err(error) => failed(StatusCode::NOT_FOUND, &no_skill(&printable(&name), &error)),
    })
}

fn look_up(
    engine: &mut EngineInstance,
    files: &Snapshot,
    name: &str,
    limit: u64,
) -> Result<Result<Told, LookupError>, Broken> {
    let skill = match engine.skill_of(name, Called::ByPath)? {
        Ok(skill) => skill,
        Err(error) => return Ok(Err(error)),
    };
    let request = Request { context: String::new(), chosen: Some(skill.summary.address.clone()) };
    let complete = match engine.find(&request, None)? {
        Ok(Found::Matched(complete)) => complete,
        Ok(Found::NoMatch | Found::Ambiguous(_)) => return Ok(Err(LookupError::Unknown(Vec::new()))),
        Err(error) => return Ok(Err(error)),
    };
    let Location { root, path } = &skill.summary.file;
    let text = files.root(*root).and_then(|root| root.file(path, limit).text.clone().ok()).unwrap_or_default();
    Ok(Ok(Told { skill, complete, text }))
}

impl SkillView {
    fn new(told: Told, shown: &Shown, index: &Index) -> Self {
        let Told { skill: FoundSkill { summary, .. }, complete, text } = told;
        let Location { root: number, path: file } = summary.file;
        let root = shown.roots.get(number as usize).map(SkillRoot::path).unwrap_or_default();
        let grant = shown.config.grants.of(&root, &summary.skill_path).map(Given::new);
        // What else decides about an answer is no part of it.
        let chain = complete.sources.into_iter().filter(|source| source.path.ends_with(".md"));
        Self {
            generation: shown.catalog.news().borrow().generation,
            root: label(&shown.roots, number),
            path: root.join(&file).display().to_string(),
            file,
            address: summary.address,
            shown_name: summary.shown_name,
            model: model_word(summary.model),
            description: summary.description,
            uri: summary.uri,
            text: text.as_ref().to_owned(),
            content: complete.content,
            chain: chain.map(|source| Step::new(source, index)).collect(),
            assets: complete.assets.into_iter().chain(complete.inherited_assets).map(AssetView::from).collect(),
            scripts: complete.scripts.into_iter().chain(complete.inherited_scripts).map(NeedyScript::from).collect(),
            grant,
        }
    }
}

impl Step {
    fn new(source: Location, index: &Index) -> Self {
        let skill = index.skills.iter().find(|skill| skill.file.root == source.root && skill.file.path == source.path);
        Self { address: skill.map(|skill| skill.address.clone()), file: source.path }
    }
}

impl From<Script> for NeedyScript {
    fn from(mut script: Script) -> Self {
        let needs = |Needs { read, write, variables, hosts }| NeedsView { read, write, variables, hosts };
        let needs = script.needs.take().map(needs);
        Self { script: script.into(), needs }
    }
}
