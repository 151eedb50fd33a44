//! The contents of one root: its folders, and each file as parsed.

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
    /// Every file that was read and has not changed since.
    pub files: BTreeMap<String, ParsedFile>,
    /// The roots that contain this one, innermost first.
    pub inside: Vec<u32>,
    /// Its `config.yaml`, if there is one, and the problems in it.
    pub settings: Option<(FileSettings, Vec<Finding>)>,
}

/// The result of reading one file.
pub struct ParsedFile {
    pub skill: Option<Rc<Skill>>,
    pub findings: Vec<Finding>,
    /// The tools that it mentions, if it is a skill.
    pub mentions: Vec<Mentioned>,
    /// Whether the file is still at a path where a skill can be.
    pub is_candidate: bool,
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

    /// Returns the skills of this root. Reads only files that are new or changed.
    pub fn skills(&mut self, number: u32, root: &dyn Root) -> Vec<IndexedSkill> {
        for parsed in self.files.values_mut() {
            parsed.is_candidate = false;
        }
        let files = &mut self.files;
        let folder_name = &self.folder_name;
        let candidates = self.folders.skills(|file| {
            if let Some(known) = files.get_mut(file) {
                known.is_candidate = true;
                return known.skill.is_some();
            }
            let parsed = ParsedFile::of(number, folder_name, file, root.read_text(file));
            let is_skill = parsed.skill.is_some();
            files.insert(file.to_owned(), parsed);
            is_skill
        });
        self.files.retain(|_, parsed| parsed.is_candidate);
        let entries = candidates.into_iter().filter_map(|candidate| {
            let skill = self.files.get(&candidate.file)?.skill.clone()?;
            Some(IndexedSkill { skill, resources: candidate.resources, hides_skills: candidate.hides_skills })
        });
        entries.collect()
    }

    /// Returns the problems of a file that the catalog keeps.
    pub fn findings(&self, file: &str) -> &[Finding] {
        let parsed = || self.files.get(file).map_or(&[][..], |parsed| &parsed.findings);
        match &self.settings {
            Some((_, findings)) if file == SETTINGS_FILE => findings,
            _ => parsed(),
        }
    }

    pub fn problems(&self, root: u32, problems: &mut Vec<Problem>) {
        let skipped =
            self.folders.skipped().map(|(path, skipped)| Finding::skipped(skipped.reason).in_file(root, &path));
        problems.extend(skipped);
        for finding in self.settings.iter().flat_map(|(_, findings)| findings) {
            problems.push(finding.in_file(root, SETTINGS_FILE));
        }
        for (file, parsed) in &self.files {
            problems.extend(parsed.findings.iter().map(|finding| finding.in_file(root, file)));
        }
    }
}

impl ParsedFile {
    pub fn of(root: u32, folder_name: &str, file: &str, text: Result<String, ReadError>) -> Self {
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                let findings = vec![Finding::unreadable(&error)];
                return Self { skill: None, findings, mentions: Vec::new(), is_candidate: true };
            }
        };
        let (skill, findings) = skill::read(root, folder_name, file, &text);
        let mentions = skill.as_ref().map(|_| mentions::mentions(&text)).unwrap_or_default();
        Self { skill: skill.map(Rc::new), findings: first_few(findings), mentions, is_candidate: true }
    }
}
