//! Places of this machine, as far as a client has use for them.

use crate::bindings::catalog::FoundSkill;
use crate::bindings::types::{Location, Summary};
use crate::config::{Runner, Source};
use crate::library::roots::SkillRoot;
use crate::mcp::contents::uri_of;
use crate::mcp::server::{Reach, Shared};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

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
        for own in self.config.places.iter().flat_map(|places| [&places.settings, &places.records, &places.cache]) {
            places.push((own.clone(), "the server's own folder".to_owned()));
        }
        for runner in self.config.scripts.runners.values() {
            if let Runner::Component(path) = runner {
                places.push((path.clone(), path.file_name().unwrap_or_default().to_string_lossy().into_owned()));
            }
        }
        for integration in &self.config.integrations.all {
            if let Source::File { path, .. } = &integration.source {
                places.push((path.clone(), format!("integration {}", integration.name)));
            }
        }
        for remote in self.config.git.main.iter().chain(&self.config.git.more) {
            let folder = remote.address.folder().map(Path::to_owned);
            places.extend(folder.map(|folder| (folder, format!("repository {}", remote.address.name()))));
        }
        without_places(message, places)
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

/// A message with the names of places instead of where they are.
fn without_places(message: String, mut places: Vec<(PathBuf, String)>) -> String {
    // Some messages say where a place really is, behind links.
    let real = places.iter().filter_map(|(path, name)| Some((real_path(path)?, name.clone())));
    places.extend(real.collect::<Vec<_>>());
    places.sort_by_key(|(path, _)| Reverse(path.as_os_str().len()));
    let places = places.into_iter().filter(|(path, _)| path.parent().is_some());
    places.fold(message, |message, (path, name)| replaced(&message, &path.to_string_lossy(), &name))
}

/// Where a path leads, also if its end does not exist.
fn real_path(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| Some(real_path(path.parent()?)?.join(path.file_name()?)))
}

/// A message with a name in place of a path, but not where the path is only the beginning of another one's name.
fn replaced(message: &str, path: &str, name: &str) -> String {
    let mut shown = String::new();
    let mut rest = message;
    while let Some(at) = rest.find(path) {
        let (before, after) = (&rest[..at], &rest[at + path.len()..]);
        // A dot may end a sentence.
        let next = after.trim_start_matches('.').chars().next();
        let is_whole = next.is_none_or(|next| !next.is_alphanumeric() && !matches!(next, '-' | '_'));
        shown.push_str(before);
        shown.push_str(if is_whole { name } else { path });
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_paths_are_replaced() {
        assert_eq!(replaced("/a/b: /a/bc and /a/b/c", "/a/b", "~"), "~: /a/bc and ~/c");
        assert_eq!(replaced("at /a/b. /a/b.git, /a/b...", "/a/b", "~"), "at ~. /a/b.git, ~...");
        assert_eq!(replaced("nothing", "/a", "~"), "nothing");
    }
    #[test]
    fn a_place_is_also_known_by_where_links_lead() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let places = vec![(link.clone(), "~".to_owned()), (link.join("gone"), "repository gone".to_owned())];
        let message = format!("{0} is {1}, {0}/gone is {1}/gone.", link.display(), real.display());
        assert_eq!(without_places(message, places), "~ is ~, repository gone is repository gone.");
    }
}
