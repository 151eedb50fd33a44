//! What an author may want to mend in a file, beyond what keeps it from being served well.
//!
//! None of it is part of reading skills: it happens when somebody asks, file by file.

mod allowed;
mod collisions;
mod declared;
mod escapes;
mod fields;
mod front;
mod invisible;
mod links;
mod mends;
mod prose;
mod size;
mod targets;

pub use collisions::collision;

use crate::bindings::exports::skillcell::plugin::catalog::{
    Edit, Location, Problem, Remark, ReviewRequest, ScriptTerms,
};
use crate::bindings::skillcell::plugin::types::SkillModel;
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

/// Most remarks on one file: of those that count, and again of those that are silenced.
const MOST_PER_FILE: usize = 50;

/// A problem of a file, and the edits that mend it, if they are mechanical.
pub struct Found {
    pub finding: Finding,
    pub edits: Vec<Edit>,
}

impl From<Finding> for Found {
    fn from(finding: Finding) -> Self {
        Self { finding, edits: Vec::new() }
    }
}

/// A file under review.
pub struct Draft<'catalog> {
    pub root: &'catalog dyn Root,
    pub root_number: u32,
    pub folders: &'catalog Folders,
    /// Its path below the root.
    pub path: &'catalog str,
    pub text: &'catalog str,
    pub what: What<'catalog>,
}

/// What a file is.
pub enum What<'catalog> {
    Skill(Written<'catalog>),
    /// It would be a skill, were it not for its problems.
    NoSkill,
    /// Markdown that belongs to a skill. Where it is a tree skill itself, `owner` is the one in whose resource folder it is.
    Reference {
        owner: Option<&'catalog Skill>,
    },
    Script,
}

/// A skill, with what decides about its files.
pub struct Written<'catalog> {
    pub skill: &'catalog Skill,
    /// Path of the resource folder below the root, if there is one.
    pub resources: Option<&'catalog str>,
    pub terms: &'catalog ScriptTerms,
    /// Extensions that some runtime takes.
    pub runnable: &'catalog [String],
}

/// What is said about a file.
pub struct Review {
    pub remarks: Vec<Remark>,
    /// Codes that the file itself allows.
    pub allowed: BTreeSet<String>,
}

/// Reviews one file. `told` is what is wrong with it as a skill, and `beside` what follows from other skills.
pub fn review(draft: &Draft<'_>, told: Vec<Problem>, beside: Option<Found>, request: &ReviewRequest) -> Review {
    let front = draft.front();
    let mut found: Vec<Found> = beside.into_iter().collect();
    let mut allowed = BTreeSet::new();
    if matches!(draft.what, What::Script) {
        found.extend(invisible::invisible(draft.text, Kind::Script));
    } else {
        found.extend(invisible::mark(draft.text));
        found.extend(invisible::invisible(draft.text, Kind::Markdown));
        let prose = prose::prose(draft.text);
        let (codes, wrong) = allowed::allowed(draft.text, &prose, &request.other_codes);
        allowed = codes;
        found.extend(wrong);
        found.extend(front.iter().flat_map(|front| escapes::escapes(draft.text, front)));
        match &draft.what {
            What::Skill(written) => found.extend(of_skill(draft, written, front.as_ref(), &prose.text)),
            What::Reference { owner: Some(owner) } => found.push(hidden_skill(owner)),
            What::Reference { owner: None } | What::NoSkill | What::Script => {}
        }
    }
    let found =
        found.into_iter().map(|Found { finding, edits }| (finding.in_file(draft.root_number, draft.path), edits));
    let told = told.into_iter().map(|problem| (placed(problem, front.as_ref()), Vec::new()));
    let allow: Vec<String> = allowed.iter().chain(&request.allow).cloned().collect();
    let remark =
        |(problem, edits): (Problem, Vec<Edit>)| Remark { silenced: allow.contains(&problem.code), problem, edits };
    let file = Location { root: draft.root_number, path: draft.path.to_owned() };
    let mut remarks = few(&file, told.chain(found).map(remark).collect(), &allow);
    for remark in remarks.iter_mut().filter(|remark| remark.edits.is_empty()) {
        remark.edits = front.as_ref().map(|front| mends::mend(draft, front, &remark.problem)).unwrap_or_default();
    }
    Review { remarks, allowed }
}

/// As many as one file may have, with one that says how many there are: of those that count, and again of those that are
/// silenced. Those that can be mended come before others that are as bad.
pub fn few(file: &Location, remarks: Vec<Remark>, allow: &[String]) -> Vec<Remark> {
    let (mut silenced, mut loud): (Vec<Remark>, Vec<Remark>) = remarks.into_iter().partition(|remark| remark.silenced);
    loud.sort_by_key(|remark| !codes::find(&remark.problem.code).is_some_and(|code| code.mechanical));
    let more = problem::cut(&mut loud, MOST_PER_FILE, |remark| remark.problem.severity);
    let more = more.map(|finding| finding.in_file(file.root, &file.path));
    silenced.truncate(MOST_PER_FILE);
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

/// A problem at the best place there is for it.
fn placed(problem: Problem, front: Option<&Front>) -> Problem {
    let declared = front.filter(|_| problem.line.is_none() && problem.code == "no-resource-folder");
    match declared.and_then(|front| front.field("assets").or_else(|| front.field("scripts"))) {
        Some(entry) => Problem { line: Some(entry.place.line), column: Some(entry.place.column), ..problem },
        None => problem,
    }
}

/// What only the file of a skill is asked.
fn of_skill(draft: &Draft<'_>, written: &Written<'_>, front: Option<&Front>, prose: &str) -> Vec<Found> {
    let mut found = Vec::new();
    if let Some(front) = front {
        found.extend(fields::fields(draft, front));
        found.extend(declared::declared(draft, written, front));
    }
    found.extend(size::long_body(draft.text));
    found.extend(targets::targets(draft, written, prose));
    found
}

/// A tree skill in the resource folder of another.
fn hidden_skill(owner: &Skill) -> Found {
    let folder = quote(paths::without_extension(&owner.file));
    let message = format!("`{folder}` is the resource folder of `{}`, so this skill is not served", quote(&owner.file));
    let advice = "add an `_index.md` to the folder if it is a category, or rename it";
    Finding::warning("hidden-skills", message, advice).at(Place::START).into()
}

impl Draft<'_> {
    /// The front matter of a file that is a skill, or would be one.
    fn front(&self) -> Option<Front> {
        let is_folder = paths::last_segment(self.path) == SKILL_FILE;
        match self.what {
            What::Skill(_) | What::NoSkill if is_folder => Front::of(self.text, SkillModel::Folder),
            What::Skill(_) | What::NoSkill => Front::of(self.text, SkillModel::Tree),
            What::Reference { .. } | What::Script => None,
        }
    }

    /// The name of a file beside one that is not there, which somebody may have meant.
    fn close_file(&self, path: &str) -> Option<String> {
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

/// A text with edits, which are in order and do not overlap.
fn applied(text: &str, edits: &[Edit]) -> String {
    let mut mended = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        mended.push_str(&text[at..edit.start as usize]);
        mended.push_str(&edit.text);
        at = edit.end as usize;
    }
    mended.push_str(&text[at..]);
    mended
}

#[cfg(test)]
mod tests;
