//! The catalog as a tree, with its roots and their problems.

use super::UiState;
use bindings::catalog::Node;
use catalog::AskError;
use library::roots::{RootKind, SkillRoot};
use serde::Serialize;
use std::io::ErrorKind;
use views::problem::ProblemView;

/// Problems in one response. `skillcell lint` lists them all.
const MAX_PROBLEMS: usize = 500;

#[derive(Serialize)]
pub struct CatalogView {
    version: &'static str,
    /// The page reloads the catalog when another response has a later one.
    generation: u64,
    skills: usize,
    roots: Vec<RootView>,
    nodes: Vec<NodeView>,
    problems: Vec<ProblemView>,
    problems_left_out: usize,
}

#[derive(Serialize)]
struct RootView {
    label: String,
    path: String,
    kind: &'static str,
    /// `there`, `missing` or `unreadable`.
    state: &'static str,
    skills: usize,
}

/// Parents come before their children; `depth` gives the nesting.
#[derive(Serialize)]
struct NodeView {
    depth: u32,
    name: String,
    path: String,
    description: String,
    keywords: Vec<String>,
    assets: u32,
    scripts: u32,
}

pub async fn catalog(state: &UiState) -> Result<CatalogView, AskError> {
    let generation = state.catalog.news().borrow().generation;
    let answer = state.catalog.ask_all(|engine, _| Ok((engine.tree(None)?, engine.problems(u32::MAX)?)));
    let (nodes, mut problems) = answer.await?;
    let index = state.catalog.index().await?;
    let problems_left_out = problems.len().saturating_sub(MAX_PROBLEMS);
    problems.truncate(MAX_PROBLEMS);
    let skills_in = |number: u32| index.skills.iter().filter(|skill| skill.file.root == number).count();
    let roots = (0..).zip(state.roots.iter()).filter_map(|(number, root)| view(root, skills_in(number), &state.roots));
    Ok(CatalogView {
        version: env!("CARGO_PKG_VERSION"),
        generation,
        skills: index.skills.len(),
        roots: roots.collect(),
        nodes: nodes.unwrap_or_default().into_iter().map(NodeView::from).collect(),
        problems: problems.into_iter().map(|problem| ProblemView::new(problem, &state.roots)).collect(),
        problems_left_out,
    })
}

/// Returns `None` for a missing root inside another one: it would only count if it existed.
fn view(root: &SkillRoot, skills: usize, all: &[SkillRoot]) -> Option<RootView> {
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
    Some(RootView { label: root.label.clone(), path: path.display().to_string(), kind, state, skills })
}

impl From<Node> for NodeView {
    fn from(node: Node) -> Self {
        Self {
            depth: node.depth,
            name: node.name,
            path: node.path,
            description: node.description,
            keywords: node.keywords,
            assets: node.asset_count,
            scripts: node.script_count,
        }
    }
}
