//! One skill: its file, what a model gets when it is the answer to a task, and its assets and scripts.

use super::UiState;
use super::grants::grant_view;
use super::response::{failure, json, parameter};
use base::printable::{printable, visible};
use bindings::catalog::{Answer as Found, FoundSkill, LookupError, LookupKind, Match, Needs, Request, Script};
use bindings::types::Location;
use catalog::{AskError, Index, no_skill};
use guests::call::Broken;
use guests::engine::EngineInstance;
use http_server::HttpResponse;
use hyper::StatusCode;
use library::roots::SkillRoot;
use library::snapshot::Snapshot;
use serde_json::{Value, json as value};
use std::sync::Arc;
use views::found::{AssetView, ScriptView};
use views::problem::label;
use views::skill::model_name;

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
        Ok(loaded) => json(&view(loaded, state, &index)),
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

fn view(loaded: LoadedSkill, state: &UiState, index: &Index) -> Value {
    let LoadedSkill { skill: FoundSkill { summary, .. }, complete, text } = loaded;
    let Location { root: number, path: file } = summary.file;
    let root = state.roots.get(number as usize).map(SkillRoot::path).unwrap_or_default();
    // Other sources, such as settings, are not part of the text.
    let chain = complete.sources.iter().filter(|source| source.path.ends_with(".md"));
    let assets = complete.assets.into_iter().chain(complete.inherited_assets).map(AssetView::from);
    let scripts = complete.scripts.into_iter().chain(complete.inherited_scripts).map(script_view);
    value!({
        "generation": state.catalog.news().borrow().generation,
        "address": visible(summary.address),
        "display_name": visible(summary.display_name),
        "model": model_name(summary.model),
        "description": visible(summary.description),
        "uri": summary.uri,
        "root": label(&state.roots, number),
        // `path` is on this machine, `file` is relative to the root.
        "path": visible(root.join(&file).display().to_string()),
        "file": visible(file),
        // `text` is the file as it is written, `content` is what `get_skill` answers with.
        "text": &*text,
        "content": complete.content,
        // The skills that it inherits from, most general first, and itself.
        "chain": chain.map(|source| chain_step(source, index)).collect::<Vec<_>>(),
        "assets": assets.collect::<Vec<_>>(),
        "scripts": scripts.collect::<Vec<_>>(),
        // What the operator grants its scripts.
        "grant": state.config.grants.of(&root, &summary.skill_path).map(grant_view),
    })
}

fn chain_step(source: &Location, index: &Index) -> Value {
    let skill = index.skills.iter().find(|skill| skill.file.root == source.root && skill.file.path == source.path);
    value!({"address": skill.map(|skill| visible(skill.address.clone())), "file": visible(source.path.clone())})
}

fn script_view(mut script: Script) -> Value {
    let needs = script.needs.take().map(|Needs { read, write, variables, hosts }| {
        value!({"read": read, "write": write, "variables": variables, "hosts": hosts})
    });
    let mut view = value!(ScriptView::from(script));
    view["needs"] = value!(needs);
    view
}
