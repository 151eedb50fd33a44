//! All files of a commit, read once. A repository may come from anybody, so nothing is done with a tree before it was here.

use crate::printable::printable;
use git2::{ErrorClass, ErrorCode, ObjectType, Oid, Repository, Tree};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// Most files and folders of a commit. A few objects can describe more than there are atoms.
const MOST_ENTRIES: usize = 200_000;

/// Deepest folder.
const DEEPEST: usize = 100;

/// The files and links of a tree.
#[derive(Debug, Default)]
pub struct Contents {
    files: BTreeMap<PathBuf, TreeFile>,
}

/// A file or link as a tree has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeFile {
    pub id: Oid,
    pub mode: u32,
}

impl Contents {
    pub fn of(repository: &Repository, tree: &Tree<'_>) -> Result<Self, git2::Error> {
        let mut files = BTreeMap::new();
        let mut waiting = vec![(PathBuf::new(), tree.id())];
        let mut entries = 0;
        while let Some((folder, id)) = waiting.pop() {
            for entry in &repository.find_tree(id)? {
                let path = folder.join(OsStr::from_bytes(entry.name_bytes()));
                entries += 1;
                if entry.name_bytes().contains(&b'/') || !leads_inside(&path) {
                    return Err(refused(&format!("its file {} leads elsewhere", printable(&path.to_string_lossy()))));
                }
                if entries > MOST_ENTRIES || path.components().count() > DEEPEST {
                    return Err(refused(&format!(
                        "it has over {MOST_ENTRIES} files, or over {DEEPEST} levels of folders"
                    )));
                }
                match entry.kind() {
                    Some(ObjectType::Tree) => waiting.push((path, entry.id())),
                    Some(ObjectType::Blob) => {
                        let mode = entry.filemode().cast_unsigned();
                        files.insert(path, TreeFile { id: entry.id(), mode });
                    }
                    // Other repositories inside this one are not followed.
                    _ => {}
                }
            }
        }
        Ok(Self { files })
    }

    pub fn get(&self, path: &Path) -> Option<TreeFile> {
        self.files.get(path).copied()
    }

    /// Paths at which the two differ.
    pub fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Path> {
        let here = self.files.iter().filter(|(path, file)| other.files.get(*path) != Some(file)).map(|(path, _)| path);
        let only_there = other.files.keys().filter(|path| !self.files.contains_key(*path));
        here.chain(only_there).map(PathBuf::as_path)
    }
}

/// Whether a path below the clone stays there, and leaves alone what git keeps.
pub fn leads_inside(path: &Path) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
    path.components().all(is_plain)
}

fn refused(reason: &str) -> git2::Error {
    git2::Error::new(ErrorCode::GenericError, ErrorClass::Checkout, reason)
}
