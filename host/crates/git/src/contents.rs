//! Lists all files of a commit. Repositories are not trusted, so every tree is checked here before it is used.

use crate::limits::{MAX_DEPTH, MAX_ENTRIES, MAX_PATH_BYTES, MAX_TREE_BYTES};
use base::printable::printable;
use git2::{ErrorClass, ErrorCode, ObjectType, Oid, Repository, Tree};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

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
        let mut queue = vec![(PathBuf::new(), tree.id())];
        let (mut entries, mut path_bytes) = (0, 0);
        let objects = repository.odb()?;
        while let Some((folder, id)) = queue.pop() {
            let (size, _) = objects.read_header(id)?;
            if size as u64 > MAX_TREE_BYTES {
                let (folder, limit) = (display(&folder), MAX_TREE_BYTES >> 20);
                return Err(failed(&format!("the list of the files in its folder `{folder}` is over {limit} MiB")));
            }
            for entry in &repository.find_tree(id)? {
                let path = folder.join(OsStr::from_bytes(entry.name_bytes()));
                entries += 1;
                path_bytes += path.as_os_str().len();
                if entry.name_bytes().contains(&b'/') || !is_inside(&path) {
                    return Err(failed(&format!("its file {} is outside the repository", display(&path))));
                }
                if entries > MAX_ENTRIES || path.components().count() > MAX_DEPTH {
                    return Err(failed(&format!(
                        "it has more than {MAX_ENTRIES} files, or more than {MAX_DEPTH} levels of folders"
                    )));
                }
                if path_bytes > MAX_PATH_BYTES {
                    let limit = MAX_PATH_BYTES >> 20;
                    return Err(failed(&format!("the paths of its files have more than {limit} MiB together")));
                }
                match entry.kind() {
                    Some(ObjectType::Tree) => queue.push((path, entry.id())),
                    Some(ObjectType::Blob) => {
                        let mode = entry.filemode().cast_unsigned();
                        files.insert(path, TreeFile { id: entry.id(), mode });
                    }
                    // Submodules are not followed.
                    _ => {}
                }
            }
        }
        Ok(Self { files })
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    pub fn get(&self, path: &Path) -> Option<TreeFile> {
        self.files.get(path).copied()
    }

    /// Returns the paths at which the two differ.
    pub fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Path> {
        let changed =
            self.files.iter().filter(|(path, file)| other.files.get(*path) != Some(file)).map(|(path, _)| path);
        let only_other = other.files.keys().filter(|path| !self.files.contains_key(*path));
        changed.chain(only_other).map(PathBuf::as_path)
    }
}

/// Whether a path stays inside the clone, and outside of `.git`.
pub fn is_inside(path: &Path) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
    path.components().all(is_plain)
}

/// An error of this crate about a tree or its checkout.
pub fn failed(reason: &str) -> git2::Error {
    git2::Error::new(ErrorCode::GenericError, ErrorClass::Checkout, reason)
}

pub fn display(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
