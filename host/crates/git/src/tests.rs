//! Syncs clones of local repositories, whatever happens to either.

mod damage;
mod following;
mod hostile;

use super::address::Address;
use super::error::SyncError;
use super::sync::{SyncMode, Synced, sync};
use super::{clone_folder, prepare_libgit2};
use crate::options::{Network, Remote};
use base::place::Audience;
use base::timestamp;
use git2::{
    Index, IndexEntry, IndexEntryExtendedFlag, IndexEntryFlag, IndexTime, ObjectType, Oid, Repository, Signature,
};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// A local remote, and the folder for its clone.
struct Scene {
    folder: TempDir,
    origin: Repository,
    branch: Option<String>,
}

impl Scene {
    fn new() -> Self {
        prepare_libgit2();
        let folder = tempfile::tempdir().unwrap();
        let origin = Repository::init_bare(folder.path().join("team-skills.git")).unwrap();
        origin.set_head("refs/heads/main").unwrap();
        Self { folder, origin, branch: None }
    }

    /// Commits exactly these files on top of a branch.
    fn push(&self, branch: &str, files: &[(&str, &str)]) -> Oid {
        let tree = self.tree(files);
        let parent = self.origin.refname_to_id(&format!("refs/heads/{branch}")).ok();
        self.push_tree(branch, tree, parent)
    }

    /// Replaces a branch by one commit with exactly these files.
    fn push_forced(&self, branch: &str, files: &[(&str, &str)]) -> Oid {
        self.push_tree(branch, self.tree(files), None)
    }

    fn push_tree(&self, branch: &str, tree: Oid, parent: Option<Oid>) -> Oid {
        let by = Signature::now("author", "author@example.com").unwrap();
        let tree = self.origin.find_tree(tree).unwrap();
        let parent = parent.map(|parent| self.origin.find_commit(parent).unwrap());
        let parents: Vec<_> = parent.iter().collect();
        let commit = self.origin.commit(None, &by, &by, "a change", &tree, &parents).unwrap();
        self.origin.reference(&format!("refs/heads/{branch}"), commit, true, "push").unwrap();
        commit
    }

    fn tree(&self, files: &[(&str, &str)]) -> Oid {
        let mut index = Index::new().unwrap();
        for (path, text) in files {
            // A name that begins with `@` is a link.
            let (path, mode) = path.strip_prefix('@').map_or((*path, 0o100_644), |link| (link, 0o120_000));
            let id = self.origin.blob(text.as_bytes()).unwrap();
            let never = IndexTime::new(0, 0);
            let entry = IndexEntry {
                ctime: never,
                mtime: never,
                dev: 0,
                ino: 0,
                mode,
                uid: 0,
                gid: 0,
                file_size: 0,
                id,
                flags: 0,
                flags_extended: 0,
                path: path.as_bytes().to_vec(),
            };
            index.add(&entry).unwrap();
        }
        index.write_tree_to(&self.origin).unwrap()
    }

    fn remote(&self) -> Remote {
        let (address, _) = Address::parse("team-skills.git", |path| self.folder.path().join(path)).unwrap();
        let key = address.key(self.branch.as_deref());
        let clones = self.folder.path().join("repos");
        let folder = clones.join(key);
        let branch = self.branch.clone();
        Remote { address, branch, credential: None, folder, taken_over: false, token_missing: false }
    }

    fn sync(&self) -> Result<Synced, SyncError> {
        self.sync_with(SyncMode::Always)
    }

    fn sync_with(&self, mode: SyncMode) -> Result<Synced, SyncError> {
        sync(&self.remote(), &Network::default(), mode, &|| Box::new(()))
    }

    fn clone(&self) -> PathBuf {
        self.remote().folder
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.clone().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[track_caller]
    fn expect(&self, expected: &[(&str, &str)]) {
        let mut files = BTreeMap::new();
        read_all(&self.clone(), Path::new(""), &mut files);
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(files, expected);
    }

    /// Returns the files of each backup.
    fn backups(&self) -> Vec<BTreeMap<String, String>> {
        let repository = clone_folder::open(&self.clone()).unwrap();
        let references = repository.references_glob("refs/skillcell/backup/*").unwrap();
        let files = |reference: git2::Reference<'_>| {
            let tree = reference.peel_to_tree().unwrap();
            let mut files = BTreeMap::new();
            tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
                if entry.kind() == Some(ObjectType::Blob) {
                    let blob = entry.to_object(&repository).unwrap().peel_to_blob().unwrap();
                    let text = String::from_utf8_lossy(blob.content()).into_owned();
                    files.insert(format!("{folder}{}", entry.name().unwrap()), text);
                }
                git2::TreeWalkResult::Ok
            })
            .unwrap();
            files
        };
        references.map(|reference| files(reference.unwrap())).collect()
    }

    /// Returns everything next to the clone and its lock file.
    fn leftovers(&self) -> Vec<String> {
        let remote = self.remote();
        let entries = fs::read_dir(self.folder.path().join("repos")).into_iter().flatten().flatten();
        let others = entries.map(|entry| entry.path()).filter(|path| *path != remote.folder && *path != remote.lock());
        others.map(|path| path.display().to_string()).collect()
    }
}

fn read_all(root: &Path, below: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(root.join(below)).unwrap().flatten() {
        let path = below.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && entry.file_name() != ".git" {
            read_all(root, &path, files);
        } else if kind.is_file() {
            files.insert(path.display().to_string(), fs::read_to_string(root.join(&path)).unwrap());
        } else if kind.is_symlink() {
            let target = fs::read_link(root.join(&path)).unwrap();
            files.insert(format!("@{}", path.display()), target.display().to_string());
        }
    }
}

const TWO_SKILLS: [(&str, &str); 2] = [("a/SKILL.md", "a"), ("b/SKILL.md", "b")];
