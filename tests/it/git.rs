//! Skills from git repositories: every transport, and every failure on the way.

mod addresses;
mod branches;
mod damage;
mod frozen;
#[cfg(target_os = "linux")]
mod full_disk;
mod helper;
mod hostile;
mod network;
mod refresh;
mod serving;
mod sharing;
mod terminal;
mod token;

use crate::{SKILLCELL, SMALL};
use git2::{Repository, Status, StatusOptions};
use serde_json::{Value, json};
use skillcell_tests::git_server::{Authority, GitServer};
use skillcell_tests::{Launch, Session, Upstream, eventually, write_files};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A repository with `SMALL` in it, the folder that contains it, and the home folder of the server.
struct Scene {
    upstream: Upstream,
    repositories: TempDir,
    home: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self::with(&SMALL)
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let folder = || tempfile::tempdir().expect("a temporary folder");
        let repositories = folder();
        Self { upstream: Upstream::with(repositories.path(), "skills", files), repositories, home: folder() }
    }

    /// Serves the repositories over plain HTTP.
    fn http(&self) -> GitServer {
        GitServer::http(self.repositories.path())
    }

    /// Serves the repositories over TLS. Only the operator's file names the certificate authority.
    fn https(&self) -> GitServer {
        let authority = Authority::default();
        authority.write(&self.home.path().join("authority.pem"));
        self.configure("git: {ca_file: ~/authority.pem}\n");
        GitServer::https(self.repositories.path(), &authority)
    }

    /// Writes the operator's file.
    fn configure(&self, yaml: &str) {
        write_files(self.home.path(), &[(".config/skillcell/config.yaml", yaml)]);
    }

    /// Prepares a server of the repository at an address.
    fn launch(&self, url: &str) -> Launch {
        self.bare().env("SKILLS_REPO", url)
    }

    /// Prepares a server without a repository, in a folder without skills. Everything it writes is below its home.
    fn bare(&self) -> Launch {
        let temporary = self.home.path().join("tmp");
        std::fs::create_dir_all(&temporary).expect("a writable home");
        let launch = Launch::new(SKILLCELL).with_home(self.home.path()).folder(self.home.path());
        launch.env("TMPDIR", &temporary.display().to_string())
    }

    /// Returns the folder of all clones.
    fn clones(&self) -> PathBuf {
        self.home.path().join(".local/share/skillcell/repos")
    }

    /// Returns the only clone.
    fn clone(&self) -> PathBuf {
        let found = clones_in(&self.clones());
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    /// Checks that the clone is identical to the branch of the remote, and that no temporary files are left.
    fn assert_intact(&self, branch: &str) {
        let clone = Repository::open(self.clone()).expect("a repository");
        assert_eq!(clone.head().unwrap().target().unwrap().to_string(), self.upstream.tip(branch));
        assert_eq!(changed_files(&clone), Vec::<String>::new());
        let mut walked = Vec::new();
        let tree = clone.head().unwrap().peel_to_tree().unwrap();
        tree.walk(git2::TreeWalkMode::PreOrder, |_, entry| {
            walked.push(entry.id());
            git2::TreeWalkResult::Ok
        })
        .unwrap();
        let objects = clone.odb().unwrap();
        assert!(walked.iter().all(|id| objects.read(*id).is_ok()), "not every object can be read");
        let is_temporary = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
        let leftovers: Vec<_> = std::fs::read_dir(self.clones()).unwrap().flatten().filter(is_temporary).collect();
        assert!(leftovers.is_empty(), "{leftovers:?}");
    }
}

fn clones_in(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| path.join(".git").exists()).collect()
}

/// Returns the files that differ from the checked-out commit, including ignored ones.
pub fn changed_files(clone: &Repository) -> Vec<String> {
    let mut options = StatusOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(true);
    let statuses = clone.statuses(Some(&mut options)).unwrap();
    let changed = statuses.iter().filter(|entry| entry.status() != Status::CURRENT);
    changed.map(|entry| entry.path().unwrap().to_owned()).collect()
}

/// Returns a skill `forms` whose text is this line.
fn forms(line: &str) -> String {
    SMALL[0].1.replace("Validate on submit.", line)
}

/// Returns the last line of the skill `forms`, or the reason why there is none.
fn text(session: &mut Session) -> String {
    let arguments = json!({"context": "x", "skill_path": "forms"});
    let result = session.fresh(|session| session.call("get_skill", arguments.clone()));
    let block = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}; log:\n{}", session.log()));
    let answer: Value = serde_json::from_str(block).unwrap_or_else(|_| json!({"content": block}));
    let content = answer["content"].as_str().unwrap_or_else(|| panic!("{answer}"));
    content.lines().next_back().unwrap_or_default().to_owned()
}

/// Counts the skills in the answer to a posted `skills_list`.
fn listed(session: &mut Session, id: &Value) -> usize {
    let answer = session.answer(id);
    let skills = answer["result"]["structuredContent"]["skills"].as_array();
    skills.unwrap_or_else(|| panic!("{answer}; log:\n{}", session.log())).len()
}

/// Returns the paths of all skills.
fn names(session: &mut Session) -> Vec<String> {
    let skills = session.fresh(Session::all_skills);
    skills.iter().map(|skill| skill["skillPath"].as_str().unwrap().to_owned()).collect()
}

/// Refreshes, after any refresh that is running already: the server syncs when it starts.
fn refresh(session: &mut Session) -> Value {
    let mut answer = Value::Null;
    eventually("the end of another refresh", || {
        answer = session.call_json("refresh_skills", json!({}));
        answer != json!({"success": false})
    });
    answer
}

/// Refreshes, which must succeed.
fn refresh_ok(session: &mut Session) -> Value {
    let answer = refresh(session);
    assert_eq!(answer["success"], true, "{answer}; log:\n{}", session.log());
    answer
}

/// Refreshes, which must fail, and returns the message.
fn refresh_error(session: &mut Session) -> String {
    let answer = refresh(session);
    assert_eq!(answer["success"], false, "{answer}; log:\n{}", session.log());
    answer["message"].as_str().unwrap_or_else(|| panic!("no message: {answer}")).to_owned()
}

/// Returns text that does not compress.
fn incompressible(bytes: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let letter = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'!' + u8::try_from(state % 90).expect("below 90"))
    };
    (0..bytes).map(letter).collect()
}
