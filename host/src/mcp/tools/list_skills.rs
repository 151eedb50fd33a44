//! `list_skills`: the catalog as a tree.

use crate::bindings::catalog::Node;
use crate::mcp::answer::{Answer, MOST_BYTES, ToolError, json_length};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use serde::Serialize;
use std::collections::BTreeMap;

/// Deepest nesting of an answer. Folders are walked ten levels down.
const DEEPEST: u32 = 32;

pub async fn list_skills(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let path = arguments.text("path")?;
    arguments.finish()?;
    let wanted = path.clone();
    let answered = server.catalog.ask_all(move |engine, _| engine.tree(wanted.as_deref())).await?;
    Ok(match answered {
        Ok(nodes) => {
            let (nodes, left_out) = fitted(nodes);
            let note =
                (left_out > 0).then(|| format!("{left_out} more skills do not fit: ask for one category with `path`"));
            Answer::json_with_note(&nested(nodes), note)
        }
        Err(error) => Answer::no_skill(path.as_deref().unwrap_or_default(), &error),
    })
}

/// As many levels of the tree as one answer holds, or the beginning of its first level, and how many nodes that leaves out.
fn fitted(mut nodes: Vec<Node>) -> (Vec<Node>, usize) {
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
        used <= MOST_BYTES
    });
    let all = nodes.len();
    let deepest = fits.map(|(depth, _)| depth).last().unwrap_or(0);
    nodes.retain(|node| node.depth <= deepest);
    let mut used = 0;
    nodes.retain(|node| {
        used += size(node);
        used <= MOST_BYTES
    });
    let left_out = all - nodes.len();
    (nodes, left_out)
}

#[derive(Serialize)]
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

/// Puts nodes that come parents first below their parents.
fn nested(nodes: Vec<Node>) -> Vec<SkillNode> {
    // The nodes whose children may still come, each with its depth; the first stands for the answer itself.
    let mut open: Vec<(Option<u32>, SkillNode)> = vec![(None, SkillNode::top())];
    for node in nodes {
        // The depth comes from the engine, so it may be anything.
        let depth = Some(node.depth.min(DEEPEST));
        close(&mut open, depth);
        open.push((depth, SkillNode::from(node)));
    }
    close(&mut open, None);
    open.pop().map(|(_, top)| top.children).unwrap_or_default()
}

/// Hands every open node that is not above this depth to its parent.
fn close(open: &mut Vec<(Option<u32>, SkillNode)>, depth: Option<u32>) {
    while open.len() > 1 && open.last().is_some_and(|(last, _)| *last >= depth) {
        if let (Some((_, child)), Some((_, parent))) = (open.pop(), open.last_mut()) {
            parent.children.push(child);
        }
    }
}

impl SkillNode {
    fn top() -> Self {
        Self {
            name: String::new(),
            path: String::new(),
            description: String::new(),
            keywords: Vec::new(),
            asset_count: 0,
            script_count: 0,
            children: Vec::new(),
        }
    }
}

impl From<Node> for SkillNode {
    fn from(node: Node) -> Self {
        Self {
            name: node.name,
            path: node.path,
            description: node.description,
            keywords: node.keywords,
            asset_count: node.asset_count,
            script_count: node.script_count,
            children: Vec::new(),
        }
    }
}
