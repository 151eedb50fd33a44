//! `skillcell --version`, and the commit that it names.

use crate::{SKILLCELL, library};
use git2::Repository;
use serde_json::Value;
use skillcell_tests::{Launch, repository, write_files};
use std::path::Path;

#[path = "../../host/commit.rs"]
mod commit;

fn stdout(arguments: &[&str]) -> String {
    let output = arguments.iter().fold(Launch::bare(SKILLCELL), Launch::arg).output();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commit that is found in a folder, if any, and the files it was found in, which exist.
fn found(folder: &Path) -> Option<String> {
    let checkout = commit::find(folder)?;
    assert!(!checkout.read.is_empty() && checkout.read.iter().all(|file| file.exists()), "{:?}", checkout.read);
    Some(checkout.commit)
}

/// Creates a commit, and returns its name.
fn commit_in(repository: &Repository, message: &str) -> String {
    let author = git2::Signature::now("a", "a@example.com").unwrap();
    let tree = repository.find_tree(repository.treebuilder(None).unwrap().write().unwrap()).unwrap();
    let parent = repository.head().ok().map(|head| head.peel_to_commit().unwrap());
    let parents: Vec<&git2::Commit> = parent.iter().collect();
    repository.commit(Some("HEAD"), &author, &author, message, &tree, &parents).unwrap().to_string()
}

#[test]
fn the_version_has_the_commit_and_the_digest_of_the_engine() {
    let short = stdout(&["-V"]);
    assert_eq!(short, format!("skillcell {}\n", env!("CARGO_PKG_VERSION")));
    let long = stdout(&["--version"]);
    let lines: Vec<&str> = long.lines().collect();
    let [first, commit, engine] = lines[..] else { panic!("three lines: {long}") };
    assert_eq!(first, short.trim_end());
    let commit = commit.strip_prefix("commit: ").unwrap();
    match Repository::open(repository()) {
        Ok(repository) => assert!(repository.find_commit(commit.parse().unwrap()).is_ok(), "no commit: {commit}"),
        Err(_) => assert!(commit == "unknown" || commit::is_commit(commit), "{commit}"),
    }
    let plugins: Value = serde_json::from_str(&stdout(&["plugin", "list", "--json"])).unwrap();
    assert_eq!(Some(engine), plugins[0]["sha256"].as_str().map(|digest| format!("engine: {digest}")).as_deref());
}

#[test]
fn the_commit_follows_branches_and_a_detached_head() {
    let folder = library(&[]);
    assert_eq!(found(folder.path()), None, "no repository");
    let repository = Repository::init(folder.path()).unwrap();
    assert_eq!(found(folder.path()), None, "no commit");
    let first = commit_in(&repository, "first");
    assert_eq!(found(folder.path()), Some(first.clone()));
    let second = commit_in(&repository, "second");
    assert_eq!(found(folder.path()), Some(second.clone()));
    repository.set_head_detached(first.parse().unwrap()).unwrap();
    assert_eq!(found(folder.path()), Some(first));
    assert_eq!(found(&folder.path().join("below")), None, "only the folder itself is looked at");
}

#[test]
fn the_commit_of_a_packed_branch_and_of_a_second_working_tree_is_found() {
    let folder = library(&[]);
    let repository = Repository::init(folder.path().join("main")).unwrap();
    let commit = commit_in(&repository, "first");
    let name = repository.head().unwrap().name().unwrap().to_owned();
    let packed = format!("# pack-refs with: peeled\n{} refs/heads/other\n{commit} {name}\n", "0".repeat(40));
    write_files(repository.path(), &[("packed-refs", &packed)]);
    std::fs::remove_file(repository.path().join(&name)).unwrap();
    assert_eq!(found(&folder.path().join("main")), Some(commit.clone()));
    let tree = folder.path().join("tree");
    repository.worktree("tree", &tree, None).unwrap();
    assert_eq!(found(&tree), Some(commit));
}

#[test]
fn the_commit_of_an_archive_is_the_one_that_git_wrote_into_it() {
    let attributes = std::fs::read_to_string(repository().join(".gitattributes")).unwrap();
    assert!(attributes.lines().any(|line| line == "host/archived-commit export-subst"), "{attributes}");
    let placeholder = std::fs::read_to_string(repository().join("host/archived-commit")).unwrap();
    let commit = "0123456789abcdef0123456789abcdef01234567";
    for (text, expected) in
        [("$Format:%H$\n", None), (&format!("{commit}\n"), Some(commit.to_owned())), ("0123\n", None), ("", None)]
    {
        let folder = library(&[("host/archived-commit", text)]);
        assert_eq!(found(folder.path()), expected, "{text}");
    }
    assert!(placeholder.trim() == "$Format:%H$" || commit::is_commit(placeholder.trim()), "{placeholder}");
}

#[test]
fn damaged_files_of_git_give_no_commit() {
    for files in [
        &[(".git", "gitdir: nowhere\n")][..],
        &[(".git", "\u{0}")],
        &[(".git/HEAD", "ref: refs/heads/main\n")],
        &[(".git/HEAD", "ref: refs/heads/main\n"), (".git/refs/heads/main", "not a commit\n")],
        &[(".git/HEAD", "")],
        &[(".git/HEAD", "ref: refs/heads/main\n"), (".git/packed-refs", "x\n\n refs/heads/main\n")],
    ] {
        let folder = library(files);
        assert_eq!(found(folder.path()), None, "{files:?}");
    }
}
