//! `list_skills`: the catalog as a tree.

use crate::bindings::catalog::Node;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use serde::Serialize;

pub async fn list_skills(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let path = arguments.text("path")?;
    arguments.finish()?;
    server.catalog.refresh().await;
    let wanted = path.clone();
    let answered = server.catalog.ask(move |engine| engine.tree(wanted.as_deref())).await?;
    Ok(match answered.answer {
        Ok(nodes) => Answer::json(&nested(nodes)),
        Err(error) => Answer::no_skill(path.as_deref().unwrap_or_default(), &error),
    })
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
        close(&mut open, Some(node.depth));
        open.push((Some(node.depth), SkillNode::from(node)));
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
