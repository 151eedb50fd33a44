//! Syncs clones of local repositories, whatever happens to either.

mod damage;
mod following;
mod hostile;

use super::address::Address;
use super::checkout::index_entry;
use super::contents::TreeFile;
use super::error::SyncError;
use super::sync::{SyncMode, Synced, sync};
use super::{clone_folder, prepare_libgit2};
use crate::options::{Network, Remote};
use base::place::Audience;
use base::timestamp;
use git2::{Index, IndexEntryExtendedFlag, IndexEntryFlag, ObjectType, Oid, Repository, Signature};
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
}

impl Scene {
    fn new() -> Self {
        prepare_libgit2();
        let folder = tempfile::tempdir().unwrap();
        let origin = Repository::init_bare(folder.path().join("team-skills.git")).unwrap();
        origin.set_head("refs/heads/main").unwrap();
        Self { folder, origin }
    }

    /// A clone of a remote with these files.
    fn cloned(files: &[(&str, &str)]) -> Self {
        let scene = Self::new();
        scene.push("main", files);
        scene.sync().unwrap();
        scene
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
            index.add(&index_entry(Path::new(path), TreeFile { id, mode }, None)).unwrap();
        }
        index.write_tree_to(&self.origin).unwrap()
    }

    fn remote(&self) -> Remote {
        let (address, _) = Address::parse("team-skills.git", |path| self.folder.path().join(path)).unwrap();
        let folder = self.folder.path().join("repos").join(address.key(None));
        Remote { address, branch: None, credential: None, folder, taken_over: false, token_missing: false }
    }

    fn sync(&self) -> Result<Synced, SyncError> {
        self.sync_with(SyncMode::Always)
    }

    fn sync_with(&self, mode: SyncMode) -> Result<Synced, SyncError> {
        sync(&self.remote(), &Network::default(), mode, &|| Box::new(()))
    }

    /// Pushes these files to `main`, after which a sync makes them the files of the clone.
    #[track_caller]
    fn follow(&self, files: &[(&str, &str)]) {
        self.push("main", files);
        self.sync().unwrap();
        self.expect(files);
    }

    fn sync_error(&self) -> String {
        self.sync().unwrap_err().for_audience(Audience::Local)
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
        let text = |id| String::from_utf8_lossy(repository.find_blob(id).unwrap().content()).into_owned();
        let files = |reference: git2::Reference<'_>| {
            let mut index = Index::new().unwrap();
            index.read_tree(&reference.peel_to_tree().unwrap()).unwrap();
            index.iter().map(|entry| (String::from_utf8(entry.path).unwrap(), text(entry.id))).collect()
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
