//! What is served is what is on disk.

mod frozen;
mod held;
mod inherited;
mod lists;
mod meanwhile;
#[cfg(target_os = "linux")]
mod named;
mod reading;
#[cfg(target_os = "linux")]
mod short_of_files;
mod waiting;
#[cfg(target_os = "linux")]
mod watched;

use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::{Session, eventually, files_below, write_files};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

fn names(session: &mut Session) -> Vec<String> {
    let list = session.call_json("skills_list", json!({}));
    list["skills"].as_array().unwrap().iter().map(|skill| skill["skillPath"].as_str().unwrap().to_owned()).collect()
}

fn content(session: &mut Session, name: &str) -> Value {
    session.call_json("get_skill", json!({"context": "x", "skill_path": name}))["content"].clone()
}

/// Waits until no file is so young that it is read once more, because another change might not show.
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
fn an_edited_file_is_served_with_its_new_text_by_the_next_call() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    assert_eq!(content(&mut session, "pdf"), "Use the reader.");
    for number in 0..50 {
        // The same length each time: size alone would not tell.
        let text = format!("---\nname: pdf\ndescription: Read portable documents\n---\n\nEdition {number:02}.\n");
        write_files(library.path(), &[("pdf/SKILL.md", &text)]);
        assert_eq!(content(&mut session, "pdf"), format!("Edition {number:02}."));
    }
}

#[test]
fn a_parent_that_changes_changes_the_skill_below_it() {
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
fn lists_show_what_appeared_vanished_and_moved() {
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
    let refused = session.call("get_skill", json!({"context": "x", "skill_path": "forms"}));
    assert_eq!(refused["isError"], true);
}

#[test]
fn a_file_that_becomes_valid_takes_its_resource_folder_and_gives_it_back() {
    let library = library(&[("guide.md", "# Just text\n"), ("guide/inner.md", SMALL[0].1)]);
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["guide/inner"]);
    write_files(library.path(), &[("guide.md", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["guide"]);
    write_files(library.path(), &[("guide.md", "# Just text again\n")]);
    assert_eq!(names(&mut session), ["guide/inner"]);
}

#[test]
fn a_missing_or_empty_root_comes_alive_when_skills_appear() {
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
fn a_root_that_is_exchanged_is_noticed() {
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
fn a_link_whose_target_appears_later_is_followed_then() {
    let library = library(&SMALL);
    symlink(".store/late.md", library.path().join("late.md")).unwrap();
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    write_files(library.path(), &[(".store/late.md", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["forms", "late", "pdf"]);
}

#[test]
fn lists_asked_for_together_are_all_fresh() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    names(&mut session);
    for number in 0..30 {
        write_files(library.path(), &[(&format!("new{number}.md"), SMALL[0].1)]);
        let list = json!({"name": "skills_list", "arguments": {}});
        let ids: Vec<Value> = (0..4).map(|_| session.post("tools/call", list.clone())).collect();
        for id in ids {
            let answer = session.answer(&id);
            assert_eq!(answer["result"]["structuredContent"]["skills"].as_array().unwrap().len(), 3 + number);
        }
    }
}

/// Waits until a list is answered without a look at the disk, because nothing stirs there.
fn wait_until_still(session: &mut Session) {
    wait_until_no_look(session, |session| drop(names(session)));
}

/// Waits until a question is answered without a look at the disk.
fn wait_until_no_look(session: &mut Session, ask: impl Fn(&mut Session)) {
    let mut marks = 0;
    // What was logged for earlier requests is in the log before the word of a feedback.
    let mut looks = |session: &mut Session| {
        marks += 1;
        session.call("report_usage", json!({"skill_path": "forms", "useful": true}));
        session.wait_for_log_that("feedback", |log| log.matches("feedback:").count() == marks);
        let log = session.log();
        log.split("feedback:").take(marks).map(|before| before.matches("looked at the disk").count()).sum::<usize>()
    };
    eventually("an answer without a look at the disk", || {
        let before = looks(session);
        ask(session);
        looks(session) == before
    });
}

#[test]
fn a_link_that_leads_nowhere_costs_no_look_until_it_leads_somewhere() {
    let library = library(&SMALL);
    std::fs::create_dir(library.path().join(".store")).unwrap();
    symlink(".store/rules.md", library.path().join("_root.md")).unwrap();
    let mut session = serve(library.path()).arg("--verbose").start();
    wait_until_no_look(&mut session, |session| drop(content(session, "forms")));
    write_files(library.path(), &[(".store/rules.md", "---\nkeywords: [all]\ndescription: d\n---\nFirst rule.\n")]);
    assert!(content(&mut session, "forms").as_str().unwrap().contains("First rule."));
}

#[test]
fn a_file_with_a_second_name_elsewhere_is_as_new_as_any() {
    let elsewhere = library(&[("x.md", "---\nname: pdf\ndescription: First\n---\n")]);
    let library = library(&SMALL[..1]);
    std::fs::create_dir(library.path().join("pdf")).unwrap();
    std::fs::hard_link(elsewhere.path().join("x.md"), library.path().join("pdf/SKILL.md")).unwrap();
    let mut session = serve(library.path()).start();
    let described =
        |session: &mut Session| session.call_json("skills_list", json!({"query": "pdf"}))["skills"][0]["meta"].clone();
    assert_eq!(described(&mut session)["description"], "First");
    // Without the second name the disk would count as still by now, and nobody below the root is told of the change.
    let other = crate::library(&SMALL);
    wait_until_still(&mut serve(other.path()).arg("--verbose").start());
    described(&mut session);
    write_files(elsewhere.path(), &[("x.md", "---\nname: pdf\ndescription: Other\n---\n")]);
    assert_eq!(described(&mut session)["description"], "Other");
}

/// A server for which a call of the operating system fails, as it does when a limit is reached.
#[cfg(target_os = "linux")]
fn refused(folder: &Path, call: std::ffi::c_long, error: i32) -> Session {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
    use std::os::unix::process::CommandExt;
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let rules = [(call, Vec::new())].into_iter().collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    let mut launch = serve(folder);
    #[expect(unsafe_code, reason = "there is no other way to do something in the child")]
    // SAFETY: only makes two calls of the operating system, with memory that was there before.
    unsafe {
        launch.command().pre_exec(move || apply_filter(&program).map_err(|_| std::io::ErrorKind::Other.into()));
    }
    launch.start()
}

#[cfg(target_os = "linux")]
#[test]
fn where_nothing_can_be_watched_answers_are_as_fresh_and_the_clock_tells() {
    let library = library(&SMALL);
    let limits = [(libc::SYS_inotify_add_watch, libc::ENOSPC), (libc::SYS_inotify_init1, libc::EMFILE)];
    let mut sessions = limits.map(|(call, error)| refused(library.path(), call, error));
    let others = crate::library(&[SMALL[1], ("pdf/a.txt", "old")]);
    let mut subscribed = refused(others.path(), limits[0].0, limits[0].1);
    subscribed.result("resources/subscribe", json!({"uri": "skill://pdf/a.txt"}));
    write_files(others.path(), &[("pdf/a.txt", "new")]);
    for session in &mut sessions {
        assert_eq!(names(session), ["forms", "pdf"]);
    }
    write_files(library.path(), &[("new.md", SMALL[0].1)]);
    for session in &mut sessions {
        // Nobody asks, so only the clock can have seen it.
        session.notification("notifications/resources/list_changed");
        assert_eq!(names(session), ["forms", "new", "pdf"]);
    }
    for number in 0..20 {
        write_files(library.path(), &[(&format!("more{number}.md"), SMALL[0].1)]);
        let text = format!("---\nname: pdf\ndescription: d\n---\n\nEdition {number:02}.\n");
        write_files(library.path(), &[("pdf/SKILL.md", &text)]);
        for session in &mut sessions {
            assert_eq!(content(session, "pdf"), format!("Edition {number:02}."));
            assert_eq!(names(session).len(), 4 + number);
        }
    }
    for session in &sessions {
        assert_eq!(session.log().matches("or within 30 seconds").count(), 1, "told once:\n{}", session.log());
    }
    // No generation is made from this file, so nobody but the clock of its reader can have seen it.
    subscribed.notification("notifications/resources/updated");
}

/// Shorter than the clock, and much longer than the watcher needs.
const SOON: Duration = Duration::from_secs(15);

/// A change in the root is told without being asked for, sooner than the clock would.
fn is_watched(session: &mut Session, root: &Path, file: &str) {
    // The clock may strike at any moment once, but not twice.
    let told = [0, 1].map(|number| {
        let written = Instant::now();
        write_files(root, &[(&format!("{number}-{file}"), SMALL[0].1)]);
        session.notification("notifications/resources/list_changed");
        written.elapsed()
    });
    assert!(told.iter().all(|told| *told < SOON), "{told:?}: {}", session.log());
}

#[test]
fn a_root_that_is_replaced_is_watched_and_looked_at_like_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_files(&at("root"), &SMALL);
    write_files(&at("other"), &SMALL[..1]);
    let mut session = serve(&at("root")).arg("--verbose").start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    std::fs::rename(at("root"), at("old")).unwrap();
    std::fs::rename(at("other"), at("root")).unwrap();
    assert_eq!(names(&mut session), ["forms"]);
    is_watched(&mut session, &at("root"), "new.md");
    wait_until_still(&mut session);
    write_files(&at("root"), &[("late.md", SMALL[0].1)]);
    assert_eq!(names(&mut session), ["0-new", "1-new", "forms", "late"]);
}

#[test]
fn a_root_that_is_missing_is_told_once_and_watched_when_it_appears() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("later");
    let mut session = serve(&root).start();
    assert_eq!(names(&mut session), Vec::<String>::new());
    write_files(&root, &SMALL);
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    is_watched(&mut session, &root, "new.md");
    let told = session.log().lines().filter(|line| line.contains("cannot be watched yet")).count();
    assert_eq!(told, 1, "{}", session.log());
}
