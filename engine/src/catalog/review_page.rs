//! Reviews all files, one page per call.

use super::{Catalog, Contents, count};
use crate::bindings::exports::skillcell::plugin::catalog::{
    Duplicates, Location, Problem, Remark, ReviewPage, ReviewRequest, ReviewedFile,
};
use crate::bindings::skillcell::plugin::library::ReadError;
use crate::folders::INDEX_FILE;
use crate::paths;
use crate::problem::Finding;
use crate::review::{self, Diagnostic, Draft, FileKind, LookAlikes, Review, SkillContext};
use crate::settings::{self, SETTINGS_FILE};
use crate::skill::{self, SKILL_FILE, Skill};
use std::borrow::Cow;

/// Bytes of text after which a page ends; well within the time limit of a call.
const PAGE_BYTES: usize = 4 << 20;

/// Edits after which a page ends, to bound memory when many files need fixes.
const PAGE_EDITS: usize = 100_000;

/// Extension of scripts that are not text.
const WASM: &str = ".wasm";

/// A file to review.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Target<'catalog> {
    root: u32,
    path: Cow<'catalog, str>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A possible skill, or a folder or settings file with problems.
    Candidate,
    Reference,
    Script,
}

impl Catalog {
    /// Reviews files, starting at a position in the list of all files.
    pub fn review(&self, request: &ReviewRequest) -> ReviewPage {
        let targets = self.targets();
        let mut page = ReviewPage { total: count(targets.len()), next: None, files: Vec::new() };
        let look_alikes = LookAlikes::new(&self.index);
        let (mut bytes, mut edits) = (0, 0);
        for (position, target) in targets.iter().enumerate().skip(request.start as usize) {
            if bytes >= PAGE_BYTES || edits >= PAGE_EDITS {
                page.next = Some(count(position));
                break;
            }
            let (length, reviewed) = self.review_file(target, &look_alikes, request);
            bytes += length;
            edits += reviewed.remarks.iter().map(|remark| remark.edits.len()).sum::<usize>();
            if !reviewed.remarks.is_empty() || !reviewed.allowed.is_empty() {
                page.files.push(reviewed);
            }
        }
        page
    }

    /// Returns every file that is a skill or belongs to one, and every other path with a problem; each once, sorted.
    fn targets(&self) -> Vec<Target<'_>> {
        let mut targets: Vec<Target<'_>> = Vec::new();
        let candidate = |root, path| Target { root, path: Cow::Borrowed(path), kind: Kind::Candidate };
        for (root, path) in self.problems.keys() {
            targets.push(candidate(*root, path));
        }
        for (number, skill) in self.index.skills() {
            targets.push(candidate(skill.root, &skill.file));
            let (Some(resources), Some(contents)) =
                (self.index.resources(number), self.contents.get(skill.root as usize))
            else {
                continue;
            };
            for script in skill.scripts.iter().filter(|script| !script.file.ends_with(WASM)) {
                let path = Cow::Owned(paths::join(resources, &script.file));
                targets.push(Target { root: skill.root, path, kind: Kind::Script });
            }
            for path in contents.folders.markdown_below(resources).filter(|path| !contents.files.contains_key(path)) {
                targets.push(Target { root: skill.root, path: Cow::Owned(path), kind: Kind::Reference });
            }
        }
        targets.sort_unstable();
        targets.dedup_by(|later, first| (later.root, &later.path) == (first.root, &first.path));
        targets
    }

    /// Reviews one file; also returns the length of its text.
    fn review_file(
        &self,
        target: &Target<'_>,
        look_alikes: &LookAlikes,
        request: &ReviewRequest,
    ) -> (usize, ReviewedFile) {
        let file = Location { root: target.root, path: target.path.clone().into_owned() };
        let contents = self.contents.get(target.root as usize);
        let mut problems = self.all_problems(&file, contents);
        let text = contents.and_then(|contents| self.text_of(target, contents));
        let Some((contents, text)) = text else {
            let read = || self.roots[target.root as usize].read_text(&target.path);
            if target.kind == Kind::Script && matches!(read(), Err(ReadError::NotText(_))) {
                problems.push(review::not_text().in_file(file.root, &file.path));
            }
            let silent = |problem: &Problem| request.allow.contains(&problem.code);
            let remark = |problem: Problem| Remark { silenced: silent(&problem), problem, edits: Vec::new() };
            let remarks = review::limit_remarks(&file, problems.into_iter().map(remark).collect(), &request.allow);
            return (0, ReviewedFile { file, remarks, allowed: Vec::new() });
        };
        let number = self.index.number_of(&file).filter(|_| target.kind == Kind::Candidate);
        let kind = match (target.kind, number) {
            (Kind::Script, _) => FileKind::Script,
            (Kind::Reference, _) => {
                FileKind::Reference { owner: self.owner_of(&file).filter(|_| is_tree_skill(&file, &text)) }
            }
            (Kind::Candidate, None) => FileKind::NotASkill,
            (Kind::Candidate, Some(number)) => FileKind::Skill(SkillContext {
                skill: self.index.skill(number),
                resources: self.index.resources(number),
                terms: &self.settings[target.root as usize].scripts,
                runnable: &request.runnable,
            }),
        };
        let collisions = number.map(|number| self.collisions(number, look_alikes, request, &text)).unwrap_or_default();
        let draft = Draft {
            root: self.roots[target.root as usize].as_ref(),
            root_number: target.root,
            folders: &contents.folders,
            path: &target.path,
            text: &text,
            kind,
        };
        let Review { remarks, allowed } = review::review(&draft, problems, collisions, request);
        (text.len(), ReviewedFile { file, remarks, allowed: allowed.into_iter().collect() })
    }

    /// Reports other skills that a skill may be taken for.
    fn collisions(
        &self,
        number: usize,
        look_alikes: &LookAlikes,
        request: &ReviewRequest,
        text: &str,
    ) -> Vec<Diagnostic> {
        let roots = self.root_prefixes(request);
        let is_refused = self.duplicates == Duplicates::Refuse;
        let collision = is_refused.then(|| review::collision(&self.index, number, &roots, text)).flatten();
        let look_alike = review::look_alike(&self.index, look_alikes, number, &roots, text);
        [collision, look_alike, review::shadowed(&self.index, number, &roots)].into_iter().flatten().collect()
    }

    /// Returns all problems of a file, including those the catalog does not keep.
    fn all_problems(&self, file: &Location, contents: Option<&Contents>) -> Vec<Problem> {
        let known = self.problems_at(file);
        let is_cut = known.iter().any(|problem| problem.code == "more-problems");
        let Some(contents) = contents.filter(|_| is_cut) else { return known.to_vec() };
        let Ok(text) = self.roots[file.root as usize].read_text(&file.path) else { return known.to_vec() };
        let all = match file.path.as_str() {
            SETTINGS_FILE => settings::read(&text, &self.operator).1,
            path => skill::read(file.root, &contents.folder_name, path, &text).1,
        };
        let in_file = |finding: &Finding| finding.in_file(file.root, &file.path);
        let kept: Vec<Problem> = contents.findings(&file.path).iter().map(in_file).collect();
        let others = known.iter().filter(|problem| !kept.contains(problem)).cloned();
        others.chain(all.iter().map(in_file)).collect()
    }

    /// Returns the tree skill whose resource folder contains a file.
    fn owner_of(&self, file: &Location) -> Option<&Skill> {
        let folders = std::iter::successors(paths::folder_of(&file.path), |folder| paths::folder_of(folder));
        folders.filter(|folder| !folder.is_empty()).find_map(|folder| {
            let number = self.index.number_of(&Location { root: file.root, path: format!("{folder}.md") })?;
            (self.index.resources(number) == Some(folder)).then(|| self.index.skill(number))
        })
    }

    /// Returns, for each root, the prefix that messages put before a path in it.
    fn root_prefixes(&self, request: &ReviewRequest) -> Vec<String> {
        let name = |(number, label): (usize, &String)| match request.folders.get(number) {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => folder.clone(),
            Some(folder) => format!("{folder}/"),
            None => format!("{label}:"),
        };
        self.labels.iter().enumerate().map(name).collect()
    }

    /// Returns the text of a file. Settings and folders have problems, but their text is not reviewed.
    fn text_of<'catalog>(
        &self,
        target: &Target<'_>,
        contents: &'catalog Contents,
    ) -> Option<(&'catalog Contents, String)> {
        let is_read = match target.kind {
            Kind::Candidate => contents.files.contains_key(target.path.as_ref()),
            Kind::Reference | Kind::Script => true,
        };
        let text = is_read.then(|| self.roots[target.root as usize].read_text(&target.path).ok()).flatten()?;
        Some((contents, text))
    }

    /// Returns the problems that the catalog keeps for a path.
    fn problems_at(&self, file: &Location) -> &[Problem] {
        self.problems.get(&(file.root, file.path.clone())).map_or(&[], Vec::as_slice)
    }
}

/// Whether a file would be a tree skill elsewhere. Files that only mark a folder as a skill or category are reported on
/// the skill whose resource folder contains them.
fn is_tree_skill(file: &Location, text: &str) -> bool {
    let is_reported_elsewhere = matches!(paths::last_segment(&file.path), SKILL_FILE | INDEX_FILE);
    !is_reported_elsewhere && skill::read(file.root, "", &file.path, text).0.is_some()
}
