//! One skill: its file, what a model gets when it is the answer to a task, its problems, and its files and scripts, declared or
//! not.

use super::UiState;
use super::grants::grant_view;
use super::response::{failure, json, parameter};
use base::place::Audience;
use base::printable::{printable, visible};
use bindings::catalog::{
    Answer as Found, Execution, FoundSkill, LookupError, LookupKind, Match, Needs, Request, Script, ScriptLimits,
};
use bindings::types::{Location, Problem, SkillModel};
use catalog::{AskError, Index, no_skill};
use guests::call::Broken;
use guests::engine::EngineInstance;
use http_server::HttpResponse;
use hyper::StatusCode;
use library::files::{self, SkillFile};
use library::roots::SkillRoot;
use library::snapshot::Snapshot;
use scripts::runs_undeclared;
use serde_json::{Value, json as value};
use std::sync::Arc;
use views::found::{AssetView, ScriptView, local_folder};
use views::problem::{ProblemView, label};
use views::skill::model_name;

/// A skill as the engine knows it, with what is on disk.
struct LoadedSkill {
    skill: FoundSkill,
    complete: Match,
    text: Arc<str>,
    files: Vec<SkillFile>,
    limits: ScriptLimits,
    problems: Vec<Problem>,
}

pub async fn skill(state: &UiState, query: &str) -> Result<HttpResponse, AskError> {
    let Some(name) = parameter(query, "name") else {
        return Ok(failure(StatusCode::BAD_REQUEST, "the parameter `name` is missing"));
    };
    let (requested, limit) = (name.clone(), state.config.operator.max_size_bytes);
    let question =
        move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| look_up(engine, snapshot, &requested, limit);
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
    snapshot: &Snapshot,
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
    let file = &skill.summary.file;
    let limits = engine.settings_of(file.root)?.scripts;
    let problems = engine.problems(u32::MAX)?.into_iter().filter(|problem| problem.location == *file).collect();
    let opened = engine.files_of(file)?.and_then(|belonging| files::open(snapshot, &belonging));
    let files = opened.map(|opened| opened.files).unwrap_or_default();
    let text = snapshot.root(file.root).and_then(|root| root.file(&file.path, limit).text.clone().ok());
    Ok(Ok(LoadedSkill { skill, complete, text: text.unwrap_or_default(), files, limits, problems }))
}

fn view(loaded: LoadedSkill, state: &UiState, index: &Index) -> Value {
    let LoadedSkill { skill, complete, text, files, limits, problems } = loaded;
    let folder = local_folder(&skill, &state.roots);
    let FoundSkill { summary, .. } = skill;
    let Location { root: number, path: file } = summary.file;
    let root = state.roots.get(number as usize).map(SkillRoot::path).unwrap_or_default();
    // Other sources, such as settings, are not part of the text.
    let chain = complete.sources.iter().filter(|source| source.path.ends_with(".md"));
    let assets = complete.assets.into_iter().chain(complete.inherited_assets).map(AssetView::from);
    let runtime = |file: &str| state.config.scripts.runtime_of(file, Audience::Local).filter(|_| limits.enabled);
    let is_declared = |file: &SkillFile| complete.scripts.iter().any(|script| script.file == file.path);
    let is_script = |file: &SkillFile| runs_undeclared(&limits, &file.path) && runtime(&file.path).is_some();
    let undeclared =
        files.iter().filter(|file| summary.model == SkillModel::Folder && is_script(file) && !is_declared(file));
    let undeclared: Vec<Value> = undeclared.map(|file| undeclared_view(&file.path, &runtime)).collect();
    let declared = complete.scripts.into_iter().chain(complete.inherited_scripts);
    let scripts = declared.map(|script| script_view(script, &runtime)).chain(undeclared);
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
        // What the skill has on disk, relative to `folder`.
        "folder": visible(folder),
        "files": files.into_iter().map(|file| value!({"path": visible(file.path), "size": file.size})).collect::<Vec<_>>(),
        "problems": problems.into_iter().map(|problem| ProblemView::new(problem, &state.roots)).collect::<Vec<_>>(),
        // What the operator grants its scripts.
        "grant": state.config.grants.of(&root, &summary.skill_path).map(grant_view),
    })
}

fn chain_step(source: &Location, index: &Index) -> Value {
    let skill = index.skills.iter().find(|skill| skill.file.root == source.root && skill.file.path == source.path);
    value!({"address": skill.map(|skill| visible(skill.address.clone())), "file": visible(source.path.clone())})
}

fn script_view(mut script: Script, runtime: &impl Fn(&str) -> Option<String>) -> Value {
    let needs = script.needs.take().map(|Needs { read, write, variables, hosts }| {
        value!({"read": read, "write": write, "variables": variables, "hosts": hosts})
    });
    let runtime = runtime(&script.file).filter(|_| script.execution == Execution::Server);
    let mut view = value!(ScriptView { runtime, ..ScriptView::from(script) });
    view["needs"] = value!(needs);
    view["declared"] = value!(true);
    view
}

/// A script that a folder skill has but does not declare.
fn undeclared_view(file: &str, runtime: &impl Fn(&str) -> Option<String>) -> Value {
    let (runtime, file) = (runtime(file), visible(file.to_owned()));
    value!({"file": file, "description": "", "execution": "server", "runtime": runtime, "args": [], "declared": false})
}
