//! Places of this machine, as far as a client has use for them.

use crate::bindings::catalog::FoundSkill;
use crate::bindings::types::{Location, Summary};
use crate::library::roots::SkillRoot;
use crate::mcp::contents::uri_of;
use crate::mcp::server::{Reach, Shared};
use std::cmp::Reverse;
use std::path::PathBuf;

impl Shared {
    /// The folder of a skill's files, else of its Markdown file, as a client can use it.
    pub fn shown_folder(&self, skill: &FoundSkill) -> String {
        match (self.reach, &skill.resources) {
            (Reach::Http, _) => format!("{}/", skill.summary.uri),
            (Reach::Stdio, Some(folder)) => self.absolute(folder, ""),
            (Reach::Stdio, None) => {
                let Location { root, path } = &skill.summary.file;
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                self.absolute(&Location { root: *root, path: folder.to_owned() }, "")
            }
        }
    }

    /// A file of a skill, as a client can use it.
    pub fn shown_file(&self, skill: &FoundSkill, file: &str) -> String {
        match (self.reach, &skill.resources) {
            (Reach::Stdio, Some(folder)) => self.absolute(folder, file),
            _ => uri_of(&skill.summary.uri, file),
        }
    }

    /// A message that may name places of this machine. Clients from elsewhere learn which root or file is meant, not where
    /// it is.
    pub fn shown_message(&self, message: String) -> String {
        if self.reach == Reach::Stdio {
            return message;
        }
        let mut places = vec![(self.config.grants.file.clone(), "the operator's file".to_owned())];
        places.extend(self.terms.roots.iter().map(|root| (root.path(), format!("root {}", root.label))));
        places.extend(self.config.roots.home.clone().map(|home| (home, "~".to_owned())));
        places.sort_by_key(|(path, _)| Reverse(path.as_os_str().len()));
        let named =
            |message: String, (path, name): (PathBuf, String)| message.replace(path.to_string_lossy().as_ref(), &name);
        places.into_iter().filter(|(path, _)| path.parent().is_some()).fold(message, named)
    }

    pub fn shown_document(&self, skill: &Summary) -> String {
        match self.reach {
            Reach::Stdio => self.absolute(&skill.file, ""),
            Reach::Http => format!("{}/SKILL.md", skill.uri),
        }
    }

    fn absolute(&self, place: &Location, file: &str) -> String {
        let root = self.terms.roots.get(place.root as usize).map(SkillRoot::path);
        // Putting the parts together anew drops `.` and double separators.
        let path = root.unwrap_or_default().join(&place.path).join(file).components().collect::<PathBuf>();
        path.to_string_lossy().into_owned()
    }
}
