//! One skill: its file, what a model gets when it is the answer to a task, and its assets and scripts.

use super::UiState;
use super::grants::GrantView;
use super::response::{failure, json, parameter};
use base::printable::printable;
use bindings::catalog::{Answer as Found, FoundSkill, LookupError, LookupKind, Match, Needs, Request, Script};
use bindings::types::Location;
use catalog::{AskError, Index, no_skill};
use guests::call::Broken;
use guests::engine::EngineInstance;
use http_server::HttpResponse;
use hyper::StatusCode;
use library::roots::SkillRoot;
use library::snapshot::Snapshot;
use serde::Serialize;
use std::sync::Arc;
use views::file::{AssetView, ScriptView};
use views::problem::label;
use views::skill::model_name;

#[derive(Serialize)]
struct SkillView {
    generation: u64,
    address: String,
    display_name: String,
    model: &'static str,
    description: String,
    uri: String,
    /// The label of its root.
    root: String,
    /// Relative to the root.
    file: String,
    /// On this machine.
    path: String,
    /// The file as it is written.
    text: String,
    /// What `get_skill` answers with.
    content: String,
    /// The skills that it inherits from, most general first, and itself.
    chain: Vec<Step>,
    assets: Vec<AssetView>,
    scripts: Vec<ScriptWithNeeds>,
    /// What the operator grants its scripts.
    grant: Option<GrantView>,
}

#[derive(Serialize)]
struct Step {
    address: Option<String>,
    file: String,
}

#[derive(Serialize)]
struct ScriptWithNeeds {
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

/// A skill as the engine knows it, with its file.
struct LoadedSkill {
    skill: FoundSkill,
    complete: Match,
    text: Arc<str>,
}

pub async fn skill(state: &UiState, query: &str) -> Result<HttpResponse, AskError> {
    let Some(name) = parameter(query, "name") else {
        return Ok(failure(StatusCode::BAD_REQUEST, "the parameter `name` is missing"));
    };
    let (requested, limit) = (name.clone(), state.config.operator.max_size_bytes);
    let question = move |engine: &mut EngineInstance, files: &Arc<Snapshot>| look_up(engine, files, &requested, limit);
    let sources = |loaded: &Result<LoadedSkill, LookupError>| Some(loaded.as_ref().ok()?.complete.sources.clone());
    let loaded = Box::pin(state.catalog.ask_fresh(question, sources)).await?;
    let index = state.catalog.index().await?;
    Ok(match loaded {
        Ok(loaded) => json(&SkillView::new(loaded, state, &index)),
        Err(error) => failure(StatusCode::NOT_FOUND, &no_skill(&printable(&name), &error)),
    })
}

fn look_up(
    engine: &mut EngineInstance,
    files: &Snapshot,
    name: &str,
    limit: u64,
) -> Result<Result<LoadedSkill, LookupError>, Broken> {
    let skill = match engine.skill_of(name, LookupKind::Path)? {
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
    Ok(Ok(LoadedSkill { skill, complete, text }))
}

impl SkillView {
    fn new(loaded: LoadedSkill, state: &UiState, index: &Index) -> Self {
        let LoadedSkill { skill: FoundSkill { summary, .. }, complete, text } = loaded;
        let Location { root: number, path: file } = summary.file;
        let root = state.roots.get(number as usize).map(SkillRoot::path).unwrap_or_default();
        let grant = state.config.grants.of(&root, &summary.skill_path).map(GrantView::new);
        // Other sources, such as settings, are not part of the text.
        let chain = complete.sources.into_iter().filter(|source| source.path.ends_with(".md"));
        Self {
            generation: state.catalog.news().borrow().generation,
            root: label(&state.roots, number),
            path: root.join(&file).display().to_string(),
            file,
            address: summary.address,
            display_name: summary.display_name,
            model: model_name(summary.model),
            description: summary.description,
            uri: summary.uri,
            text: text.as_ref().to_owned(),
            content: complete.content,
            chain: chain.map(|source| Step::new(source, index)).collect(),
            assets: complete.assets.into_iter().chain(complete.inherited_assets).map(AssetView::from).collect(),
            scripts: complete
                .scripts
                .into_iter()
                .chain(complete.inherited_scripts)
                .map(ScriptWithNeeds::from)
                .collect(),
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

impl From<Script> for ScriptWithNeeds {
    fn from(mut script: Script) -> Self {
        let needs = |Needs { read, write, variables, hosts }| NeedsView { read, write, variables, hosts };
        let needs = script.needs.take().map(needs);
        Self { script: script.into(), needs }
    }
}
