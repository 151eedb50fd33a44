//! A review of everything, a few files at a time.

use super::{Catalog, Contents, count};
use crate::bindings::exports::skillcell::plugin::catalog::{
    Duplicates, Location, Problem, Remark, ReviewPage, ReviewRequest, ReviewedFile,
};
use crate::folders::INDEX_FILE;
use crate::paths;
use crate::problem::Finding;
use crate::review::{self, Draft, Review, What, Written};
use crate::settings::{self, SETTINGS_FILE};
use crate::skill::{self, SKILL_FILE, Skill};
use std::borrow::Cow;

/// About as much text as one call looks at, in bytes: far less than there is time for.
const TEXT_AT_ONCE: usize = 4 << 20;

/// Most edits of one call, so that files full of what has to be mended do not fill the memory together.
const EDITS_AT_ONCE: usize = 100_000;

/// A script that is no text.
const WASM: &str = ".wasm";

/// A file that has to be looked at.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place<'catalog> {
    root: u32,
    path: Cow<'catalog, str>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Something that may be a skill, or a folder or settings with problems.
    Candidate,
    Reference,
    Script,
}

impl Catalog {
    /// What authors may want to mend, from a position in the list of all files on.
    pub fn review(&self, request: &ReviewRequest) -> ReviewPage {
        let places = self.places();
        let mut page = ReviewPage { total: count(places.len()), next: None, files: Vec::new() };
        let (mut bytes, mut edits) = (0, 0);
        for (position, place) in places.iter().enumerate().skip(request.start as usize) {
            if bytes >= TEXT_AT_ONCE || edits >= EDITS_AT_ONCE {
                page.next = Some(count(position));
                break;
            }
            let (length, reviewed) = self.review_file(place, request);
            bytes += length;
            edits += reviewed.remarks.iter().map(|remark| remark.edits.len()).sum::<usize>();
            if !reviewed.remarks.is_empty() || !reviewed.allowed.is_empty() {
                page.files.push(reviewed);
            }
        }
        page
    }

    /// Every file that is a skill or belongs to one, and every other place with a problem; each once, in order.
    fn places(&self) -> Vec<Place<'_>> {
        let mut places: Vec<Place<'_>> = Vec::new();
        let candidate = |root, path| Place { root, path: Cow::Borrowed(path), kind: Kind::Candidate };
        for Problem { location, .. } in &self.problems {
            places.push(candidate(location.root, &location.path));
        }
        for (number, skill) in self.shelf.skills() {
            places.push(candidate(skill.root, &skill.file));
            let (Some(resources), Some(contents)) =
                (self.shelf.resources(number), self.contents.get(skill.root as usize))
            else {
                continue;
            };
            for script in skill.scripts.iter().filter(|script| !script.file.ends_with(WASM)) {
                let path = Cow::Owned(paths::join(resources, &script.file));
                places.push(Place { root: skill.root, path, kind: Kind::Script });
            }
            for path in contents.folders.markdown_below(resources).filter(|path| !contents.files.contains_key(path)) {
                places.push(Place { root: skill.root, path: Cow::Owned(path), kind: Kind::Reference });
            }
        }
        places.sort_unstable();
        places.dedup_by(|later, first| (later.root, &later.path) == (first.root, &first.path));
        places
    }

    /// What is to be said about one file, and how much text it has.
    fn review_file(&self, place: &Place<'_>, request: &ReviewRequest) -> (usize, ReviewedFile) {
        let file = Location { root: place.root, path: place.path.clone().into_owned() };
        let contents = self.contents.get(place.root as usize);
        let told = self.told(&file, contents);
        let text = contents.and_then(|contents| self.text_of(place, contents));
        let Some((contents, text)) = text else {
            let silent = |problem: &Problem| request.allow.contains(&problem.code);
            let remark = |problem: Problem| Remark { silenced: silent(&problem), problem, edits: Vec::new() };
            let remarks = review::few(&file, told.into_iter().map(remark).collect(), &request.allow);
            return (0, ReviewedFile { file, remarks, allowed: Vec::new() });
        };
        let number = self.shelf.number_of(&file).filter(|_| place.kind == Kind::Candidate);
        let what = match (place.kind, number) {
            (Kind::Script, _) => What::Script,
            (Kind::Reference, _) => {
                What::Reference { owner: self.owner_of(&file).filter(|_| is_tree_skill(&file, &text)) }
            }
            (Kind::Candidate, None) => What::NoSkill,
            (Kind::Candidate, Some(number)) => What::Skill(Written {
                skill: self.shelf.skill(number),
                resources: self.shelf.resources(number),
                terms: &self.settings[place.root as usize].scripts,
                runnable: &request.runnable,
            }),
        };
        let beside = number
            .filter(|_| self.duplicates == Duplicates::Refuse)
            .and_then(|number| review::collision(&self.shelf, number, &self.names_of_roots(request), &text));
        let draft = Draft {
            root: self.roots[place.root as usize].as_ref(),
            root_number: place.root,
            folders: &contents.folders,
            path: &place.path,
            text: &text,
            what,
        };
        let Review { remarks, allowed } = review::review(&draft, told, beside, request);
        (text.len(), ReviewedFile { file, remarks, allowed: allowed.into_iter().collect() })
    }

    /// What is wrong with a file, also what the catalog does not keep.
    fn told(&self, file: &Location, contents: Option<&Contents>) -> Vec<Problem> {
        let told = self.problems_at(file);
        let is_cut = told.iter().any(|problem| problem.code == "more-problems");
        let Some(contents) = contents.filter(|_| is_cut) else { return told.to_vec() };
        let Ok(text) = self.roots[file.root as usize].read_text(&file.path) else { return told.to_vec() };
        let all = match file.path.as_str() {
            SETTINGS_FILE => settings::read(&text, &self.operator).1,
            path => skill::read(file.root, &contents.folder_name, path, &text).1,
        };
        let in_file = |finding: &Finding| finding.in_file(file.root, &file.path);
        let kept: Vec<Problem> = contents.findings(&file.path).iter().map(in_file).collect();
        let others = told.iter().filter(|problem| !kept.contains(problem)).cloned();
        others.chain(all.iter().map(in_file)).collect()
    }

    /// The tree skill whose resource folder a file is in.
    fn owner_of(&self, file: &Location) -> Option<&Skill> {
        let folders = std::iter::successors(paths::folder_of(&file.path), |folder| paths::folder_of(folder));
        folders.filter(|folder| !folder.is_empty()).find_map(|folder| {
            let number = self.shelf.number_of(&Location { root: file.root, path: format!("{folder}.md") })?;
            (self.shelf.resources(number) == Some(folder)).then(|| self.shelf.skill(number))
        })
    }

    /// What stands in front of a path in another root.
    fn names_of_roots(&self, request: &ReviewRequest) -> Vec<String> {
        let name = |(number, label): (usize, &String)| match request.folders.get(number) {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => folder.clone(),
            Some(folder) => format!("{folder}/"),
            None => format!("{label}:"),
        };
        self.labels.iter().enumerate().map(name).collect()
    }

    /// The text of a file that has one. Settings and folders are told about, and not looked into.
    fn text_of<'catalog>(
        &self,
        place: &Place<'_>,
        contents: &'catalog Contents,
    ) -> Option<(&'catalog Contents, String)> {
        let is_read = match place.kind {
            Kind::Candidate => contents.files.contains_key(place.path.as_ref()),
            Kind::Reference | Kind::Script => true,
        };
        let text = is_read.then(|| self.roots[place.root as usize].read_text(&place.path).ok()).flatten()?;
        Some((contents, text))
    }

    /// What the catalog says about a file.
    fn problems_at(&self, file: &Location) -> &[Problem] {
        let compared = |problem: &Problem| {
            let Location { root, path } = &problem.location;
            (root, path).cmp(&(&file.root, &file.path))
        };
        let start = self.problems.partition_point(|problem| compared(problem).is_lt());
        let rest = &self.problems[start..];
        &rest[..rest.partition_point(|problem| compared(problem).is_le())]
    }
}

/// Whether a file would be a tree skill in another place. Of files that only make a folder a skill or a category, the skill is
/// told in whose resource folder they are.
fn is_tree_skill(file: &Location, text: &str) -> bool {
    let is_told = matches!(paths::last_segment(&file.path), SKILL_FILE | INDEX_FILE);
    !is_told && skill::read(file.root, "", &file.path, text).0.is_some()
}
