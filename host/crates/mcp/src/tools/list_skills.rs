//! `list_skills`: the catalog as a tree.

use super::{Hints, Tool, ToolName};
use crate::answer::{self, Answer, MAX_BYTES, Result, failed};
use crate::server::Server;
use bindings::catalog::Node;
use call::Call;
use rmcp::model::ContentBlock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use views::json_length;
use views::tree::visible_node;

/// The deepest nesting of an answer. Folders are walked ten levels down.
const MAX_DEPTH: u32 = 32;

#[derive(Deserialize, JsonSchema)]
pub struct ListSkills {
    path: Option<String>,
}

impl Tool for ListSkills {
    const NAME: &'static str = "list_skills";
    const TITLE: &'static str = "Browse skills as a tree";
    const PURPOSE: &'static str = "Browse the skills as a tree of categories.";
    const HINTS: Hints = &[(ToolName::SkillsList, "get a flat list")];

    async fn call(self, server: &Server, _: &Call) -> Result<Answer> {
        let path = self.path.clone();
        let tree = server.catalog.ask_all(move |engine, _| engine.tree(path.as_deref())).await.map_err(failed)?;
        Ok(match tree {
            Ok(nodes) => {
                let (nodes, omitted) = fit(nodes.into_iter().map(visible_node).collect());
                let mut answer = answer::json(&nest(nodes));
                if omitted > 0 {
                    let note = format!("{omitted} more skills do not fit: request one category with `path`");
                    answer.content.push(ContentBlock::text(note));
                }
                answer
            }
            Err(error) => answer::no_skill(self.path.as_deref().unwrap_or_default(), &error),
        })
    }
}

/// Keeps as many levels of the tree as fit into one answer, or the beginning of its first level. Returns how many nodes are
/// omitted.
fn fit(mut nodes: Vec<Node>) -> (Vec<Node>, usize) {
    let size = |node: &Node| {
        let texts = [&node.name, &node.path, &node.description].into_iter().chain(&node.keywords);
        // Field names and punctuation come on top of the texts.
        90 + texts.map(|text| json_length(text) + 1).sum::<usize>()
    };
    let mut levels: BTreeMap<u32, usize> = BTreeMap::new();
    for node in &nodes {
        *levels.entry(node.depth).or_default() += size(node);
    }
    let mut used = 0;
    let fits = levels.into_iter().take_while(|(_, bytes)| {
        used += bytes;
        used <= MAX_BYTES
    });
    let all = nodes.len();
    let deepest = fits.map(|(depth, _)| depth).last().unwrap_or(0);
    nodes.retain(|node| node.depth <= deepest);
    let mut used = 0;
    nodes.retain(|node| {
        used += size(node);
        used <= MAX_BYTES
    });
    let omitted = all - nodes.len();
    (nodes, omitted)
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct SkillNode {
    name: String,
    path: String,
    description: String,
    keywords: Vec<String>,
    asset_count: u32,
    script_count: u32,
    children: Vec<SkillNode>,
}

/// Nests nodes, which come parents first, below their parents.
fn nest(nodes: Vec<Node>) -> Vec<SkillNode> {
    // The nodes whose children may still come, each with its depth; the first is the answer itself.
    let mut open: Vec<(Option<u32>, SkillNode)> = vec![(None, SkillNode::default())];
    for node in nodes {
        let Node { name, path, description, keywords, asset_count, script_count, depth, .. } = node;
        // The depth comes from the engine, so it may be anything.
        let depth = Some(depth.min(MAX_DEPTH));
        close(&mut open, depth);
        let children = Vec::new();
        open.push((depth, SkillNode { name, path, description, keywords, asset_count, script_count, children }));
    }
    close(&mut open, None);
    open.pop().map(|(_, top)| top.children).unwrap_or_default()
}

/// Moves every open node that is not above this depth into its parent.
fn close(open: &mut Vec<(Option<u32>, SkillNode)>, depth: Option<u32>) {
    while open.len() > 1
        && let Some((_, child)) = open.pop_if(|(last, _)| *last >= depth)
    {
        open.last_mut().expect("the answer itself stays open").1.children.push(child);
    }
}
