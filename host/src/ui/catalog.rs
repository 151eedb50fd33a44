//! The catalog as a tree, with its roots and what is wrong in them.

use super::Shown;
use crate::bindings::catalog::Node;
use crate::catalog::AskError;
use crate::library::roots::{RootKind, SkillRoot};
use crate::mcp::tools::problem_view::ProblemView;
use serde::Serialize;
use std::io::ErrorKind;

/// Most problems that the page is told. Whoever has more works with `skillcell lint`.
const MOST_PROBLEMS: usize = 500;

#[derive(Serialize)]
pub struct CatalogView {
    version: &'static str,
    /// The page asks again when it hears of a later one.
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

/// Parents come before their children, and the nesting is in the depth.
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

pub async fn catalog(shown: &Shown) -> Result<CatalogView, AskError> {
    let generation = shown.catalog.news().borrow().generation;
    let asked = shown.catalog.ask_all(|engine, _| Ok((engine.tree(None)?, engine.problems(u32::MAX)?)));
    let (nodes, mut problems) = asked.await?;
    let index = shown.catalog.index().await?;
    let problems_left_out = problems.len().saturating_sub(MOST_PROBLEMS);
    problems.truncate(MOST_PROBLEMS);
    let here = |number: u32| index.skills.iter().filter(|skill| skill.file.root == number).count();
    let roots = (0..).zip(shown.roots.iter()).filter_map(|(number, root)| view(root, here(number), &shown.roots));
    Ok(CatalogView {
        version: env!("CARGO_PKG_VERSION"),
        generation,
        skills: index.skills.len(),
        roots: roots.collect(),
        nodes: nodes.unwrap_or_default().into_iter().map(NodeView::from).collect(),
        problems: problems.into_iter().map(|problem| ProblemView::new(problem, &shown.roots)).collect(),
        problems_left_out,
    })
}

/// Nothing for a place inside a folder that was given, in which skills would count and are not.
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
