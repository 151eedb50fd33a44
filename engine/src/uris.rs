//! The unique `skill://` URI of each skill.

use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::folders::below;
use crate::index::{Skills, as_u32};
use crate::maps::TextMap;
use crate::paths;
use crate::skill::Skill;
use crate::text::fold;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

pub const SCHEME: &str = "skill://";

/// The maximum length of a name in the Agent Skills format; the last segment of a tree skill's URI has to be one.
const MAX_SLUG: usize = 64;

/// The path of every skill after `skill://`, not encoded.
#[derive(Default)]
pub struct Uris {
    labels: Vec<String>,
    /// The roots whose label is always shown.
    plugins: BTreeSet<u32>,
    /// By number.
    paths: Vec<String>,
    /// Case-folded, so that a client that changes the case of a URI still finds the skill.
    by_path: TextMap<usize>,
    /// The skills by the last segment that each would have if there were no other.
    by_segment: TextMap<Vec<u32>>,
    /// With several roots, the skills by the path that each would have if there were no other root, and that path by number.
    by_wanted: BTreeMap<String, Vec<u32>>,
    wanted: Vec<String>,
    /// Whether skills have a numeric suffix, because they want the same path.
    has_suffixes: bool,
}

impl Uris {
    /// `order` are the numbers of the skills, sorted by path.
    pub fn new(labels: &[String], plugins: &BTreeSet<u32>, skills: &Skills, order: &[u32]) -> Self {
        let mut uris = Self { labels: labels.to_vec(), plugins: plugins.clone(), ..Self::default() };
        uris.make_room(skills);
        let mut by_root: Vec<usize> = order.iter().map(|number| *number as usize).collect();
        for number in &by_root {
            uris.by_segment.entry(segment_of(skills.get(*number))).or_default().push(as_u32(*number));
        }
        for number in &by_root {
            uris.want(*number, uris.wanted_by(skills.get(*number)), &mut |_| ());
        }
        by_root.sort_by_key(|number| skills.get(*number).root);
        uris.assign_paths(skills, &by_root);
        uris
    }

    /// Assigns each skill the path it wants, with a numeric suffix if an earlier skill has it.
    fn assign_paths(&mut self, skills: &Skills, by_root: &[usize]) {
        // Suffixes are assigned last, so that they never take a path that another skill wants.
        let mut conflicting = Vec::new();
        for number in by_root {
            let path = self.path_for(skills, *number);
            match self.by_path.entry(fold(&path)) {
                Entry::Vacant(free) => drop(free.insert(*number)),
                Entry::Occupied(taken) => conflicting.push((*number, taken.key().clone())),
            }
            self.paths[*number] = path;
        }
        self.has_suffixes = !conflicting.is_empty();
        let mut used: BTreeMap<String, usize> = BTreeMap::new();
        for (number, wanted) in conflicting {
            let count = used.entry(wanted).or_insert(1);
            loop {
                *count += 1;
                let path = numbered(&self.paths[number], *count, skills.get(number).model);
                if let Entry::Vacant(free) = self.by_path.entry(fold(&path)) {
                    free.insert(number);
                    self.paths[number] = path;
                    break;
                }
            }
        }
    }

    /// Adds a skill. It and the skills in `touched` get their paths from `settle`.
    pub fn insert(&mut self, skills: &Skills, number: usize, touched: &mut BTreeSet<usize>) {
        self.make_room(skills);
        let holders = self.by_segment.entry(segment_of(skills.get(number))).or_default();
        // The second skill with a segment makes the first one change its own.
        touched.extend(holders.iter().filter(|_| holders.len() == 1).map(|other| *other as usize));
        holders.push(as_u32(number));
        touched.insert(number);
    }

    /// Removes a skill. The skills in `touched` get their paths from `settle`.
    pub fn remove(&mut self, skills: &Skills, number: usize, touched: &mut BTreeSet<usize>) {
        let segment = segment_of(skills.get(number));
        if let Some(holders) = self.by_segment.get_mut(&segment) {
            holders.retain(|other| *other as usize != number);
            touched.extend(holders.iter().filter(|_| holders.len() == 1).map(|other| *other as usize));
            if holders.is_empty() {
                self.by_segment.remove(&segment);
            }
        }
        self.want(number, String::new(), &mut |other| {
            touched.insert(other);
        });
        self.release(number);
    }

    /// Assigns new paths to these skills, and to those that are affected by that. Returns all of them; `None` if all paths have
    /// to be assigned again, because several skills want the same.
    pub fn settle(&mut self, skills: &Skills, touched: BTreeSet<usize>) -> Option<BTreeSet<usize>> {
        let mut affected = touched.clone();
        for number in touched {
            let wanted = self.wanted_by(skills.get(number));
            self.want(number, wanted, &mut |other| {
                affected.insert(other);
            });
        }
        if self.has_suffixes {
            return None;
        }
        for number in &affected {
            self.release(*number);
        }
        for number in &affected {
            let path = self.path_for(skills, *number);
            match self.by_path.entry(fold(&path)) {
                Entry::Vacant(free) => drop(free.insert(*number)),
                Entry::Occupied(_) => return None,
            }
            self.paths[*number] = path;
        }
        Some(affected)
    }

    fn make_room(&mut self, skills: &Skills) {
        self.paths.resize(skills.limit(), String::new());
        if self.labels.len() > 1 {
            self.wanted.resize(skills.limit(), String::new());
        }
    }

    fn release(&mut self, number: usize) {
        let path = fold(&std::mem::take(&mut self.paths[number]));
        if self.by_path.get(&path) == Some(&number) {
            self.by_path.remove(&path);
        }
    }

    /// Returns the path that a skill has if no other root has it.
    fn wanted_by(&self, skill: &Skill) -> String {
        let mut path = path_of(skill);
        let is_alone = self.by_segment.get(&fold(paths::last_segment(&path))).is_none_or(|holders| holders.len() == 1);
        // Names should be unique.
        if skill.model == SkillModel::Tree && !is_alone {
            path = paths::join(paths::folder_of(&path).unwrap_or(""), &slug(&skill.skill_path));
        }
        if self.plugins.contains(&skill.root) { self.labelled(skill, &path) } else { path }
    }

    fn labelled(&self, skill: &Skill, path: &str) -> String {
        paths::join(&self.labels[skill.root as usize], path)
    }

    /// Notes the path that a skill wants; an empty one is none. Reports the other skills at the path or below it, before and
    /// now.
    fn want(&mut self, number: usize, path: String, others: &mut impl FnMut(usize)) {
        if self.labels.len() <= 1 || self.wanted[number] == path {
            return;
        }
        let before = std::mem::replace(&mut self.wanted[number], path);
        for path in [before, self.wanted[number].clone()].map(|path| fold(&path)).iter().filter(|path| !path.is_empty())
        {
            if let Some(holders) = self.by_wanted.get_mut(path) {
                holders.retain(|other| *other as usize != number);
                if holders.is_empty() {
                    self.by_wanted.remove(path);
                }
            }
            let below = below(&self.by_wanted, path).flat_map(|(_, holders)| holders);
            self.by_wanted.get(path).into_iter().flatten().chain(below).for_each(|other| others(*other as usize));
        }
        if !self.wanted[number].is_empty() {
            self.by_wanted.entry(fold(&self.wanted[number])).or_default().push(as_u32(number));
        }
    }

    /// Returns the path of a skill, unless it needs a suffix.
    fn path_for(&self, skills: &Skills, number: usize) -> String {
        let skill = skills.get(number);
        if self.labels.len() <= 1 {
            return self.wanted_by(skill);
        }
        let wanted = &self.wanted[number];
        let is_shared = !self.plugins.contains(&skill.root) && self.is_shared(skills, skill.root, wanted);
        if is_shared { self.labelled(skill, wanted) } else { wanted.clone() }
    }

    /// Whether another root has a skill at this path or above it, which would own everything below.
    fn is_shared(&self, skills: &Skills, root: u32, path: &str) -> bool {
        let path = fold(path);
        let above = path.match_indices('/').map(|(slash, _)| &path[..slash]);
        let mut holders =
            std::iter::once(path.as_str()).chain(above).filter_map(|path| self.by_wanted.get(path)).flatten();
        holders.any(|other| skills.get(*other as usize).root != root)
    }

    /// Returns the path of a skill's URI.
    pub fn path(&self, number: usize) -> &str {
        &self.paths[number]
    }

    pub fn uri(&self, number: usize) -> String {
        let mut uri = SCHEME.to_owned();
        for byte in self.paths[number].bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
                _ => write!(uri, "%{byte:02X}").expect("a string takes any text"),
            }
        }
        uri
    }

    /// Returns the last segment. For a tree skill it is a valid name in the Agent Skills format.
    pub fn slug(&self, number: usize) -> &str {
        paths::last_segment(&self.paths[number])
    }

    /// Finds a skill by path, ignoring case.
    pub fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(&fold(path)).copied()
    }
}

/// Returns the path that a skill has unless another one has it.
fn path_of(skill: &Skill) -> String {
    let path = match skill.model {
        SkillModel::Folder => skill.skill_path.clone(),
        SkillModel::Tree => {
            let folder = paths::folder_of(&skill.skill_path).unwrap_or("");
            paths::join(folder, &slug(paths::last_segment(&skill.skill_path)))
        }
    };
    // A root at the top of a disk has no folder name.
    if path.is_empty() { "skill".to_owned() } else { path }
}

/// Returns the case-folded last segment that a skill has unless another one has it.
fn segment_of(skill: &Skill) -> String {
    fold(paths::last_segment(&path_of(skill)))
}

/// Converts a text to a valid name in the Agent Skills format.
pub fn slug(segment: &str) -> String {
    let folded = fold(segment);
    let words = folded.split(|letter: char| !letter.is_ascii_lowercase() && !letter.is_ascii_digit());
    let slug = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    match cut(&slug, MAX_SLUG) {
        "" => "skill".to_owned(),
        slug => slug.to_owned(),
    }
}

fn numbered(path: &str, number: usize, model: SkillModel) -> String {
    let suffix = format!("-{number}");
    let base = match model {
        SkillModel::Folder => path.to_owned(),
        SkillModel::Tree => {
            let slug = cut(paths::last_segment(path), MAX_SLUG - suffix.len());
            paths::join(paths::folder_of(path).unwrap_or(""), slug)
        }
    };
    base + &suffix
}

/// Truncates a slug, which is ASCII.
fn cut(slug: &str, max: usize) -> &str {
    slug.get(..max).unwrap_or(slug).trim_end_matches('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::exports::skillcell::plugin::catalog::Duplicates;
    use crate::memory::{self, MemoryRoot};
    use proptest::prelude::*;

    fn uris(roots: Vec<MemoryRoot>) -> BTreeMap<(u32, String), String> {
        memory::by_file(&memory::catalog(roots, Duplicates::Refuse), |skill| skill.uri)
    }

    fn uri_of(uris: &BTreeMap<(u32, String), String>, root: u32, file: &str) -> String {
        uris[&(root, file.to_owned())].clone()
    }

    #[test]
    fn a_unique_path_needs_no_label() {
        let root = MemoryRoot::new("project").folder_skill("", "skills").folder_skill("Ünder the/sea", "sea");
        let uris = uris(vec![root, MemoryRoot::new("user").tree_skill("_root").tree_skill("ui/_index")]);
        assert_eq!(uri_of(&uris, 0, "SKILL.md"), "skill://skills");
        assert_eq!(uri_of(&uris, 0, "Ünder the/sea/SKILL.md"), "skill://%C3%9Cnder%20the/sea");
        assert_eq!(uri_of(&uris, 1, "_root.md"), "skill://root");
        assert_eq!(uri_of(&uris, 1, "ui/_index.md"), "skill://ui/index");
    }

    #[test]
    fn plugins_and_shared_paths_get_the_label_as_prefix() {
        let project = MemoryRoot::new("project").folder_skill("pdf", "pdf").folder_skill("Docx", "docx");
        let user = MemoryRoot::new("user").folder_skill("docx", "docx");
        let plugin = MemoryRoot::plugin("office").folder_skill("pdf", "pdf");
        let uris = uris(vec![project, user, plugin]);
        assert_eq!(uri_of(&uris, 0, "pdf/SKILL.md"), "skill://pdf");
        assert_eq!(uri_of(&uris, 0, "Docx/SKILL.md"), "skill://project/Docx");
        assert_eq!(uri_of(&uris, 1, "docx/SKILL.md"), "skill://user/docx");
        assert_eq!(uri_of(&uris, 2, "pdf/SKILL.md"), "skill://office/pdf");
    }

    #[test]
    fn a_conflicting_skill_gets_a_suffix_that_takes_no_other_path() {
        let root = MemoryRoot::new("project").tree_skill("a b").tree_skill("a-b").tree_skill("a-b-2").tree_skill("a_b");
        let uris = uris(vec![root]);
        assert_eq!(uri_of(&uris, 0, "a b.md"), "skill://a-b");
        assert_eq!(uri_of(&uris, 0, "a-b.md"), "skill://a-b-3");
        assert_eq!(uri_of(&uris, 0, "a-b-2.md"), "skill://a-b-2");
        assert_eq!(uri_of(&uris, 0, "a_b.md"), "skill://a-b-4");
    }

    #[test]
    fn tree_skills_with_the_same_last_segment_get_their_whole_path() {
        let root = MemoryRoot::new("project").tree_skill("api/_index").tree_skill("ui/_index").tree_skill("ui/pdf");
        let uris = uris(vec![root.folder_skill("pdf", "pdf")]);
        assert_eq!(uri_of(&uris, 0, "api/_index.md"), "skill://api/api-index");
        assert_eq!(uri_of(&uris, 0, "ui/_index.md"), "skill://ui/ui-index");
        assert_eq!(uri_of(&uris, 0, "ui/pdf.md"), "skill://ui/ui-pdf");
        assert_eq!(uri_of(&uris, 0, "pdf/SKILL.md"), "skill://pdf");
    }

    #[test]
    fn slugs_are_valid_names() {
        for (segment, expected) in [
            ("_index", "index"),
            ("_root", "root"),
            ("Auth.v2 (new)", "auth-v2-new"),
            ("--", "skill"),
            ("文書", "skill"),
            ("", "skill"),
        ] {
            assert_eq!(slug(segment), expected);
        }
        let long = format!("{}-tail", "x".repeat(63));
        assert_eq!(slug(&long), "x".repeat(63));
        assert_eq!(numbered(&slug(&long), 12, SkillModel::Tree), format!("{}-12", "x".repeat(61)));
        assert_eq!(numbered("Ordner/été", 2, SkillModel::Folder), "Ordner/été-2");
    }

    proptest! {
        #[test]
        fn no_two_skills_share_a_uri_and_each_finds_its_skill(
            files in prop::collection::btree_set((0..3_usize, "[aA_é -]{1,2}(/[aA-]|/one|/a-2){0,2}", any::<bool>()), 1..24)
        ) {
            let mut roots = vec![MemoryRoot::new("one"), MemoryRoot::new("a"), MemoryRoot::plugin("two")];
            for (root, path, is_folder) in files {
                let before = roots[root].clone();
                roots[root] = if is_folder { before.folder_skill(&path, "same") } else { before.tree_skill(&path) };
            }
            let catalog = memory::catalog(roots, Duplicates::Refuse);
            let skills = catalog.skills(None, None, 0, u32::MAX).skills;
            let folded: BTreeSet<String> = skills.iter().map(|skill| fold(&skill.uri)).collect();
            prop_assert_eq!(folded.len(), skills.len());
            for skill in skills {
                let path = skill.uri.strip_prefix(SCHEME).unwrap();
                let legal = |letter: char| letter.is_ascii_alphanumeric() || "-._~%/".contains(letter);
                prop_assert!(path.chars().all(legal) && !path.ends_with('/'), "{}", path);
                let found = catalog.resource_of(&skill.uri).unwrap();
                prop_assert_eq!(found.skill.summary.file, skill.file);
            }
        }
    }
}
