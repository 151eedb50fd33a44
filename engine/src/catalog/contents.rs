//! The contents of one root: its folders, and each file as parsed.

mod walk;

pub use walk::Dirty;

use super::Root;
use crate::bindings::exports::skillcell::plugin::catalog::{OperatorSettings, Problem};
use crate::bindings::skillcell::plugin::library::ReadError;
use crate::folders::Folders;
use crate::index::IndexedSkill;
use crate::mentions::{self, Mentioned};
use crate::problem::{Finding, first_few};
use crate::settings::{self, FileSettings, SETTINGS_FILE};
use crate::skill::{self, Skill};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Default)]
pub struct Contents {
    pub folder_name: String,
    pub folders: Folders,
    /// Every file at a path where a skill can be.
    pub files: BTreeMap<String, ParsedFile>,
    /// The roots that contain this one, innermost first.
    pub inside: Vec<u32>,
    /// Its `config.yaml`, if there is one, and the problems in it.
    pub settings: Option<(FileSettings, Vec<Finding>)>,
}

/// The result of reading one file.
pub struct ParsedFile {
    pub skill: Option<Rc<Skill>>,
    /// Path of the resource folder below the root, if it is a skill and has one.
    pub resources: Option<Rc<str>>,
    /// Whether the resource folder of a tree skill contains skills, which are not served.
    pub hides_skills: bool,
    pub findings: Vec<Finding>,
    /// The tools that it mentions, if it is a skill.
    pub mentions: Vec<Mentioned>,
}

impl Contents {
    pub fn read_settings(&mut self, root: &dyn Root, operator: &OperatorSettings) {
        if !self.folders.has_file("", SETTINGS_FILE) {
            self.settings = None;
        } else if self.settings.is_none() {
            let (settings, findings) = match root.read_text(SETTINGS_FILE) {
                Ok(text) => settings::read(&text, operator),
                Err(error) => (settings::unreadable(operator), vec![Finding::unreadable(&error)]),
            };
            self.settings = Some((settings, first_few(findings)));
        }
    }

    /// Returns the skill in a file.
    pub fn skill(&self, file: &str) -> Option<IndexedSkill> {
        self.files.get(file)?.indexed()
    }

    pub fn skills(&self) -> impl Iterator<Item = IndexedSkill> {
        self.files.values().filter_map(ParsedFile::indexed)
    }

    /// Returns the problems of a file that the catalog keeps.
    pub fn findings(&self, file: &str) -> &[Finding] {
        let parsed = || self.files.get(file).map_or(&[][..], |parsed| &parsed.findings);
        match &self.settings {
            Some((_, findings)) if file == SETTINGS_FILE => findings,
            _ => parsed(),
        }
    }

    /// Returns the problems of a file or folder, apart from those that depend on other skills.
    pub fn problems_at(&self, root: u32, path: &str) -> Vec<Problem> {
        let skipped = self.folders.skipped_at(path).map(|skipped| Finding::skipped(skipped.reason).in_file(root, path));
        skipped.chain(self.findings(path).iter().map(|finding| finding.in_file(root, path))).collect()
    }

    /// Returns every path that has such problems, some of them twice.
    pub fn paths_with_problems(&self) -> impl Iterator<Item = String> {
        let skipped = self.folders.skipped().map(|(path, _)| path);
        let settings = self.settings.iter().filter(|(_, findings)| !findings.is_empty());
        let files = self.files.iter().filter(|(_, parsed)| !parsed.findings.is_empty()).map(|(file, _)| file.clone());
        skipped.chain(settings.map(|_| SETTINGS_FILE.to_owned())).chain(files)
    }
}

impl ParsedFile {
    pub fn of(root: u32, folder_name: &str, file: &str, text: Result<String, ReadError>) -> Self {
        let text = match text {
            Ok(text) => text,
            Err(error) => return Self::not_a_skill(vec![Finding::unreadable(&error)]),
        };
        let (skill, findings) = skill::read(root, folder_name, file, &text);
        let mentions = skill.as_ref().map(|_| mentions::mentions(&text)).unwrap_or_default();
        Self { skill: skill.map(Rc::new), mentions, ..Self::not_a_skill(first_few(findings)) }
    }

    fn not_a_skill(findings: Vec<Finding>) -> Self {
        Self { skill: None, resources: None, hides_skills: false, findings, mentions: Vec::new() }
    }

    fn indexed(&self) -> Option<IndexedSkill> {
        let skill = Rc::clone(self.skill.as_ref()?);
        Some(IndexedSkill { skill, resources: self.resources.clone(), hides_skills: self.hides_skills })
    }
}
