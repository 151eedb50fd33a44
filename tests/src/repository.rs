//! Repositories that are fetched from.

use git2::{Index, IndexEntry, IndexTime, Oid, Repository, RepositoryInitOptions, Signature, Time};
use std::path::{Path, PathBuf};

/// A bare repository below a folder, with `main` as its first branch.
pub struct Upstream {
    path: PathBuf,
}

impl Upstream {
    /// Creates `NAME.git` in the folder.
    pub fn create(folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.git"));
        let mut how = RepositoryInitOptions::new();
        how.bare(true).initial_head("main").external_template(false);
        Repository::init_opts(&path, &how).expect("a writable folder");
        Self { path }
    }

    /// Creates `NAME.git` in the folder, with a first commit of these files on `main`.
    pub fn with(folder: &Path, name: &str, files: &[(&str, &str)]) -> Self {
        let upstream = Self::create(folder, name);
        upstream.push("main", files);
        upstream
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its `file://` URL.
    pub fn file_url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    /// Adds a commit that changes these files. Creates the branch if it does not exist.
    pub fn push(&self, branch: &str, files: &[(&str, &str)]) -> String {
        let written: Vec<(&str, Option<&str>)> = files.iter().map(|(path, text)| (*path, Some(*text))).collect();
        self.push_changes(branch, &written)
    }

    /// Adds a commit that changes these files, and removes those without a text.
    pub fn push_changes(&self, branch: &str, changes: &[(&str, Option<&str>)]) -> String {
        let repository = self.open();
        let parent = repository.refname_to_id(&reference(branch)).ok();
        commit(&repository, branch, parent, changes)
    }

    /// Replaces a branch with one commit without parents that has only these files.
    pub fn force_push(&self, branch: &str, files: &[(&str, &str)]) -> String {
        let written: Vec<(&str, Option<&str>)> = files.iter().map(|(path, text)| (*path, Some(*text))).collect();
        commit(&self.open(), branch, None, &written)
    }

    pub fn delete_branch(&self, branch: &str) {
        self.open().find_reference(&reference(branch)).and_then(|mut branch| branch.delete()).expect("a branch");
    }

    /// The commit that a branch points to.
    pub fn tip(&self, branch: &str) -> String {
        self.open().refname_to_id(&reference(branch)).expect("a branch").to_string()
    }

    fn open(&self) -> Repository {
        Repository::open_bare(&self.path).expect("it was made as one")
    }
}

/// Adds a commit to a branch: the files of its parent with these changes.
fn commit(repository: &Repository, branch: &str, parent: Option<Oid>, changes: &[(&str, Option<&str>)]) -> String {
    let mut index = Index::new().expect("memory");
    let parent = parent.map(|id| repository.find_commit(id).expect("a commit"));
    if let Some(parent) = &parent {
        parent.tree().and_then(|tree| index.read_tree(&tree)).expect("a tree of files");
    }
    for (path, text) in changes {
        match text {
            Some(text) => index.add(&entry(repository, path, text)).expect("a path of a file"),
            None => index.remove(Path::new(path), 0).expect("a file that is there"),
        }
    }
    let tree = index.write_tree_to(repository).and_then(|id| repository.find_tree(id)).expect("room on disk");
    let author = Signature::new("Tests", "tests@example.org", &Time::new(1_700_000_000, 0)).expect("a name");
    let parents: Vec<_> = parent.iter().collect();
    let id = repository.commit(None, &author, &author, "Change skills", &tree, &parents).expect("room on disk");
    repository.reference(&reference(branch), id, true, "pushed").expect("room on disk");
    id.to_string()
}

fn reference(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

/// A regular file with a text.
fn entry(repository: &Repository, path: &str, text: &str) -> IndexEntry {
    const REGULAR: u32 = 0o100_644;
    let never = IndexTime::new(0, 0);
    IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode: REGULAR,
        uid: 0,
        gid: 0,
        file_size: 0,
        id: repository.blob(text.as_bytes()).expect("room on disk"),
        flags: 0,
        flags_extended: 0,
        path: path.into(),
    }
}
