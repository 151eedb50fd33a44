//! Where skills are, as clients can use it: paths over stdio, `skill://` URIs over HTTP.

use crate::resources::uri_of;
use crate::server::{Shared, Transport};
use base::place::Audience;
use bindings::catalog::FoundSkill;
use bindings::types::{Location, Summary};
use library::roots::SkillRoot;
use std::path::PathBuf;
use views::found::local_folder;

impl Shared {
    pub fn audience(&self) -> Audience {
        match self.transport {
            Transport::Stdio => Audience::Local,
            Transport::Http => Audience::Remote,
        }
    }

    /// Returns the folder of a skill's files, or else of its Markdown file.
    pub fn shown_folder(&self, skill: &FoundSkill) -> String {
        match self.transport {
            Transport::Http => format!("{}/", skill.summary.uri),
            Transport::Stdio => local_folder(skill, &self.terms.roots),
        }
    }

    pub fn shown_file(&self, skill: &FoundSkill, file: &str) -> String {
        match (self.transport, &skill.resources) {
            (Transport::Stdio, Some(folder)) => self.absolute(folder, file),
            _ => uri_of(&skill.summary.uri, file),
        }
    }

    pub fn shown_document(&self, skill: &Summary) -> String {
        match self.transport {
            Transport::Stdio => self.absolute(&skill.file, ""),
            Transport::Http => format!("{}/SKILL.md", skill.uri),
        }
    }

    fn absolute(&self, place: &Location, file: &str) -> String {
        let root = self.terms.roots.get(place.root as usize).map(SkillRoot::path);
        // Collecting the components removes `.` and double separators.
        let path = root.unwrap_or_default().join(&place.path).join(file).components().collect::<PathBuf>();
        path.to_string_lossy().into_owned()
    }
}
