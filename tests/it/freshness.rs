//! Answers always match what is on disk.

mod frozen;
pub mod paused;
mod inherited;
mod lists;
mod during_rebuild;
#[cfg(target_os = "linux")]
mod dirty_paths;
mod incremental;
#[cfg(target_os = "linux")]
mod file_descriptors;
mod waiting;
#[cfg(target_os = "linux")]
mod watched;

use crate::subscriptions::wait_until_announcing;
use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Session, eventually, files_below, put_file, write_files};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

fn names(session: &mut Session) -> Vec<String> {
    let skills = session.fresh(Session::all_skills);
    skills.iter().map(|skill| skill["skillPath"].as_str().unwrap().to_owned()).collect()
}

fn content(session: &mut Session, name: &str) -> Value {
    let arguments = json!({"context": "x", "skill_path": name});
    session.fresh(|session| session.call_json("get_skill", arguments.clone()))["content"].clone()
}

/// Waits until no file is racy: so young that the server reads it again, because its times might not show another change.
fn settle(folder: &Path) {
    const AGE: Duration = Duration::from_millis(100);
    let is_old = |file: &PathBuf| {
        let metadata = file.metadata().unwrap();
        let changed = Duration::new(metadata.ctime().unsigned_abs(), metadata.ctime_nsec().try_into().unwrap());
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + changed).is_ok_and(|age| age > AGE)
    };
    eventually("old files", || files_below(folder).iter().all(is_old));
}

#[test]
fn the_next_call_serves_the_new_text_of_an_edited_file() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    assert_eq!(content(&mut session, "pdf"), "Use the reader.");
    for number in 0..50 {
        // The size is always the same.
        let text = format!("---\nname: pdf\ndescription: Read portable documents\n---\n\nEdition {number:02}.\n");
        write_files(library.path(), &[("pdf/SKILL.md", &text)]);
        assert_eq!(content(&mut session, "pdf"), format!("Edition {number:02}."));
    }
}

#[test]
fn a_change_of_a_parent_changes_the_skills_below_it() {
    let root = |text: &str| format!("---\nkeywords: [base]\ndescription: Base\n---\n{text}\n");
    let library = library(&[("_root.md", &root("First rule.")), SMALL[0]]);
    let mut session = serve(library.path()).start();
    assert!(content(&mut session, "forms").as_str().unwrap().contains("First rule."));
    write_files(library.path(), &[("_root.md", &root("Other rule."))]);
    assert!(content(&mut session, "forms").as_str().unwrap().contains("Other rule."));
    std::fs::remove_file(library.path().join("_root.md")).unwrap();
    assert!(!content(&mut session, "forms").as_str().unwrap().contains("rule"));
}

#[test]
fn lists_show_new_deleted_and_moved_skills() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    write_files(library.path(), &[("deep/er/new.md", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["deep/er/new", "forms", "pdf"]);
    std::fs::rename(library.path().join("deep"), library.path().join("shallow")).unwrap();
    assert_eq!(names(&mut session), ["forms", "pdf", "shallow/er/new"]);
    std::fs::remove_dir_all(library.path().join("shallow")).unwrap();
    std::fs::remove_file(library.path().join("forms.md")).unwrap();
    assert_eq!(names(&mut session), ["pdf"]);
    let arguments = json!({"context": "x", "skill_path": "forms"});
    let refusal = session.fresh(|session| session.call("get_skill", arguments.clone()));
    assert_eq!(refusal["isError"], true);
}

#[test]
fn a_file_claims_its_resource_folder_while_it_is_valid() {
    let library = library(&[("guide.md", "# Just text\n"), ("guide/inner.md", SMALL[0].1)]);
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["guide/inner"]);
    write_files(library.path(), &[("guide.md", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["guide"]);
    write_files(library.path(), &[("guide.md", "# Just text again\n")]);
    assert_eq!(names(&mut session), ["guide/inner"]);
}

#[test]
fn skills_that_appear_in_a_missing_or_empty_root_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("later");
    let mut session = serve(&root).start();
    assert_eq!(session.call_json("get_skill", json!({"context": "form validation"}))["no_match"], true);
    assert_eq!(session.call_json("list_skills", json!({})), json!([]));
    write_files(&root, &SMALL);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    std::fs::remove_dir_all(&root).unwrap();
    assert_eq!(names(&mut session), Vec::<String>::new());
    write_files(&root, &SMALL);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
}

#[test]
fn an_inner_root_that_appears_later_is_served() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    write_files(library.path(), &[("skills/extra.md", SMALL[0].1), (".claude/skills/more/SKILL.md", SMALL[1].1)]);
    assert_eq!(names(&mut session), ["extra", "forms", "more", "pdf"]);
}

#[test]
fn a_new_parent_is_inherited_from_at_once() {
    let library = library(&[("ui/react/forms.md", SMALL[0].1)]);
    let mut session = serve(library.path()).start();
    assert!(!content(&mut session, "forms").as_str().unwrap().contains("House rules"));
    write_files(library.path(), &[("ui/_index.md", "---\nkeywords: [rules]\ndescription: d\n---\nHouse rules\n")]);
    assert!(content(&mut session, "forms").as_str().unwrap().contains("House rules"));
}

#[test]
fn a_replaced_root_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let other = SMALL[0].1.replace("Validate on submit.", "Another edition.");
    write_files(&at("v1"), &SMALL);
    write_files(&at("v2"), &[("forms.md", &other)]);
    symlink("v1", at("current")).unwrap();
    let mut session = serve(&at("current")).start();
    assert!(content(&mut session, "forms").as_str().unwrap().contains("Validate on submit."));
    std::fs::remove_file(at("current")).unwrap();
    symlink("v2", at("current")).unwrap();
    assert!(content(&mut session, "forms").as_str().unwrap().contains("Another edition."));
    assert_eq!(names(&mut session), ["forms"]);
}

#[test]
fn a_folder_that_becomes_a_link_is_served_once() {
    let library = library(&[("x/forms.md", SMALL[0].1)]);
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["x/forms"]);
    std::fs::rename(library.path().join("x"), library.path().join("y")).unwrap();
    symlink("y", library.path().join("x")).unwrap();
    assert_eq!(names(&mut session), ["y/forms"]);
}

#[test]
fn a_dangling_link_is_followed_once_its_target_exists() {
    let library = library(&SMALL);
    symlink("store/late.txt", library.path().join("late.md")).unwrap();
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    write_files(library.path(), &[("store/late.txt", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["forms", "late", "pdf"]);
}

#[test]
fn concurrent_lists_are_all_fresh() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    names(&mut session);
    for number in 0..30 {
        write_files(library.path(), &[(&format!("new{number}.md"), SMALL[0].1)]);
        let list = json!({"name": "skills_list", "arguments": {}});
        let lengths = session.fresh(|session| {
            let ids = [(); 4].map(|()| session.post("tools/call", list.clone()));
            ids.map(|id| session.answer(&id)["result"]["structuredContent"]["skills"].as_array().unwrap().len())
        });
        assert_eq!(lengths, [3 + number; 4]);
    }
}

/// Waits until a list is answered without a scan of the disk.
fn wait_until_idle(session: &mut Session) {
    wait_until_no_scan(session, |session| drop(names(session)));
}

/// Waits until a question is answered without a scan of the disk.
fn wait_until_no_scan(session: &mut Session, ask: impl Fn(&mut Session)) {
    let mut sent = 0;
    // The log lines of earlier requests come before the line of a feedback.
    let mut scans = |session: &mut Session| {
        sent += 1;
        session.call("report_usage", json!({"skill_path": "forms", "useful": true}));
        session.wait_for_log_that("feedback", |log| log.matches("feedback:").count() == sent);
        let log = session.log();
        log.split("feedback:").take(sent).map(|before| before.matches(" scanned ").count()).sum::<usize>()
    };
    eventually("an answer without a scan of the disk", || {
        let before = scans(session);
        ask(session);
        scans(session) == before
    });
}

#[test]
fn a_dangling_link_costs_no_scan_until_its_target_appears() {
    let library = library(&SMALL);
    std::fs::create_dir(library.path().join("store")).unwrap();
    symlink("store/rules.txt", library.path().join("_root.md")).unwrap();
    let mut session = serve(library.path()).arg("--verbose").start();
    wait_until_no_scan(&mut session, |session| drop(content(session, "forms")));
    write_files(library.path(), &[("store/rules.txt", "---\nkeywords: [all]\ndescription: d\n---\nFirst rule.\n")]);
    assert!(content(&mut session, "forms").as_str().unwrap().contains("First rule."));
}

#[test]
fn a_file_with_a_hard_link_elsewhere_is_fresh() {
    let outside = library(&[("x.md", "---\nname: pdf\ndescription: First\n---\n")]);
    let library = library(&SMALL[..1]);
    std::fs::create_dir(library.path().join("pdf")).unwrap();
    std::fs::hard_link(outside.path().join("x.md"), library.path().join("pdf/SKILL.md")).unwrap();
    let mut session = serve(library.path()).start();
    let metadata = |session: &mut Session| {
        let list = session.fresh(|session| session.call_json("skills_list", json!({"query": "pdf"})));
        list["skills"][0]["meta"].clone()
    };
    assert_eq!(metadata(&mut session)["description"], "First");
    // Without the hard link the server would not scan by now, and no event below the root reports the change.
    let other = crate::library(&SMALL);
    wait_until_idle(&mut serve(other.path()).arg("--verbose").start());
    metadata(&mut session);
    write_files(outside.path(), &[("x.md", "---\nname: pdf\ndescription: Other\n---\n")]);
    assert_eq!(metadata(&mut session)["description"], "Other");
}

/// Starts a server for which a system call fails, as it does when a limit is reached.
#[cfg(target_os = "linux")]
fn serve_with_failing_call(folder: &Path, call: std::ffi::c_long, error: i32) -> Session {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
    use std::os::unix::process::CommandExt;
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let rules = [(call, Vec::new())].into_iter().collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    let mut launch = serve(folder);
    #[expect(unsafe_code, reason = "there is no other way to run code in the child")]
    // SAFETY: only makes two system calls, with memory that was allocated before.
    unsafe {
        launch.command().pre_exec(move || apply_filter(&program).map_err(|_| std::io::ErrorKind::Other.into()));
    }
    launch.start()
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_watcher_answers_are_fresh_and_the_periodic_rescan_announces_changes() {
    let library = library(&SMALL);
    let limits = [(libc::SYS_inotify_add_watch, libc::ENOSPC), (libc::SYS_inotify_init1, libc::EMFILE)];
    let mut sessions = limits.map(|(call, error)| serve_with_failing_call(library.path(), call, error));
    let others = crate::library(&[SMALL[1], ("pdf/a.txt", "old")]);
    let mut subscribed = serve_with_failing_call(others.path(), limits[0].0, limits[0].1);
    subscribed.result("resources/subscribe", json!({"uri": "skill://pdf/a.txt"}));
    write_files(others.path(), &[("pdf/a.txt", "new")]);
    for session in &mut sessions {
        assert_eq!(names(session), ["forms", "pdf"]);
    }
    write_files(library.path(), &[("new.md", SMALL[0].1)]);
    for session in &mut sessions {
        // Without a request, only the periodic rescan can have found it.
        session.notification("notifications/resources/list_changed");
        assert_eq!(names(session), ["forms", "new", "pdf"]);
    }
    for number in 0..5 {
        write_files(library.path(), &[(&format!("more{number}.md"), SMALL[0].1)]);
        let text = format!("---\nname: pdf\ndescription: d\n---\n\nEdition {number:02}.\n");
        write_files(library.path(), &[("pdf/SKILL.md", &text)]);
        for session in &mut sessions {
            assert_eq!(content(session, "pdf"), format!("Edition {number:02}."));
            assert_eq!(names(session).len(), 4 + number);
        }
    }
    for session in &sessions {
        assert_eq!(session.log().matches("or within 30 seconds").count(), 1, "logged once:\n{}", session.log());
    }
    // This file is not part of a generation, so only the periodic check of subscribed resources can have found it.
    subscribed.notification("notifications/resources/updated");
}

/// The interval of the full scan.
const RESCAN_INTERVAL: Duration = Duration::from_secs(30);

/// Edits until more edits were announced than the periodic rescan can have found: the watcher must have found one. The
/// announcement of one earlier change may still be due.
pub fn assert_announced_by_watcher(session: &mut Session, mut edit: impl FnMut(&mut Session, u64)) {
    const MAX_EDITS: u64 = 8;
    let began = Instant::now();
    for number in 0..MAX_EDITS {
        edit(session, number);
        session.notification("notifications/resources/list_changed");
        let rescans = 1 + began.elapsed().as_secs() / RESCAN_INTERVAL.as_secs();
        if number > rescans {
            return;
        }
    }
    panic!("{MAX_EDITS} changes were announced after {:?}; log:\n{}", began.elapsed(), session.log());
}

/// Checks that changes of a file in a folder are announced without a request, and not only by the periodic rescan. The server
/// must be verbose.
fn assert_watched(session: &mut Session, folder: &Path, file: &str) {
    wait_until_announcing(session);
    assert_announced_by_watcher(session, |_, number| {
        put_file(folder, file, SMALL[0].1.replace("Forms", &format!("Edition {number} of {file}")));
    });
}

#[test]
fn a_replaced_root_is_watched_and_scanned_like_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_files(&at("root"), &SMALL);
    write_files(&at("other"), &SMALL[..1]);
    let mut session = serve(&at("root")).arg("--verbose").start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    std::fs::rename(at("root"), at("old")).unwrap();
    std::fs::rename(at("other"), at("root")).unwrap();
    assert_eq!(names(&mut session), ["forms"]);
    assert_watched(&mut session, &at("root"), "new.md");
    wait_until_idle(&mut session);
    write_files(&at("root"), &[("late.md", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["forms", "late", "new"]);
}

#[test]
fn a_missing_root_is_logged_once_and_watched_when_it_appears() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("later");
    let mut session = serve(&root).arg("--verbose").start();
    assert_eq!(names(&mut session), Vec::<String>::new());
    write_files(&root, &SMALL);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    assert_watched(&mut session, &root, "new.md");
    let logged = session.log().lines().filter(|line| line.contains("cannot be watched yet")).count();
    assert_eq!(logged, 1, "{}", session.log());
}
