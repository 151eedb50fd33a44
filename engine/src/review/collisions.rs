//! Names that several folder skills have.

use super::Diagnostic;
use super::front::Front;
use super::look_alikes::{self, LookAlikes};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::index::Index;
use crate::place::Place;
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
    let named = |other: &usize| format!("`{}`", quote(&file_of(index, *other, skill.root, roots)));
    let files: Vec<String> = others.iter().take(MAX_NAMED).map(named).collect();
    let more = match others.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("the name `{}` is also used by {}{more}", quote(&skill.name), files.join(", "));
    let advice = format!("rename one of them; until then `{}` finds this one", quote(&index.display_name(number)));
    Some(at_name(Finding::warning("name-collision", message, advice), text, skill.model))
}

/// Reports another skill whose name looks like this one's.
pub fn look_alike(
    index: &Index,
    look_alikes: &LookAlikes,
    number: usize,
    roots: &[String],
    text: &str,
) -> Option<Diagnostic> {
    let skill = index.skill(number);
    let other = look_alikes.of(index, number)?;
    let (own, name) = (look_alikes::name(index, number), look_alikes::name(index, other));
    let file = file_of(index, other, skill.root, roots);
    let message = format!("the name `{}` looks like `{}`, the name of `{}`", spelled(own), spelled(name), quote(&file));
    let advice = "find out where each comes from, and rename or remove one of them";
    Some(at_name(Finding::warning("look-alike-name", message, advice), text, skill.model))
}

/// Reports a tree skill whose path finds a skill of an earlier root.
pub fn shadowed(index: &Index, number: usize, roots: &[String]) -> Option<Diagnostic> {
    let skill = index.skill(number);
    let first = index.names.by_address(index, &skill.skill_path)?;
    if skill.model != SkillModel::Tree || index.skill(first).root == skill.root {
        return None;
    }
    let (path, file) = (quote(&skill.skill_path), quote(&file_of(index, first, skill.root, roots)));
    let message = format!("`{file}` takes precedence for the path `{path}`");
    let advice = format!("rename one of them; until then `{}` finds this one", quote(&index.display_name(number)));
    Some(Finding::warning("same-path", message, advice).at(Place::START).into())
}

/// Spells the letters out that are not those of a keyboard.
fn spelled(name: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii() { letter.to_string() } else { letter.escape_unicode().to_string() };
    quote(name).chars().map(letter).collect()
}

/// Returns the file of a skill, after the prefix of its root if that is another one.
fn file_of(index: &Index, number: usize, root: u32, roots: &[String]) -> String {
    let other = index.skill(number);
    if other.root == root { other.file.clone() } else { format!("{}{}", roots[other.root as usize], other.file) }
}

fn at_name(finding: Finding, text: &str, model: SkillModel) -> Diagnostic {
    let place = Front::of(text, model).and_then(|front| front.fields.get("name").map(|entry| entry.node.place));
    place.map_or(finding.clone(), |place| finding.at(place)).into()
}
