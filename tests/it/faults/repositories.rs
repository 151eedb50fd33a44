//! Clones of repositories.

use super::{Conversation, FEW_TRIALS, Trial, complaint, try_calls};
use git2::Repository;
use serde_json::{Value, json};
use skillcell_tests::faults::Fault;
use skillcell_tests::{Launch, Upstream, eventually, files_below};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// The text of each of two skills in an edition.
fn skill(name: &str, edition: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n---\n\nEdition {edition} of {name}.\n")
}

/// An upstream with the first edition.
fn upstream(folder: &Path) -> Upstream {
    let (a, b) = (skill("a", "one"), skill("b", "one"));
    Upstream::with(folder, "skills", &[("a/SKILL.md", &a), ("b/SKILL.md", &b)])
}

fn serve(launch: Launch, upstream: &Upstream) -> Launch {
    launch.arg("serve").env("SKILLS_REPO", &upstream.file_url())
}

/// Refreshes, after the sync at the start.
fn refresh(server: &mut Conversation) -> Option<Value> {
    loop {
        let answer = server.ask("refresh_skills", &json!({}))?;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer}"));
        if answer != json!({"success": false}) {
            return Some(answer);
        }
    }
}

const REPOSITORIES: &str = "home/.local/share/skillcell/repos";

/// The only clone, if there is one already.
fn find_clone(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder.join(REPOSITORIES)).into_iter().flatten().flatten();
    let is_clone = |path: &PathBuf| {
        path.join(".git").exists() && !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    entries.map(|entry| entry.path()).find(is_clone)
}

/// Files that git or a server writes for a moment only.
fn unfinished(trial: &Trial) -> Vec<PathBuf> {
    let is_unfinished = |path: &PathBuf| {
        let path = path.to_string_lossy();
        let in_git =
            path.contains("/.git/") && [".lock", "_git2_", "skillcell-new-"].iter().any(|part| path.contains(part));
        in_git || path.contains("-new-")
    };
    files_below(&trial.path("home/.local")).into_iter().filter(is_unfinished).collect()
}

/// Checks that a server without faults brings the clone to the newest commit, and leaves nothing behind.
fn assert_recovers(trial: &Trial, upstream: &Upstream, edition: &str) {
    // A lock file of git is removed once it is old.
    let old = SystemTime::now() - Duration::from_mins(1);
    for path in unfinished(trial).iter().filter(|path| path.extension().is_some_and(|extension| extension == "lock")) {
        File::options().write(true).open(path).and_then(|file| file.set_modified(old)).unwrap();
    }
    let mut server = Conversation::start(serve(trial.launch(), upstream));
    let answer = refresh(&mut server).expect("it runs");
    let log = server.end();
    let expected = (&json!(true), &json!(upstream.tip("main")));
    assert_eq!((&answer["success"], &answer["commit_hash"]), expected, "{answer} {log}");
    let clone = find_clone(trial.folder.path()).expect("it was cloned");
    for name in ["a", "b"] {
        assert_eq!(std::fs::read_to_string(clone.join(name).join("SKILL.md")).unwrap(), skill(name, edition));
    }
    assert_eq!(crate::git::changed_files(&Repository::open(&clone).unwrap()), Vec::<String>::new());
    assert_eq!(unfinished(trial), Vec::<PathBuf>::new());
}

#[test]
fn a_first_clone_is_whole_or_missing() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = upstream(folder.path());
    try_calls(
        FEW_TRIALS,
        |_| {},
        "home/.local",
        |trial| {
            let mut server = Conversation::start(serve(trial.launch(), &upstream).with_faults(&trial.faults));
            let answer = refresh(&mut server);
            let log = server.end();
            assert!(answer.is_some() || trial.is_killed(), "{log}");
            let is_done = answer.is_some_and(|answer| answer["success"] == true);
            assert!(is_done || trial.is_killed() || complaint(&log).is_some(), "no message: {log}");
            if let Some(clone) = find_clone(trial.folder.path()) {
                let text = std::fs::read_to_string(clone.join("a/SKILL.md")).unwrap();
                assert!(text == skill("a", "one") || trial.fault == Some(Fault::TornRename), "{text}");
            } else {
                assert!(!is_done, "it was said to be there");
            }
            assert_recovers(trial, &upstream, "one");
        },
    );
}

#[test]
fn files_of_a_clone_are_old_or_new_and_edits_survive() {
    const EDIT: &str = "an edit that only the clone has\n";
    // A clone that is one commit behind, with an edit. Its path does not depend on the folder it is copied to.
    let origin = tempfile::tempdir().unwrap();
    let upstream = upstream(origin.path());
    let launch = Launch::bare(crate::SKILLCELL).with_home(&origin.path().join("home")).folder(origin.path());
    let mut server = Conversation::start(serve(launch, &upstream));
    eventually("a clone", || refresh(&mut server).is_some_and(|answer| answer["success"] == true));
    server.end();
    let clone = find_clone(origin.path()).expect("it was cloned");
    std::fs::write(clone.join("a/SKILL.md"), EDIT).unwrap();
    upstream.push("main", &[("a/SKILL.md", &skill("a", "two")), ("b/SKILL.md", &skill("b", "two"))]);
    let begin = |folder: &Path| {
        let copied = Command::new("cp").arg("-pR").arg(origin.path().join("home")).arg(folder).status();
        assert!(copied.expect("every Unix has `cp`").success());
    };
    try_calls(FEW_TRIALS, begin, "home/.local", |trial| {
        let mut server = Conversation::start(serve(trial.launch(), &upstream).with_faults(&trial.faults));
        let answer = refresh(&mut server);
        let log = server.end();
        assert!(answer.is_some() || trial.is_killed(), "{log}");
        if let Some(answer) = answer.filter(|answer| answer["success"] != true) {
            assert!(answer["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
        }
        let clone = find_clone(trial.folder.path()).expect("it was there");
        let text = |name: &str| std::fs::read_to_string(clone.join(name).join("SKILL.md")).unwrap();
        let (a, b) = (text("a"), text("b"));
        // Files are not synced one by one, but repaired after a power failure.
        let is_torn = trial.fault == Some(Fault::TornRename);
        assert!(is_torn || [EDIT, &skill("a", "one"), &skill("a", "two")].contains(&a.as_str()), "{a}");
        assert!(is_torn || [skill("b", "one"), skill("b", "two")].contains(&b), "{b}");
        assert_recovers(trial, &upstream, "two");
        let repositories = std::fs::read_dir(trial.path(REPOSITORIES)).unwrap().flatten();
        let backups: Vec<String> = repositories.flat_map(|entry| backups(&entry.path())).collect();
        assert!(backups.iter().any(|backup| backup == EDIT), "the edit is lost: {backups:?}");
    });
}

/// The texts of the edited skill in all backups of a clone, or of one that was set aside because it was damaged.
fn backups(folder: &Path) -> Vec<String> {
    let Ok(repository) = Repository::open(folder).or_else(|_| Repository::open_bare(folder.join("git"))) else {
        return Vec::new();
    };
    let references = repository.references_glob("refs/skillcell/backup/*").unwrap().flatten();
    let text = |reference: git2::Reference<'_>| {
        let tree = reference.peel_to_tree().ok()?;
        let blob = tree.get_path(Path::new("a/SKILL.md")).ok()?.to_object(&repository).ok()?;
        Some(String::from_utf8_lossy(blob.as_blob()?.content()).into_owned())
    };
    references.filter_map(text).collect()
}
