//! Reloading a scorer when its file changes.

use super::{find, score_by_scorer, skills, wait_until_prepared, warnings};
use crate::{problems, serve};
use base::digest::Sha256;
use skillcell_tests::{Launch, Session, component};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Returns the hostile scorer. Its second edition scores favourites with 0.8.
fn edition(number: u8) -> Vec<u8> {
    let mut bytes = std::fs::read(component("hostile-scorer")).unwrap();
    let offset = bytes.windows(16).position(|part| part == b"hostile edition1").expect("it is in the data");
    bytes[offset + 15] = b'0' + number;
    bytes
}

/// Writes a file in one step.
fn replace_file(file: &Path, bytes: &[u8]) {
    let next = file.with_extension("next");
    std::fs::write(&next, bytes).unwrap();
    std::fs::rename(next, file).unwrap();
}

/// Writes the first edition to a file.
fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.wasm");
    replace_file(&file, &edition(1));
    (folder, file)
}

fn with_scorer(folder: &Path, file: &Path) -> Launch {
    serve(folder).arg("--verbose").arg("--scorer").arg(file).with_shared_cache()
}

fn wait_until_reloaded(session: &Session, times: usize) {
    session.wait_for_log_that("another scorer", |log| log.matches("from now on").count() == times);
}

fn wait_until_refused(session: &Session, times: usize) {
    session.wait_for_log_that("a refusal", |log| log.matches("the previous version stays").count() == times);
}

#[test]
fn a_new_file_is_used_without_a_restart_and_an_invalid_one_is_not() {
    let (skills, (_folder, file)) = (skills(), file());
    let mut session = with_scorer(skills.path(), &file).start();
    assert_eq!(score_by_scorer(&mut session), 0.9);
    replace_file(&file, &edition(2));
    wait_until_reloaded(&session, 1);
    assert_eq!(score_by_scorer(&mut session), 0.8);
    // Written in place, and incomplete at first.
    let whole = edition(1);
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    wait_until_refused(&session, 1);
    assert_eq!(score_by_scorer(&mut session), 0.8);
    let reported = problems(&mut session, "message");
    assert!(reported.len() == 1 && reported[0].0 == "mine.wasm", "{reported:?}");
    assert!(
        reported[0].1.starts_with("the previous version stays: the scorer `mine.wasm` is not valid WebAssembly"),
        "{reported:?}"
    );
    let mut rest = std::fs::File::options().append(true).open(&file).unwrap();
    rest.write_all(&whole[whole.len() / 2..]).unwrap();
    wait_until_reloaded(&session, 2);
    assert_eq!(score_by_scorer(&mut session), 0.9);
    assert_eq!(problems(&mut session, "message"), []);
    // Another world, then a missing file, then the version in use.
    replace_file(&file, &std::fs::read(component("fragile-engine")).unwrap());
    wait_until_refused(&session, 2);
    std::fs::remove_file(&file).unwrap();
    wait_until_refused(&session, 3);
    assert_eq!(problems(&mut session, "code")[0].1, "scorer-not-exchanged");
    replace_file(&file, &whole);
    session.wait_for_log("the scorer's file is unchanged");
    assert_eq!(problems(&mut session, "message"), []);
    assert_eq!((score_by_scorer(&mut session), warnings(&session)), (0.9.into(), 3));
}

#[test]
fn a_suspended_scorer_is_retried_when_its_file_changes() {
    let (skills, (_folder, file)) = (skills(), file());
    let mut session = with_scorer(skills.path(), &file).start();
    for failure in 0..3 {
        wait_until_prepared(&session, 2 + failure);
        find(&mut session, "form hostile: trap");
    }
    session.wait_for_log("is suspended");
    assert_eq!(score_by_scorer(&mut session), serde_json::Value::Null);
    replace_file(&file, &edition(2));
    wait_until_reloaded(&session, 1);
    assert_eq!(score_by_scorer(&mut session), 0.8);
    assert_eq!(problems(&mut session, "message"), []);
}

#[test]
fn a_pinned_digest_is_checked_at_the_start_and_on_reload() {
    let (skills, (folder, file)) = (skills(), file());
    let digest = Sha256::of(&edition(1));
    let spellings = [digest.to_string(), digest.hex(), digest.hex().to_uppercase()];
    let config = |digest: &str| {
        let config = folder.path().join("config.yaml");
        std::fs::write(&config, format!("matching:\n  scorer: {{file: mine.wasm, sha256: '{digest}'}}\n")).unwrap();
        serve(skills.path()).arg("--verbose").arg("--config").arg(config)
    };
    for digest in &spellings[1..] {
        assert_eq!(score_by_scorer(&mut config(digest).start()), 0.9);
    }
    let mut session = config(&spellings[0]).start();
    assert_eq!(score_by_scorer(&mut session), 0.9);
    replace_file(&file, &edition(2));
    wait_until_refused(&session, 1);
    assert_eq!(score_by_scorer(&mut session), 0.9);
    let reported = problems(&mut session, "advice");
    let found = Sha256::of(&edition(2)).to_string();
    assert!(reported[0].1.contains(&found), "{reported:?}");
    let message = &problems(&mut session, "message")[0].1;
    assert!(message.contains(&spellings[0]) && !message.contains(&*folder.path().to_string_lossy()), "{message}");
    let refusal = config(&spellings[0]).output();
    let stderr = String::from_utf8(refusal.stderr).unwrap();
    assert_eq!(refusal.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains(&spellings[0]) && stderr.contains(&found) && stderr.contains("hint: "), "{stderr}");
}
