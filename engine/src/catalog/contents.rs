//! What is in one root: its folders, and each file as it was read.

use super::Root;
use crate::bindings::exports::skillcell::plugin::catalog::{OperatorSettings, Problem};
use crate::bindings::skillcell::plugin::library::ReadError;
use crate::folders::Folders;
use crate::mentions::{self, Mentioned};
use crate::problem::{Finding, first_few};
use crate::settings::{self, SETTINGS_FILE, Said};
use crate::shelf::Shelved;
use crate::skill::{self, Skill};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What is known of one root.
#[derive(Default)]
pub struct Contents {
    pub folder_name: String,
    pub folders: Folders,
    /// Every file that was read and has not changed since.
    pub files: BTreeMap<String, Reading>,
    /// The roots around this one, the innermost first.
    pub inside: Vec<u32>,
    /// What its `config.yaml` says, if there is one, and what is wrong in that.
    pub said: Option<(Said, Vec<Finding>)>,
}

/// What a file turned out to be.
pub struct Reading {
    pub skill: Option<Rc<Skill>>,
    pub findings: Vec<Finding>,
    /// The tools that it names, if it is a skill.
    pub mentions: Vec<Mentioned>,
    /// Whether the file is still in a place where a skill can be.
    pub wanted: bool,
}

impl Contents {
    pub fn read_settings(&mut self, root: &dyn Root, operator: &OperatorSettings) {
        if !self.folders.has_file("", SETTINGS_FILE) {
            self.said = None;
        } else if self.said.is_none() {
            let (said, findings) = match root.read_text(SETTINGS_FILE) {
                Ok(text) => settings::read(&text, operator),
                Err(error) => (settings::unreadable(operator), vec![Finding::unreadable(&error)]),
            };
            self.said = Some((said, first_few(findings)));
        }
    }

    /// The skills of this root. Reads only files that are new or changed.
    pub fn skills(&mut self, number: u32, root: &dyn Root) -> Vec<Shelved> {
        for reading in self.files.values_mut() {
            reading.wanted = false;
        }
        let files = &mut self.files;
        let folder_name = &self.folder_name;
        let candidates = self.folders.skills(|file| {
            if let Some(known) = files.get_mut(file) {
                known.wanted = true;
                return known.skill.is_some();
            }
            let reading = Reading::of(number, folder_name, file, root.read_text(file));
            let is_skill = reading.skill.is_some();
            files.insert(file.to_owned(), reading);
            is_skill
        });
        self.files.retain(|_, reading| reading.wanted);
        let shelved = candidates.into_iter().filter_map(|candidate| {
            let skill = self.files.get(&candidate.file)?.skill.clone()?;
            Some(Shelved { skill, resources: candidate.resources, hides_skills: candidate.hides_skills })
        });
        shelved.collect()
    }

    /// What the catalog keeps of what is wrong in a file.
    pub fn findings(&self, file: &str) -> &[Finding] {
        let reading = || self.files.get(file).map_or(&[][..], |reading| &reading.findings);
        match &self.said {
            Some((_, findings)) if file == SETTINGS_FILE => findings,
            _ => reading(),
        }
    }

    pub fn problems(&self, root: u32, problems: &mut Vec<Problem>) {
        let unwalked =
            self.folders.troubles().map(|(path, trouble)| Finding::unwalked(trouble.reason).in_file(root, &path));
        problems.extend(unwalked);
        for finding in self.said.iter().flat_map(|(_, findings)| findings) {
            problems.push(finding.in_file(root, SETTINGS_FILE));
        }
        for (file, reading) in &self.files {
            problems.extend(reading.findings.iter().map(|finding| finding.in_file(root, file)));
        }
    }
}

impl Reading {
    pub fn of(root: u32, folder_name: &str, file: &str, text: Result<String, ReadError>) -> Self {
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                let findings = vec![Finding::unreadable(&error)];
                return Self { skill: None, findings, mentions: Vec::new(), wanted: true };
            }
        };
        let (skill, findings) = skill::read(root, folder_name, file, &text);
        let mentions = skill.as_ref().map(|_| mentions::mentions(&text)).unwrap_or_default();
        Self { skill: skill.map(Rc::new), findings: first_few(findings), mentions, wanted: true }
    }
}
