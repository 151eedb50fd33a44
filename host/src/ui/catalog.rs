//! The catalog as a tree, with its roots and their problems.

use super::UiState;
use bindings::catalog::Node;
use catalog::AskError;
use library::roots::{RootKind, SkillRoot};
use serde_json::{Value, json};
use std::io::ErrorKind;
use views::problem::ProblemView;
use views::tree::visible_node;

/// Problems in one response. `skillcell lint` lists them all.
const MAX_PROBLEMS: usize = 500;

pub async fn catalog(state: &UiState) -> Result<Value, AskError> {
    let generation = state.catalog.news().borrow().generation;
    let answer = state.catalog.ask_all(|engine, _| Ok((engine.tree(None)?, engine.problems(u32::MAX)?)));
    let (nodes, problems) = answer.await?;
    let index = state.catalog.index().await?;
    let problems_left_out = problems.len().saturating_sub(MAX_PROBLEMS);
    let problems = problems.into_iter().take(MAX_PROBLEMS).map(|problem| ProblemView::new(problem, &state.roots));
    let skills_in = |number: u32| index.skills.iter().filter(|skill| skill.file.root == number).count();
    let roots = (0..).zip(state.roots.iter());
    let roots = roots.filter_map(|(number, root)| root_view(root, skills_in(number), &state.roots));
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        // The page reloads the catalog when another response has a later one.
        "generation": generation,
        "skills": index.skills.len(),
        "roots": roots.collect::<Vec<_>>(),
        "nodes": nodes.unwrap_or_default().into_iter().map(node_view).collect::<Vec<_>>(),
        "problems": problems.collect::<Vec<_>>(),
        "problems_left_out": problems_left_out,
    }))
}

/// Returns `None` for a missing root inside another one: it would only count if it existed.
fn root_view(root: &SkillRoot, skills: usize, all: &[SkillRoot]) -> Option<Value> {
    let path = root.path();
    let state = match root.open().map_err(|error| error.kind()) {
        Ok(_) => "there",
        Err(ErrorKind::NotFound) => {
            let is_inside = all.iter().map(SkillRoot::path).any(|other| other != path && path.starts_with(other));
            if is_inside {
                return None;
            }
            "missing"
        }
        Err(_) => "unreadable",
    };
    let kind = match root.kind {
        RootKind::Folder => "folder",
        RootKind::Project => "project",
        RootKind::User => "user",
        RootKind::Plugin => "plugin",
    };
    let path = path.display().to_string();
    Some(json!({"label": root.label, "path": path, "kind": kind, "state": state, "skills": skills}))
}

/// Parents come before their children; `depth` gives the nesting.
fn node_view(node: Node) -> Value {
    let node = visible_node(node);
    json!({
        "depth": node.depth,
        "name": node.name,
        "path": node.path,
        "description": node.description,
        "keywords": node.keywords,
        "assets": node.asset_count,
        "scripts": node.script_count,
    })
}
