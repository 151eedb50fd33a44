//! Which branch is served, and what happens when it is rewritten, deleted or edited.

use super::{Scene, changed_files, forms, names, refresh_error, refresh_ok, text};
use crate::SMALL;
use git2::Repository;
use skillcell_tests::{Upstream, write_files};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the paths and texts of the newest backup of edits in a clone.
fn backup(clone: &Path) -> BTreeMap<String, String> {
    let clone = Repository::open(clone).unwrap();
    let names = clone.references_glob("refs/skillcell/backup/*").unwrap().names().flatten().max().map(str::to_owned);
    let tree = clone.find_reference(&names.expect("a backup")).unwrap().peel_to_tree().unwrap();
    let mut files = BTreeMap::new();
    tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
        if let Ok(blob) = clone.find_blob(entry.id()) {
            let text = String::from_utf8_lossy(blob.content()).into_owned();
            files.insert(format!("{folder}{}", entry.name().unwrap()), text);
        }
        git2::TreeWalkResult::Ok
    })
    .unwrap();
    files
}

#[test]
fn the_named_branch_is_served() {
    let scene = Scene::new();
    scene.upstream.push("team/draft", &[("draft.md", SMALL[0].1)]);
    let server = scene.http();
    for (branch, expected) in [("team/draft", vec!["draft"]), ("main", vec!["forms", "pdf"])] {
        let mut session = scene.launch(&server.url("skills")).env("SKILLS_BRANCH", branch).start();
        assert_eq!(names(&mut session), expected);
        assert_eq!(refresh_ok(&mut session)["commit_hash"], scene.upstream.tip(branch));
    }
}

#[test]
fn a_missing_branch_is_reported_with_the_existing_ones() {
    let scene = Scene::new();
    let server = scene.http();
    let mut session = scene.launch(&server.url("skills")).env("SKILLS_BRANCH", "mian").start();
    assert_eq!(names(&mut session), Vec::<String>::new());
    let message = refresh_error(&mut session);
    assert!(message.contains("has no branch `mian`; it has `main`"), "{message}");
    // It is served as soon as it exists.
    scene.upstream.push("mian", &[("forms.md", &forms("Misspelt."))]);
    refresh_ok(&mut session);
    assert_eq!(text(&mut session), "Misspelt.");
}

#[test]
fn the_default_branch_of_the_remote_is_served_if_none_has_the_default_name() {
    let repositories = tempfile::tempdir().unwrap();
    let scene = Scene::new();
    let upstream = Upstream::create(repositories.path(), "odd");
    upstream.push("trunk", &SMALL);
    upstream.push("another", &[("another.md", SMALL[0].1)]);
    Repository::open_bare(upstream.path()).unwrap().set_head("refs/heads/trunk").unwrap();
    let mut session = scene.launch(&upstream.file_url()).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
}

#[test]
fn a_forced_push_is_followed() {
    let scene = Scene::new();
    let server = scene.http();
    for url in [scene.upstream.file_url(), server.url("skills")] {
        scene.upstream.force_push("main", &SMALL);
        let mut session = scene.launch(&url).start();
        refresh_ok(&mut session);
        for number in 0..3 {
            let line = format!("Rewritten {number}.");
            let tip = scene.upstream.force_push("main", &[("forms.md", &forms(&line)), ("new/SKILL.md", SMALL[1].1)]);
            assert_eq!(refresh_ok(&mut session)["commit_hash"], tip);
            assert_eq!(text(&mut session), line);
            assert_eq!(names(&mut session), ["forms", "new"]);
        }
    }
}

#[test]
fn edits_in_the_clone_are_backed_up_and_the_remote_wins() {
    let scene = Scene::with(&[SMALL[0], SMALL[1], (".gitignore", "*.ignored\n")]);
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    refresh_ok(&mut session);
    let clone = scene.clone();
    let mine = forms("My own edit.");
    write_files(&clone, &[("forms.md", &mine), ("new/untracked.md", "never added\n")]);
    std::fs::remove_file(clone.join("pdf/SKILL.md")).unwrap();
    scene.upstream.push("main", &[("forms.md", &forms("Theirs."))]);
    assert_eq!(refresh_ok(&mut session)["files_changed"], 1);
    assert_eq!(text(&mut session), "Theirs.");
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    scene.assert_intact("main");
    let kept = backup(&clone);
    assert_eq!(kept["forms.md"], mine);
    assert_eq!(kept["new/untracked.md"], "never added\n");
    session.wait_for_log("refs/skillcell/backup/");
    // Also without a new commit, and with a commit that was made in the clone.
    write_files(&clone, &[("forms.md", &forms("Another edit."))]);
    refresh_ok(&mut session);
    assert_eq!(text(&mut session), "Theirs.");
    assert_eq!(backup(&clone)["forms.md"], forms("Another edit."));
    let repository = Repository::open(&clone).unwrap();
    write_files(&clone, &[("own.md", SMALL[0].1)]);
    let mut index = repository.index().unwrap();
    index.add_path(Path::new("own.md")).unwrap();
    index.write().unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let me = git2::Signature::now("Me", "me@example.org").unwrap();
    let parent = repository.head().unwrap().peel_to_commit().unwrap();
    repository.commit(Some("HEAD"), &me, &me, "Mine", &tree, &[&parent]).unwrap();
    refresh_ok(&mut session);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    assert_eq!(backup(&clone)["own.md"], SMALL[0].1);
    assert_eq!(changed_files(&Repository::open(&clone).unwrap()), Vec::<String>::new());
}

#[test]
fn edits_that_swap_files_and_folders_are_backed_up() {
    let scene = Scene::with(&[SMALL[0], SMALL[1], ("folder/a.md", "a\n"), ("file.md", "file\n")]);
    let mut session = scene.launch(&scene.upstream.file_url()).start();
    refresh_ok(&mut session);
    let clone = scene.clone();
    // A folder where a file was, a file where a folder was, and a file that is about to come from the remote.
    std::fs::remove_file(clone.join("file.md")).unwrap();
    std::fs::remove_dir_all(clone.join("folder")).unwrap();
    write_files(&clone, &[("file.md/inner.md", "inner\n"), ("folder", "no folder\n"), ("coming.md", "mine\n")]);
    scene.upstream.push("main", &[("coming.md", "theirs\n")]);
    refresh_ok(&mut session);
    scene.assert_intact("main");
    assert_eq!(std::fs::read_to_string(clone.join("coming.md")).unwrap(), "theirs\n");
    let kept = backup(&clone);
    let kept_text = |path: &str| kept.get(path).map(String::as_str);
    assert_eq!((kept_text("file.md/inner.md"), kept_text("coming.md")), (Some("inner\n"), Some("mine\n")), "{kept:?}");
    assert_eq!(kept_text("folder"), Some("no folder\n"), "{kept:?}");
}

#[test]
fn the_last_state_of_a_deleted_branch_is_served_until_it_exists_again() {
    let scene = Scene::new();
    let server = scene.http();
    scene.upstream.push("draft", &[("forms.md", &forms("Draft."))]);
    let mut session = scene.launch(&server.url("skills")).env("SKILLS_BRANCH", "draft").start();
    assert_eq!(text(&mut session), "Draft.");
    scene.upstream.delete_branch("draft");
    for _ in 0..2 {
        let message = refresh_error(&mut session);
        assert!(message.contains("no branch `draft`"), "{message}");
        assert_eq!(text(&mut session), "Draft.");
    }
    drop(session);
    let mut session = scene.launch(&server.url("skills")).env("SKILLS_BRANCH", "draft").start();
    assert_eq!(text(&mut session), "Draft.", "also after a restart");
    let tip = scene.upstream.push("draft", &[("forms.md", &forms("Anew."))]);
    assert_eq!(refresh_ok(&mut session)["commit_hash"], tip);
    assert_eq!(text(&mut session), "Anew.");
    scene.assert_intact("draft");
}

#[test]
fn an_empty_repository_is_served_from_its_first_commit_on() {
    let scene = Scene::new();
    let server = scene.http();
    for name in ["over-http", "on-disk"] {
        let empty = Upstream::create(scene.repositories.path(), name);
        let url = if name == "on-disk" { empty.file_url() } else { server.url(name) };
        let mut session = scene.launch(&url).start();
        assert_eq!(names(&mut session), Vec::<String>::new());
        assert!(refresh_error(&mut session).contains("has no commit yet"), "{}", session.log());
        empty.push("main", &SMALL);
        refresh_ok(&mut session);
        assert_eq!(names(&mut session), ["forms", "pdf"]);
    }
}
