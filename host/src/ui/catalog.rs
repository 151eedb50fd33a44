//! The catalog as a tree, with its roots.

use super::UiState;
use base::printable::visible;
use bindings::catalog::Node;
use catalog::{AskError, Listed};
use library::roots::{RootKind, SkillRoot};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::ErrorKind;
use views::skill::model_name;
use views::tree::visible_node;

pub async fn catalog(state: &UiState) -> Result<Value, AskError> {
    let generation = state.catalog.news().borrow().generation;
    let nodes = state.catalog.ask_all(|engine, _| engine.tree(None)).await?;
    let index = state.catalog.index().await?;
    let listed: HashMap<&str, &Listed> = index.skills.iter().map(|skill| (skill.address.as_str(), &**skill)).collect();
    let skills_in = |number: u32| index.skills.iter().filter(|skill| skill.file.root == number).count();
    let roots = (0..).zip(state.roots.iter());
    let roots = roots.filter_map(|(number, root)| root_view(root, skills_in(number), &state.roots));
    let nodes = nodes.unwrap_or_default().into_iter();
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        // The page reloads the catalog when another response has a later one.
        "generation": generation,
        "skills": index.skills.len(),
        "roots": roots.collect::<Vec<_>>(),
        "nodes": nodes.map(|node| node_view(node, &listed)).collect::<Vec<_>>(),
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

/// Parents come before their children; `depth` gives the nesting. A root has no `file`.
fn node_view(node: Node, listed: &HashMap<&str, &Listed>) -> Value {
    let skill = listed.get(node.path.as_str());
    let (file, model) =
        (skill.map(|skill| visible(skill.file.path.clone())), skill.map(|skill| model_name(skill.model)));
    let node = visible_node(node);
    json!({
        "depth": node.depth,
        "name": node.name,
        "path": node.path,
        "file": file,
        "model": model,
        "description": node.description,
        "keywords": node.keywords,
    })
}
