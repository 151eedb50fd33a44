//! Names that several skills have.

use super::Found;
use super::front::Front;
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::problem::{Finding, quote};
use crate::shelf::Shelf;

/// Most other skills that a message names.
const MOST_NAMED: usize = 3;

/// Other folder skills that have the name of this one. `text` is that of its file, and `roots` are what stands in front of a
/// path in another root.
pub fn collision(shelf: &Shelf, number: usize, roots: &[String], text: &str) -> Option<Found> {
    let skill = shelf.skill(number);
    let others = shelf.names.namesakes(shelf, number);
    if skill.model != SkillModel::Folder || others.is_empty() {
        return None;
    }
    let named = |number: &usize| {
        let other = shelf.skill(*number);
        let file = if other.root == skill.root {
            other.file.clone()
        } else {
            format!("{}{}", roots[other.root as usize], other.file)
        };
        format!("`{}`", quote(&file))
    };
    let files: Vec<String> = others.iter().take(MOST_NAMED).map(named).collect();
    let more = match others.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("the name `{}` is also that of {}{more}", quote(&skill.name), files.join(", "));
    let advice = format!("rename one of them; until then `{}` finds this one", quote(shelf.shown_name(number)));
    let finding = Finding::warning("name-collision", message, advice);
    let place = Front::of(text, skill.model).and_then(|front| front.fields.get("name").map(|entry| entry.node.place));
    Some(place.map_or(finding.clone(), |place| finding.at(place)).into())
}
