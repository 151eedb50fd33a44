//! The working copy of a repository.

use git2::{IndexAddOption, Repository, RepositoryInitOptions, Signature, Time};
use std::path::Path;
use tempfile::TempDir;

/// The branch that is checked out first.
const BRANCH: &str = "feature/login";

/// A folder with files, a commit, a branch and a remote.
pub struct Project {
    folder: TempDir,
}

impl Project {
    /// Creates a clone of `octo-org/hello` at GitHub with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        crate::write_files(folder.path(), files);
        let mut how = RepositoryInitOptions::new();
        how.initial_head(BRANCH).external_template(false);
        let repository = Repository::init_opts(folder.path(), &how).expect("a writable folder");
        repository.remote("origin", "git@github.com:octo-org/hello.git").expect("a good address");
        let project = Self { folder };
        project.commit("Begin");
        project
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Commits every file to the current branch.
    pub fn commit(&self, message: &str) -> String {
        let repository = self.repository();
        let mut index = repository.index().expect("an index");
        index.add_all(["*"], IndexAddOption::DEFAULT, None).expect("readable files");
        let tree = index.write_tree().and_then(|id| repository.find_tree(id)).expect("room on disk");
        let parent = repository.head().and_then(|head| head.peel_to_commit()).ok();
        let author = Signature::new("Tests", "tests@example.org", &Time::new(1_700_000_000, 0)).expect("a name");
        let parents: Vec<_> = parent.iter().collect();
        let id = repository.commit(Some("HEAD"), &author, &author, message, &tree, &parents).expect("room on disk");
        id.to_string()
    }

    /// The current commit.
    pub fn head(&self) -> String {
        self.repository().refname_to_id("HEAD").expect("there is a first commit").to_string()
    }

    /// Checks out a new branch at the same commit.
    pub fn branch(&self, name: &str) {
        let repository = self.repository();
        let commit = repository.head().and_then(|head| head.peel_to_commit()).expect("a commit");
        repository.branch(name, &commit, false).expect("a new name");
        repository.set_head(&format!("refs/heads/{name}")).expect("a branch");
    }

    /// Detaches `HEAD` from its branch.
    pub fn detach(&self) {
        let repository = self.repository();
        let commit = repository.refname_to_id("HEAD").expect("there is a first commit");
        repository.set_head_detached(commit).expect("a commit");
    }

    pub fn forget_remote(&self) {
        self.repository().remote_delete("origin").expect("there is one");
    }

    fn repository(&self) -> Repository {
        Repository::open(self.folder.path()).expect("it was made as one")
    }
}
