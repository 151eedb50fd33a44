//! What an author may want to mend in a file, beyond what keeps it from being served well.
//!
//! None of it is part of reading skills: it happens when somebody asks, file by file.

mod allowed;
mod collisions;
mod declared;
mod fields;
mod front;
mod invisible;
mod links;
mod mends;
mod prose;
mod size;
mod targets;

pub use collisions::collision;

use crate::bindings::exports::skillcell::plugin::catalog::{Edit, Problem, Remark, ReviewRequest, ScriptTerms};
use crate::catalog::Root;
use crate::folders::Folders;
use crate::paths;
use crate::problem::Finding;
use crate::skill::Skill;
use crate::text::{edit_distance, fold};
use front::Front;
use invisible::Kind;
use std::collections::BTreeSet;

/// Most remarks on one file that the catalog knows nothing of: of those that count, and again of those that are silenced.
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
    /// Markdown that belongs to a skill.
    Reference,
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

/// Reviews one file. `told` is what the catalog says about it, and `beside` what follows from other skills.
pub fn review(draft: &Draft<'_>, told: &[Problem], beside: Option<Found>, request: &ReviewRequest) -> Review {
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
        if let What::Skill(written) = &draft.what {
            found.extend(of_skill(draft, written, &prose.text));
        }
    }
    let is_silent = |code: &str| allowed.contains(code) || request.allow.iter().any(|silent| silent == code);
    let (silenced, loud): (Vec<Found>, Vec<Found>) = found.into_iter().partition(|found| is_silent(found.finding.code));
    let told = told.iter().map(|problem| Remark {
        edits: mends::mend(draft, problem),
        silenced: is_silent(&problem.code),
        problem: problem.clone(),
    });
    let remark = |silenced: bool| {
        move |Found { finding, edits }: Found| Remark {
            problem: finding.in_file(draft.root_number, draft.path),
            edits,
            silenced,
        }
    };
    let few = few(loud).into_iter().map(remark(false));
    let silenced = silenced.into_iter().take(MOST_PER_FILE).map(remark(true));
    let mut remarks: Vec<Remark> = told.chain(few).chain(silenced).collect();
    remarks.sort_by(|left, right| {
        let place = |remark: &Remark| (remark.problem.line, remark.problem.column);
        place(left).cmp(&place(right)).then_with(|| left.problem.code.cmp(&right.problem.code))
    });
    Review { remarks, allowed }
}

/// What only the file of a skill is asked.
fn of_skill(draft: &Draft<'_>, written: &Written<'_>, prose: &str) -> Vec<Found> {
    let mut found = Vec::new();
    if let Some(front) = Front::of(draft.text, written.skill.model) {
        found.extend(fields::fields(draft, &front));
        found.extend(declared::declared(draft, written, &front));
    }
    found.extend(size::long_body(draft.text));
    found.extend(targets::targets(draft, written, prose));
    found
}

/// As many as one file may have, with one that says how many there are.
fn few(mut found: Vec<Found>) -> Vec<Found> {
    let more = found.len().saturating_sub(MOST_PER_FILE);
    if more > 0 {
        found.truncate(MOST_PER_FILE);
        let message = format!("{more} more problems in this file");
        found.push(Finding::warning("more-problems", message, "mend the first ones and look again").into());
    }
    found
}

impl Draft<'_> {
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
