//! The unique `skill://` URI of each skill.

use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::paths;
use crate::skill::Skill;
use crate::text::fold;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

pub const SCHEME: &str = "skill://";

/// The maximum length of a name in the Agent Skills format; the last segment of a tree skill's URI has to be one.
const MAX_SLUG: usize = 64;

/// The path of every skill after `skill://`, not encoded.
#[derive(Default)]
pub struct Uris {
    paths: Vec<String>,
    /// Case-folded, so that a client that changes the case of a URI still finds the skill.
    by_path: BTreeMap<String, usize>,
    /// Paths of tree skills below their root, where the URI differs and no other skill has that path.
    aliases: BTreeMap<String, usize>,
}

impl Uris {
    /// `skills` are sorted by path; `plugins` are the roots whose label is always shown.
    pub fn new<'skill>(
        labels: &[String],
        plugins: &BTreeSet<u32>,
        skills: impl Iterator<Item = &'skill Skill>,
    ) -> Self {
        let skills: Vec<&Skill> = skills.collect();
        let labelled = |skill: &Skill, path: &str| paths::join(&labels[skill.root as usize], path);
        let mut wanted: Vec<String> = skills.iter().map(|skill| path_of(skill)).collect();
        disambiguate(&skills, &mut wanted);
        for (path, skill) in wanted.iter_mut().zip(&skills).filter(|(_, skill)| plugins.contains(&skill.root)) {
            *path = labelled(skill, path);
        }
        // The only root with a path, or `None` if there are several.
        let mut only_root: BTreeMap<String, Option<u32>> = BTreeMap::new();
        for (path, skill) in wanted.iter().zip(&skills) {
            let root = only_root.entry(fold(path)).or_insert(Some(skill.root));
            *root = root.filter(|root| *root == skill.root);
        }
        for (path, skill) in wanted.iter_mut().zip(&skills).filter(|(_, skill)| !plugins.contains(&skill.root)) {
            if is_shared(&only_root, skill.root, path) {
                *path = labelled(skill, path);
            }
        }
        let mut order: Vec<usize> = (0..skills.len()).collect();
        order.sort_by_key(|number| (skills[*number].root, *number));
        let mut uris = Self::assign_paths(wanted, &order, &skills);
        for number in order {
            let skill = skills[number];
            let in_plugin = plugins.contains(&skill.root);
            let path = if in_plugin { labelled(skill, &skill.skill_path) } else { skill.skill_path.clone() };
            if skill.model == SkillModel::Tree && !uris.by_path.contains_key(&fold(&path)) {
                uris.aliases.entry(path).or_insert(number);
            }
        }
        uris
    }

    /// Assigns each skill the path it wants, with a numeric suffix if an earlier skill has it.
    fn assign_paths(wanted: Vec<String>, order: &[usize], skills: &[&Skill]) -> Self {
        let mut uris = Self { paths: wanted, ..Self::default() };
        // Suffixes are assigned last, so that they never take a path that another skill wants.
        let mut conflicting = Vec::new();
        for number in order {
            match uris.by_path.entry(fold(&uris.paths[*number])) {
                Entry::Vacant(free) => {
                    free.insert(*number);
                }
                Entry::Occupied(taken) => conflicting.push((*number, taken.key().clone())),
            }
        }
        let mut used: BTreeMap<String, usize> = BTreeMap::new();
        for (number, wanted) in conflicting {
            let count = used.entry(wanted).or_insert(1);
            loop {
                *count += 1;
                let path = numbered(&uris.paths[number], *count, skills[number].model);
                if let Entry::Vacant(free) = uris.by_path.entry(fold(&path)) {
                    free.insert(number);
                    uris.paths[number] = path;
                    break;
                }
            }
        }
        uris
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

    pub fn find_exact(&self, path: &str) -> Option<usize> {
        let found = self.find(path).filter(|number| self.paths[*number] == path);
        found.or_else(|| self.aliases.get(path).copied())
    }

    /// Finds a skill by path, ignoring case.
    pub fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(&fold(path)).copied()
    }
}

/// Whether another root has a skill at this path or above it, which would own everything below.
fn is_shared(only_root: &BTreeMap<String, Option<u32>>, root: u32, path: &str) -> bool {
    let path = fold(path);
    let above = path.match_indices('/').map(|(slash, _)| &path[..slash]);
    let mut holders = std::iter::once(path.as_str()).chain(above).filter_map(|path| only_root.get(path));
    holders.any(|only| *only != Some(root))
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

/// Gives a tree skill its whole path as name where others have the same name, because names should be unique.
fn disambiguate(skills: &[&Skill], wanted: &mut [String]) {
    let mut holders: BTreeMap<String, usize> = BTreeMap::new();
    for path in wanted.iter() {
        *holders.entry(fold(paths::last_segment(path))).or_default() += 1;
    }
    for (path, skill) in wanted.iter_mut().zip(skills).filter(|(_, skill)| skill.model == SkillModel::Tree) {
        if holders.get(&fold(paths::last_segment(path))).is_some_and(|holders| *holders > 1) {
            *path = paths::join(paths::folder_of(path).unwrap_or(""), &slug(&skill.skill_path));
        }
    }
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
