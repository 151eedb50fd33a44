//! The scorer's file changes while the server runs.

use super::{find, prepared, scored, skills, warnings};
use crate::{problems, serve};
use skillcell::sha256::Sha256;
use skillcell_tests::{Launch, Session, component};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The hostile scorer, whose second edition gives favourites 0.8.
fn edition(number: u8) -> Vec<u8> {
    let mut bytes = std::fs::read(component("hostile-scorer")).unwrap();
    let place = bytes.windows(16).position(|part| part == b"hostile edition1").expect("it is in the data");
    bytes[place + 15] = b'0' + number;
    bytes
}

/// Writes a file in one step.
fn put(file: &Path, bytes: &[u8]) {
    let next = file.with_extension("next");
    std::fs::write(&next, bytes).unwrap();
    std::fs::rename(next, file).unwrap();
}

/// The first edition in a file of its own.
fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.wasm");
    put(&file, &edition(1));
    (folder, file)
}

fn with_scorer(folder: &Path, file: &Path) -> Launch {
    serve(folder).arg("--verbose").arg("--scorer").arg(file)
}

fn exchanged(session: &Session, times: usize) {
    session.wait_for_log_that("another scorer", |log| log.matches("from now on").count() == times);
}

fn refused(session: &Session, times: usize) {
    session.wait_for_log_that("a refusal", |log| log.matches("the one before goes on").count() == times);
}

#[test]
fn a_new_file_is_used_without_a_restart_and_a_bad_one_is_not() {
    let (skills, (_place, file)) = (skills(), file());
    let mut session = with_scorer(skills.path(), &file).start();
    assert_eq!(scored(&mut session), 0.9);
    put(&file, &edition(2));
    exchanged(&session, 1);
    assert_eq!(scored(&mut session), 0.8);
    // Written in place, and not to the end for now.
    let whole = edition(1);
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    refused(&session, 1);
    assert_eq!(scored(&mut session), 0.8);
    let told = problems(&mut session, "message");
    assert!(told.len() == 1 && told[0].0 == "mine.wasm", "{told:?}");
    assert!(told[0].1.starts_with("the one before goes on: `mine.wasm` is no WebAssembly component"), "{told:?}");
    std::fs::write(&file, &whole).unwrap();
    exchanged(&session, 2);
    assert_eq!(scored(&mut session), 0.9);
    assert_eq!(problems(&mut session, "message"), []);
    // Another world, then nothing at all, then the same as is used.
    put(&file, &std::fs::read(component("fragile-engine")).unwrap());
    refused(&session, 2);
    std::fs::remove_file(&file).unwrap();
    refused(&session, 3);
    assert_eq!(problems(&mut session, "code")[0].1, "scorer-not-exchanged");
    put(&file, &whole);
    session.wait_for_log("the scorer's file is as it was");
    assert_eq!(problems(&mut session, "message"), []);
    assert_eq!((scored(&mut session), warnings(&session)), (0.9.into(), 3));
}

#[test]
fn a_scorer_that_rests_is_tried_again_when_its_file_changes() {
    let (skills, (_place, file)) = (skills(), file());
    let mut session = with_scorer(skills.path(), &file).start();
    for failure in 0..3 {
        prepared(&session, 2 + failure);
        find(&mut session, "form hostile: trap");
    }
    session.wait_for_log("rests");
    assert_eq!(scored(&mut session), serde_json::Value::Null);
    put(&file, &edition(2));
    exchanged(&session, 1);
    assert_eq!(scored(&mut session), 0.8);
    assert_eq!(problems(&mut session, "message"), []);
}

#[test]
fn a_pinned_digest_holds_at_the_start_and_later() {
    let (skills, (place, file)) = (skills(), file());
    let digest = Sha256::of(&edition(1));
    let written = [digest.to_string(), digest.hex(), digest.hex().to_uppercase()];
    let config = |digest: &str| {
        let config = place.path().join("config.yaml");
        std::fs::write(&config, format!("matching:\n  scorer: {{file: mine.wasm, sha256: '{digest}'}}\n")).unwrap();
        serve(skills.path()).arg("--verbose").arg("--config").arg(config)
    };
    for digest in &written[1..] {
        assert_eq!(scored(&mut config(digest).start()), 0.9);
    }
    let mut session = config(&written[0]).start();
    assert_eq!(scored(&mut session), 0.9);
    put(&file, &edition(2));
    refused(&session, 1);
    assert_eq!(scored(&mut session), 0.9);
    let told = problems(&mut session, "advice");
    let found = Sha256::of(&edition(2)).to_string();
    assert!(told[0].1.contains(&found), "{told:?}");
    let message = &problems(&mut session, "message")[0].1;
    assert!(message.contains(&written[0]) && !message.contains(&*place.path().to_string_lossy()), "{message}");
    let refusal = config(&written[0]).output();
    let told = String::from_utf8(refusal.stderr).unwrap();
    assert_eq!(refusal.status.code(), Some(2), "{told}");
    assert!(told.contains(&written[0]) && told.contains(&found) && told.contains("hint: "), "{told}");
}
