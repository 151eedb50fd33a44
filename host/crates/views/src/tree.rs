//! A node of the tree in `list_skills` and on the page.

use base::printable::visible;
use bindings::catalog::Node;

/// Returns a node with texts that are safe to show.
pub fn visible_node(node: Node) -> Node {
    let Node { name, path, description, keywords, .. } = node;
    let keywords = keywords.into_iter().map(visible).collect();
    Node { name: visible(name), path: visible(path), description: visible(description), keywords, ..node }
}
