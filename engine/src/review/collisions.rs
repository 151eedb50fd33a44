//! Names that several folder skills have.

use super::Diagnostic;
use super::front::Front;
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::index::Index;
use crate::problem::{Finding, quote};

/// Maximum number of skills that a message names.
const MAX_NAMED: usize = 3;

/// Reports other folder skills with the same name. `roots` are the prefixes of paths in other roots.
pub fn collision(index: &Index, number: usize, roots: &[String], text: &str) -> Option<Diagnostic> {
    let skill = index.skill(number);
    let others = index.names.name_conflicts(index, number);
    if skill.model != SkillModel::Folder || others.is_empty() {
        return None;
    }
    let named = |number: &usize| {
        let other = index.skill(*number);
        let file = if other.root == skill.root {
            other.file.clone()
        } else {
            format!("{}{}", roots[other.root as usize], other.file)
        };
        format!("`{}`", quote(&file))
    };
    let files: Vec<String> = others.iter().take(MAX_NAMED).map(named).collect();
    let more = match others.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("the name `{}` is also used by {}{more}", quote(&skill.name), files.join(", "));
    let advice = format!("rename one of them; until then `{}` finds this one", quote(index.display_name(number)));
    let finding = Finding::warning("name-collision", message, advice);
    let place = Front::of(text, skill.model).and_then(|front| front.fields.get("name").map(|entry| entry.node.place));
    Some(place.map_or(finding.clone(), |place| finding.at(place)).into())
}
