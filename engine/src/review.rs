//! Lints files: finds what an author may want to fix beyond the problems of parsing.
//!
//! Runs only on request, file by file.

mod allowed;
mod collisions;
mod deception;
mod declared;
mod disguise;
mod escapes;
mod fields;
mod fixes;
mod front;
mod invisible;
mod links;
mod look_alikes;
mod prose;
mod size;
mod targets;

pub use collisions::{collision, look_alike, shadowed};
pub use disguise::not_text;
pub use look_alikes::LookAlikes;

use crate::bindings::exports::skillcell::plugin::catalog::{
    Edit, Location, Problem, Remark, ReviewRequest, ScriptLimits,
};
use crate::bindings::skillcell::plugin::types::{Severity, SkillModel};
use crate::catalog::Root;
use crate::codes;
use crate::folders::Folders;
use crate::paths;
use crate::place::Place;
use crate::problem::{self, Finding, quote};
use crate::settings::SETTINGS_FILE;
use crate::skill::{SKILL_FILE, Skill};
use crate::text::{edit_distance, fold};
use front::Front;
use invisible::Kind;
use std::collections::BTreeSet;

/// Maximum number of remarks per file; silenced ones are counted separately.
const MAX_PER_FILE: usize = 50;

/// A problem of a file, and the edits that fix it, if the fix is mechanical.
pub struct Diagnostic {
    pub finding: Finding,
    pub edits: Vec<Edit>,
}

impl From<Finding> for Diagnostic {
    fn from(finding: Finding) -> Self {
        Self { finding, edits: Vec::new() }
    }
}

/// A file under review.
pub struct Draft<'catalog> {
    pub root: &'catalog dyn Root,
    pub root_number: u32,
    pub folders: &'catalog Folders,
    /// Path below the root.
    pub path: &'catalog str,
    pub text: &'catalog str,
    pub kind: FileKind<'catalog>,
}

pub enum FileKind<'catalog> {
    Skill(SkillContext<'catalog>),
    /// It would be a skill if it had no errors.
    NotASkill,
    /// Markdown that belongs to a skill. If it is itself a tree skill, `owner` is the skill whose resource folder
    /// contains it.
    Reference {
        owner: Option<&'catalog Skill>,
    },
    Script,
}

/// A skill, with what applies to its files.
pub struct SkillContext<'catalog> {
    pub skill: &'catalog Skill,
    /// Path of the resource folder below the root, if there is one.
    pub resources: Option<&'catalog str>,
    pub terms: &'catalog ScriptLimits,
    /// Extensions of scripts that a runtime supports.
    pub runnable: &'catalog [String],
}

pub struct Review {
    pub remarks: Vec<Remark>,
    /// Codes that a comment in the file allows.
    pub allowed: BTreeSet<String>,
}

/// Reviews one file. `problems` are those from parsing; `collisions` come from other skills.
pub fn review(
    draft: &Draft<'_>,
    problems: Vec<Problem>,
    collisions: Vec<Diagnostic>,
    request: &ReviewRequest,
) -> Review {
    let front = draft.front();
    let mut found = collisions;
    let mut allowed = BTreeSet::new();
    if matches!(draft.kind, FileKind::Script) {
        found.extend(invisible::invisible(draft.text, Kind::Script));
        found.extend(disguise::disguise(draft.path, draft.text));
    } else {
        found.extend(invisible::mark(draft.text));
        found.extend(invisible::invisible(draft.text, Kind::Markdown));
        let prose = prose::prose(draft.text);
        let (codes, wrong) = allowed::allowed(draft.text, &prose, &request.other_codes);
        allowed = codes;
        found.extend(wrong);
        found.extend(deception::hidden(draft.text, &prose));
        found.extend(front.as_ref().and_then(deception::forged));
        found.extend(front.iter().flat_map(|front| escapes::escapes(draft.text, front)));
        match &draft.kind {
            FileKind::Skill(context) => found.extend(review_skill(draft, context, front.as_ref(), &prose.text)),
            FileKind::Reference { owner: Some(owner) } => found.push(hidden_skill(owner)),
            FileKind::Reference { owner: None } | FileKind::NotASkill | FileKind::Script => {}
        }
    }
    let found =
        found.into_iter().map(|Diagnostic { finding, edits }| (finding.in_file(draft.root_number, draft.path), edits));
    let problems = problems.into_iter().map(|problem| (with_place(problem, front.as_ref()), Vec::new()));
    let allow: Vec<String> = allowed.iter().chain(&request.allow).cloned().collect();
    let remark =
        |(problem, edits): (Problem, Vec<Edit>)| Remark { silenced: allow.contains(&problem.code), problem, edits };
    let file = Location { root: draft.root_number, path: draft.path.to_owned() };
    let mut remarks = limit_remarks(&file, problems.chain(found).map(remark).collect(), &allow);
    for remark in remarks.iter_mut().filter(|remark| remark.edits.is_empty()) {
        remark.edits = front.as_ref().map(|front| fixes::fix(draft, front, &remark.problem)).unwrap_or_default();
    }
    Review { remarks, allowed }
}

/// Limits the remarks of one file and adds one that counts the rest. Silenced remarks have a limit of their own. What may be
/// meant to deceive is kept first, so that no number of other problems hides it, and among equally severe remarks the
/// fixable ones.
pub fn limit_remarks(file: &Location, remarks: Vec<Remark>, allow: &[String]) -> Vec<Remark> {
    let (mut silenced, mut loud): (Vec<Remark>, Vec<Remark>) = remarks.into_iter().partition(|remark| remark.silenced);
    let is_deceptive = |remark: &Remark| codes::find(&remark.problem.code).is_some_and(|code| code.deceptive);
    let is_mechanical = |remark: &Remark| codes::find(&remark.problem.code).is_some_and(|code| code.mechanical);
    loud.sort_by_key(|remark| (!is_deceptive(remark), !is_mechanical(remark)));
    let more = problem::truncate(&mut loud, MAX_PER_FILE, |remark| {
        if is_deceptive(remark) { Severity::Error } else { remark.problem.severity }
    });
    let more = more.map(|finding| finding.in_file(file.root, &file.path));
    silenced.truncate(MAX_PER_FILE);
    let more = more.map(|problem| Remark { silenced: allow.contains(&problem.code), problem, edits: Vec::new() });
    let mut remarks: Vec<Remark> = loud.into_iter().chain(more).chain(silenced).collect();
    // A folder has no lines.
    let has_lines = file.path.ends_with(".md") || file.path == SETTINGS_FILE;
    for Remark { problem, .. } in remarks.iter_mut().filter(|remark| has_lines && remark.problem.line.is_none()) {
        (problem.line, problem.column) = (Some(Place::START.line), Some(Place::START.column));
    }
    remarks.sort_by(|left, right| {
        let place = |remark: &Remark| (remark.problem.line, remark.problem.column);
        place(left).cmp(&place(right)).then_with(|| left.problem.code.cmp(&right.problem.code))
    });
    remarks
}

/// Sets the best place for a problem that has none.
fn with_place(problem: Problem, front: Option<&Front>) -> Problem {
    let declared = front.filter(|_| problem.line.is_none() && problem.code == "no-resource-folder");
    match declared.and_then(|front| front.field("assets").or_else(|| front.field("scripts"))) {
        Some(entry) => Problem { line: Some(entry.place.line), column: Some(entry.place.column), ..problem },
        None => problem,
    }
}

/// Runs the checks that apply only to the file of a skill.
fn review_skill(draft: &Draft<'_>, context: &SkillContext<'_>, front: Option<&Front>, prose: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(front) = front {
        found.extend(fields::fields(draft, front));
        found.extend(declared::declared(draft, context, front));
    }
    found.extend(size::long_body(draft.text));
    found.extend(targets::targets(draft, context, prose));
    found
}

/// Reports a tree skill in the resource folder of another.
fn hidden_skill(owner: &Skill) -> Diagnostic {
    let folder = quote(paths::without_extension(&owner.file));
    let message = format!("`{folder}` is the resource folder of `{}`, so this skill is not served", quote(&owner.file));
    let advice = "add an `_index.md` to the folder if it is a category, or rename it";
    Finding::warning("hidden-skills", message, advice).at(Place::START).into()
}

impl Draft<'_> {
    /// Returns the front matter of a file that is or would be a skill.
    fn front(&self) -> Option<Front> {
        let is_folder = paths::last_segment(self.path) == SKILL_FILE;
        match self.kind {
            FileKind::Skill(_) | FileKind::NotASkill if is_folder => Front::of(self.text, SkillModel::Folder),
            FileKind::Skill(_) | FileKind::NotASkill => Front::of(self.text, SkillModel::Tree),
            FileKind::Reference { .. } | FileKind::Script => None,
        }
    }

    /// Returns the name of an existing file in the same folder that is similar to a missing one.
    fn similar_file(&self, path: &str) -> Option<String> {
        let wanted = fold(paths::last_segment(path));
        let far = 1 + wanted.len() / 8;
        let distance = |name: &String| edit_distance(&fold(name), &wanted);
        let names = self.root.list_files(paths::folder_of(path)?).into_iter();
        let close =
            names.filter(|name| name.len().abs_diff(wanted.len()) <= 2 * far).map(|name| (distance(&name), name));
        close.filter(|(distance, _)| *distance <= far).min().map(|(_, name)| name)
    }
}

fn edit(start: usize, end: usize, text: &str) -> Edit {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Edit { start: offset(start), end: offset(end), text: text.to_owned() }
}

/// Applies edits, which are sorted and do not overlap.
fn apply_edits(text: &str, edits: &[Edit]) -> String {
    let mut fixed = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        fixed.push_str(&text[at..edit.start as usize]);
        fixed.push_str(&edit.text);
        at = edit.end as usize;
    }
    fixed.push_str(&text[at..]);
    fixed
}

#[cfg(test)]
mod tests;
