//! Every way of tampering with the record is detected.

use super::*;
use serde_json::json;
use std::fs;
use tempfile::TempDir;

fn audit(folder: &Path) -> Audit {
    Audit::open(&folder.join("audit"), &folder.join("audit.key")).unwrap()
}

fn entry(number: u64) -> Map<String, Value> {
    json!({"kind": "run", "skill": format!("skill-{number}"), "text": "é \"quoted\" \u{1}"})
        .as_object()
        .unwrap()
        .clone()
}

/// A record with this many lines, and the path of its current file.
fn filled(count: u64) -> (TempDir, Audit, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let audit = audit(folder.path());
    for number in 0..count {
        audit.add(entry(number)).unwrap();
    }
    let path = audit.current();
    (folder, audit, path)
}

fn faults(audit: &Audit) -> Vec<Fault> {
    audit.verify().unwrap().faults
}

#[test]
fn an_untouched_record_has_no_faults() {
    let (_empty_folder, empty, _) = filled(0);
    assert_eq!(empty.verify().unwrap(), Verdict { lines: 0, faults: vec![] });
    let (_folder, audit, path) = filled(5);
    assert_eq!(audit.verify().unwrap(), Verdict { lines: 5, faults: vec![] });
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(path).unwrap());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_changed_line_is_detected() {
    let (_folder, audit, path) = filled(5);
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, position) in [("skill-2", "skill-9", 3), ("skill-4", "skill-9", 5), ("skill-0", "skill-9", 1)] {
        fs::write(&path, text.replace(from, to)).unwrap();
        let number = position as u64;
        assert_eq!(faults(&audit), [Fault::Changed { position, number }], "{from}");
    }
    fs::write(&path, text.replacen("\"kind\":", "\"kind\" :", 1)).unwrap();
    assert_eq!(faults(&audit), [Fault::Changed { position: 1, number: 1 }], "even white space");
}

#[test]
fn removed_added_and_reordered_lines_are_detected() {
    let (_folder, audit, path) = filled(5);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for order in [&[0, 1, 3, 4][..], &[1, 2, 3, 4], &[0, 1, 2, 3], &[0, 2, 1, 3, 4], &[0, 1, 1, 2, 3, 4], &[]] {
        let changed: String = order.iter().map(|number| format!("{}\n", lines[*number])).collect();
        fs::write(&path, changed).unwrap();
        assert!(!faults(&audit).is_empty(), "{order:?}");
    }
    fs::write(&path, format!("{text}{{\"kind\":\"run\"}}\n")).unwrap();
    assert_eq!(faults(&audit), [Fault::Unreadable { position: 6 }]);
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    assert!(!faults(&audit).is_empty(), "a line cut in the middle");
}

#[test]
fn a_removed_or_forged_head_is_detected() {
    let (_folder, audit, path) = filled(3);
    let head = audit.head_path();
    let good = fs::read_to_string(&head).unwrap();
    fs::remove_file(&head).unwrap();
    assert_eq!(faults(&audit), [Fault::NoHead]);
    assert!(audit.add(entry(9)).is_err(), "a new head would hide what was cut off");
    fs::write(&head, good.replace('3', "2")).unwrap();
    assert_eq!(faults(&audit), [Fault::NoHead]);
    assert!(audit.add(entry(9)).is_err(), "nothing is added to a record that was tampered with");
    fs::write(&head, &good).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(faults(&audit), [Fault::CutAtEnd { expected: 3, last: 0 }]);
}

#[test]
fn a_record_written_with_another_key_is_detected() {
    let (folder, ..) = filled(2);
    fs::remove_file(folder.path().join("audit.key")).unwrap();
    assert_eq!(faults(&audit(folder.path())).len(), 3);
}

#[test]
fn the_chain_continues_when_files_are_rotated_and_deleted() {
    let (_folder, mut audit, _) = filled(0);
    audit.file_bytes = 1_000;
    for number in 0..100 {
        audit.add(entry(number)).unwrap();
    }
    let verdict = audit.verify().unwrap();
    assert_eq!(verdict.faults, []);
    let files = audit.rotated_files().unwrap();
    assert_eq!(files.len(), MAX_FILES - 1);
    assert!(verdict.lines < 100);
    fs::remove_file(&files[0]).unwrap();
    assert!(matches!(faults(&audit)[..], [Fault::CutAtFront { .. }]));
}

#[test]
fn a_crash_between_line_and_head_is_not_a_fault() {
    let (_folder, audit, _) = filled(2);
    let before = fs::read(audit.head_path()).unwrap();
    audit.add(entry(2)).unwrap();
    fs::write(audit.head_path(), before).unwrap();
    assert_eq!(faults(&audit), []);
    audit.add(entry(3)).unwrap();
    assert_eq!(audit.verify().unwrap(), Verdict { lines: 4, faults: vec![] });
}

#[test]
fn half_written_and_forged_lines_are_removed() {
    let (_folder, audit, path) = filled(2);
    let good = fs::read_to_string(&path).unwrap();
    let forged = "{\"before\":\"\",\"code\":\"\",\"number\":18446744073709551615}\n";
    for tail in ["{\"kind\":\"run\",\"nu", forged, "garbage\ngarbage\n"] {
        fs::write(&path, format!("{good}{tail}")).unwrap();
        fs::write(audit.head_path(), head_of(&audit, &good)).unwrap();
        audit.add(entry(7)).unwrap();
        assert_eq!(audit.verify().unwrap(), Verdict { lines: 3, faults: vec![] }, "{tail}");
    }
}

/// The head as of when the file had only this text.
fn head_of(audit: &Audit, text: &str) -> String {
    let last = Line::read(text.lines().next_back().unwrap()).unwrap();
    let head = Head { first: 1, last: last.number, code: last.code, length: text.len() as u64, ..Head::default() };
    head.text(&audit.key)
}

#[test]
fn removing_the_whole_record_is_detected() {
    let (folder, ..) = filled(2);
    fs::remove_dir_all(folder.path().join("audit")).unwrap();
    let reopened = audit(folder.path());
    assert_eq!(faults(&reopened), [Fault::NoHead]);
    assert!(reopened.add(entry(0)).is_err());
}

#[test]
fn the_head_fits_its_length_whatever_the_numbers() {
    let (_folder, audit, _) = filled(0);
    let code = "f".repeat(64);
    let head = Head { first: u64::MAX, before_first: code.clone(), last: u64::MAX, code, length: u64::MAX };
    assert!(head.text(&audit.key).len() <= HEAD_BYTES, "{}", head.text(&audit.key).len());
}
