//! Every way of tampering with the record is detected, and stays so; refusals do not push runs out.

use super::*;
use std::fs;
use tempfile::TempDir;

fn audit(folder: &Path) -> Audit {
    Audit::open(&folder.join("audit"), &folder.join("config/audit.key")).unwrap()
}

fn entry(value: Value) -> Entry {
    if let Value::Object(entry) = value { entry } else { panic!("{value}") }
}

fn run(number: u64) -> Entry {
    entry(json!({"kind": "run", "skill": format!("skill-{number}"), "text": "é \"quoted\" \u{1}"}))
}

fn refusal(reason: &str) -> Entry {
    entry(json!({"kind": "refusal", "time": "2026-11-16T06:07:31Z", "reason": reason}))
}

const NOW: Duration = Duration::from_hours(500_000);

/// A record with this many lines of runs, and the path of its current file.
fn filled(count: u64) -> (TempDir, Audit, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let audit = audit(folder.path());
    add(&audit, 0..count);
    let path = audit.runs.current();
    (folder, audit, path)
}

/// Adds a line to the runs for each number: that of something that ended.
fn add(audit: &Audit, numbers: std::ops::Range<u64>) {
    for number in numbers {
        audit.end(0, run(number)).unwrap();
    }
}

fn faults(audit: &Audit) -> Vec<Fault> {
    audit.verify().unwrap().faults
}

fn found(audit: &Audit) -> Vec<Found> {
    let found = |fault| match fault {
        Fault::In { found, .. } => found,
        fault => panic!("{fault}"),
    };
    faults(audit).into_iter().map(found).collect()
}

fn rotated_files(ring: &Ring) -> Vec<PathBuf> {
    ring.rotated_numbers().unwrap().into_iter().map(|number| ring.rotated(number)).collect()
}

#[test]
fn an_untouched_record_has_no_faults() {
    let (_empty_folder, empty, _) = filled(0);
    assert_eq!(empty.verify().unwrap(), Verdict::default());
    let (_folder, audit, path) = filled(5);
    assert_eq!(audit.verify().unwrap(), Verdict { lines: 5, ..Verdict::default() });
    for path in [path, audit.state_path(), audit.head_path()] {
        let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(path).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_changed_line_is_detected() {
    let (_folder, audit, path) = filled(5);
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, position) in [("skill-2", "skill-9", 3), ("skill-4", "skill-9", 5), ("skill-0", "skill-9", 1)] {
        fs::write(&path, text.replace(from, to)).unwrap();
        let number = position as u64;
        assert_eq!(found(&audit), [Found::Changed { position, number }], "{from}");
    }
    for (from, to) in [("\"kind\":", "\"kind\" :"), ("\n", "\r\n")] {
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        assert_eq!(found(&audit), [Found::Changed { position: 1, number: 1 }], "even white space");
    }
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
    assert_eq!(found(&audit), [Found::Unreadable { position: 6 }]);
    fs::write(&path, [text.as_bytes(), b"\xff\n"].concat()).unwrap();
    assert_eq!(found(&audit), [Found::Unreadable { position: 6 }], "not text");
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    assert_eq!(found(&audit), [Found::CutAtEnd { expected: 5, last: 4 }], "a line cut in the middle");
}

#[test]
fn a_removed_forged_or_older_state_is_detected() {
    let (_folder, audit, path) = filled(3);
    let state = audit.state_path();
    let good = fs::read(&state).unwrap();
    fs::remove_file(&state).unwrap();
    let reopened = Audit::open(&audit.folder, &audit.key_path).unwrap();
    for audit in [&audit, &reopened] {
        assert_eq!(faults(audit), [Fault::NoState]);
        assert!(audit.begin(run(9)).is_err(), "a new state would hide what was cut off");
    }
    let forged = String::from_utf8(good.clone())
        .unwrap()
        .replace("\"last\":3", "\"last\":2")
        .replace("\"last\":2", "\"last\":1");
    user_files::write(&state, forged.as_bytes()).unwrap();
    assert_eq!(faults(&audit), [Fault::NoState]);
    assert!(audit.begin(run(9)).is_err(), "nothing is added to a record that was tampered with");
    fs::write(&state, &good).unwrap();
    add(&audit, 3..6);
    let text = fs::read(&path).unwrap();
    fs::write(&state, &good).unwrap();
    assert_eq!(faults(&audit), [Fault::OldState]);
    assert!(audit.begin(run(9)).is_err(), "the state would look current");
    assert_eq!(fs::read(&path).unwrap(), text, "and no line was removed");
    fs::remove_file(&path).unwrap();
    assert_eq!(found(&audit), [Found::CutAtEnd { expected: 3, last: 0 }]);
}

#[test]
fn a_record_written_with_another_key_is_detected() {
    let (folder, audit, _) = filled(2);
    fs::remove_file(&audit.key_path).unwrap();
    for _ in 0..2 {
        assert_eq!(faults(&self::audit(folder.path())).len(), 3);
    }
}

#[test]
fn the_chain_continues_when_files_are_rotated_and_deleted() {
    let (_folder, mut audit, _) = filled(0);
    audit.runs.file_bytes = 1_000;
    add(&audit, 0..100);
    let verdict = audit.verify().unwrap();
    assert_eq!(verdict.faults, []);
    let files = rotated_files(&audit.runs);
    assert_eq!(files.len(), MAX_RUN_FILES - 1);
    assert!(verdict.lines < 100);
    let last = 100 - verdict.lines as u64;
    assert_eq!(verdict.removed, [Removed { ring: "runs", last, until: String::new() }]);
    assert_eq!(verdict.removed[0].to_string(), format!("runs: rotation removed the lines up to number {last}"));
    fs::remove_file(&files[0]).unwrap();
    assert!(matches!(found(&audit)[..], [Found::CutAtFront { .. }]));
}

/// Finding: the next rotation took the first file there was for the first of the record.
#[test]
fn deleted_and_changed_files_are_still_detected_after_they_would_have_been_rotated_away() {
    type Tamper = fn(&Audit, &[PathBuf]);
    let tampers: [(&str, Tamper); 7] = [
        ("the oldest", |_, files| fs::remove_file(&files[0]).unwrap()),
        ("a middle one", |_, files| fs::remove_file(&files[7]).unwrap()),
        ("the newest", |_, files| fs::remove_file(files.last().unwrap()).unwrap()),
        ("the current one", |audit, _| fs::remove_file(audit.runs.current()).unwrap()),
        ("all", |audit, files| {
            for file in files.iter().chain([&audit.runs.current()]) {
                fs::remove_file(file).unwrap();
            }
        }),
        ("a line of one", |_, files| {
            let text = fs::read_to_string(&files[3]).unwrap();
            fs::write(&files[3], text.split_once('\n').unwrap().1).unwrap();
        }),
        ("renamed", |audit, files| fs::rename(&files[3], audit.runs.rotated(1)).unwrap()),
    ];
    for (what, tamper) in tampers {
        let (_folder, mut audit, _) = filled(0);
        audit.runs.file_bytes = 1_000;
        add(&audit, 0..100);
        tamper(&audit, &rotated_files(&audit.runs));
        assert!(!faults(&audit).is_empty(), "{what}");
        for round in 0..8 {
            add(&audit, 0..30);
            assert!(!faults(&audit).is_empty(), "{what}, after {} lines", 30 * (round + 1));
        }
        assert!(matches!(found(&audit)[0], Found::Lost { .. }), "{what}: {:?}", faults(&audit));
        assert_eq!(rotated_files(&audit.runs).len(), MAX_RUN_FILES - 1, "{what}");
    }
}

#[test]
fn planted_files_do_not_make_rotation_remove_more() {
    let (_folder, mut audit, _) = filled(0);
    audit.runs.file_bytes = 1_000;
    add(&audit, 0..20);
    for number in 0..40 {
        fs::write(audit.runs.rotated(number * 1_000_000), "planted").unwrap();
        fs::write(audit.folder.join(format!("audit-planted-{number}.jsonl")), "planted").unwrap();
    }
    add(&audit, 20..40);
    assert_eq!(State::read(&audit.state_path(), &audit.key).unwrap().unwrap().runs.first, 1);
}

/// Finding: refusals had the files of the runs, and lines of any length.
#[test]
fn refusals_do_not_push_runs_out() {
    let (_folder, mut audit, _) = filled(0);
    (audit.runs.file_bytes, audit.refusals.file_bytes) = (20_000, 20_000);
    let began = audit.begin(run(0)).unwrap();
    audit.end(began, run(0)).unwrap();
    for number in 0..500 {
        let names: Vec<String> = (0..50).map(|name| format!("{number}-{name}").repeat(50)).collect();
        let mut refusal = refusal(&"\u{1}".repeat(300));
        refusal.insert("arguments".to_owned(), json!(names));
        audit.count(refusal, NOW).unwrap();
    }
    let lines = audit.lines().unwrap();
    let longest = lines.iter().map(|line| line.text.len()).max().unwrap();
    assert!(longest < 2_500, "{longest}");
    let kinds: Vec<Value> =
        lines.iter().map(|line| Value::from(Line::read(&line.text).unwrap().text_in("kind"))).collect();
    assert_eq!(kinds[..3], ["run-begin", "run", "refusal"]);
    let verdict = audit.verify().unwrap();
    assert_eq!(verdict.faults, []);
    let [Removed { ring: "refusals", last, until }] = &verdict.removed[..] else { panic!("{:?}", verdict.removed) };
    assert_eq!((*last, until.as_str()), (502 - verdict.lines as u64, "2026-11-16T06:07:31Z"));
}

/// The texts of refusals and of their repetitions, as they are shown.
fn shown(audit: &Audit) -> Vec<String> {
    let describe = |line: &Shown| {
        let entry: Value = serde_json::from_str(&line.text).unwrap();
        match entry["kind"].as_str().unwrap() {
            "refusal" => entry["reason"].as_str().unwrap().to_owned(),
            "repeats" => format!("{}+{}", entry["of"], entry["count"]),
            kind => kind.to_owned(),
        }
    };
    audit.lines().unwrap().iter().map(describe).collect()
}

#[test]
fn repeated_refusals_are_counted() {
    let (_folder, audit, _) = filled(1);
    for _ in 0..1_000 {
        audit.count(refusal("a"), NOW).unwrap();
        audit.count(refusal("b"), NOW).unwrap();
    }
    add(&audit, 1..2);
    assert_eq!(shown(&audit), ["run", "a", "1+999", "b", "2+999", "run"]);
    assert_eq!(audit.verify().unwrap(), Verdict { lines: 4, ..Verdict::default() });
    // Later, and when others are counted, the number so far becomes a line.
    audit.count(refusal("a"), NOW + REPEAT_WINDOW).unwrap();
    assert_eq!(shown(&audit)[3..], ["2+999", "run", "1+999", "a"]);
    for number in 0..MAX_REPEATS {
        audit.count(refusal(&format!("c{number}")), NOW + REPEAT_WINDOW).unwrap();
    }
    audit.count(refusal("b"), NOW + REPEAT_WINDOW).unwrap();
    let lines = shown(&audit);
    assert_eq!(lines.iter().filter(|line| *line == "2+999").count(), 1, "{lines:?}");
    assert_eq!(lines.last().unwrap(), "b");
    assert_eq!(faults(&audit), []);
}

#[test]
fn what_began_and_did_not_end_is_reported() {
    let (_folder, audit, _) = filled(0);
    let [first, second] = [0, 1].map(|number| audit.begin(run(number)).unwrap());
    audit.end(second, run(1)).unwrap();
    let stages: Vec<Stage> = audit.lines().unwrap().iter().map(|line| line.stage).collect();
    assert_eq!(stages, [Stage::Unfinished, Stage::Ended, Stage::Complete]);
    let verdict = audit.verify().unwrap();
    assert_eq!(verdict.faults, []);
    let [unfinished] = &verdict.unfinished[..] else { panic!("{verdict:?}") };
    let unfinished = Line::read(unfinished).unwrap();
    assert_eq!((unfinished.number, unfinished.text_in("kind")), (first, "run-begin"));
    audit.end(first, run(0)).unwrap();
    assert_eq!(audit.verify().unwrap().unfinished, Vec::<String>::new());
}

#[test]
fn half_written_and_forged_lines_are_removed() {
    let (_folder, audit, path) = filled(2);
    let good = fs::read_to_string(&path).unwrap();
    let state = fs::read(audit.state_path()).unwrap();
    let forged = "{\"before\":\"\",\"code\":\"\",\"number\":18446744073709551615}\n";
    for tail in ["{\"kind\":\"run\",\"nu", forged, "garbage\ngarbage\n"] {
        fs::write(&path, format!("{good}{tail}")).unwrap();
        fs::write(audit.state_path(), &state).unwrap();
        audit.end(0, run(7)).unwrap();
        assert_eq!(audit.verify().unwrap(), Verdict { lines: 3, ..Verdict::default() }, "{tail}");
    }
}

#[test]
fn removing_the_whole_record_is_detected() {
    let (folder, ..) = filled(2);
    fs::remove_dir_all(folder.path().join("audit")).unwrap();
    let reopened = audit(folder.path());
    assert_eq!(found(&reopened), [Found::CutAtEnd { expected: 2, last: 0 }]);
    assert!(reopened.begin(run(0)).is_err());
    // What the message says to do.
    fs::remove_file(&reopened.key_path).unwrap();
    let new = audit(folder.path());
    add(&new, 0..1);
    assert_eq!(new.verify().unwrap(), Verdict { lines: 1, ..Verdict::default() });
}

#[test]
fn restoring_an_older_copy_of_the_folder_is_detected() {
    let (_folder, audit, path) = filled(2);
    let older = fs::read(&path).unwrap();
    let head = fs::read(audit.head_path()).unwrap();
    add(&audit, 2..4);
    fs::write(&path, older).unwrap();
    fs::write(audit.head_path(), head).unwrap();
    assert_eq!(found(&audit), [Found::CutAtEnd { expected: 4, last: 2 }]);
    add(&audit, 4..5);
    assert!(matches!(found(&audit)[..], [Found::Removed { .. }]), "{:?}", faults(&audit));
}

#[test]
fn the_state_fits_its_slot_whatever_the_numbers() {
    let code = "f".repeat(64);
    let time = "2026-11-16T06:07:31Z".to_owned();
    let ring = |files: usize| RingState {
        first: u64::MAX,
        before_first: code.clone(),
        last: u64::MAX,
        code: code.clone(),
        length: u64::MAX,
        files: vec![u64::MAX; files],
        removed_until: time.clone(),
        lost: vec![(u64::MAX, u64::MAX); state::MAX_LOST],
    };
    let repeat =
        Repeat { mark: "f".repeat(16), number: u64::MAX, count: u64::MAX, since: u64::MAX, until: time.clone() };
    let [runs, refusals] = [MAX_RUN_FILES, MAX_REFUSAL_FILES].map(ring);
    let state = State { turn: u64::MAX, runs, refusals, repeats: vec![repeat; MAX_REPEATS] };
    let length = state.slot(&Key::random().unwrap()).len();
    assert!(length <= state::SLOT_BYTES, "{length}");
}

/// Writes the files of a record that the previous version wrote: 20 lines, each in a file of its own, the first four removed.
fn previous() -> (TempDir, Audit) {
    let folder = tempfile::tempdir().unwrap();
    let files: Value = serde_json::from_str(include_str!("../fixtures/previous.json")).unwrap();
    for (name, text) in files.as_object().unwrap() {
        let path = folder.path().join(name);
        user_files::create_parent(&path).unwrap();
        user_files::write(&path, text.as_str().unwrap().as_bytes()).unwrap();
    }
    let audit = audit(folder.path());
    (folder, audit)
}

#[test]
fn a_record_of_the_previous_version_is_readable_and_continued() {
    let (_folder, audit) = previous();
    let removed = || vec![Removed { ring: "runs", last: 4, until: String::new() }];
    assert_eq!(audit.verify().unwrap(), Verdict { lines: 16, removed: removed(), ..Verdict::default() });
    assert_eq!(shown(&audit)[..3], ["run", "not granted", "run"]);
    audit.count(refusal("new"), NOW).unwrap();
    let began = audit.begin(run(1)).unwrap();
    audit.end(began, run(1)).unwrap();
    assert_eq!(audit.verify().unwrap(), Verdict { lines: 19, removed: removed(), ..Verdict::default() });
    assert_eq!(shown(&audit)[15..], ["not granted", "new", "run-begin", "run"]);
    // From now on there must be a state.
    fs::remove_file(audit.state_path()).unwrap();
    let reopened = Audit::open(&audit.folder, &audit.key_path).unwrap();
    assert_eq!(faults(&reopened), [Fault::NoState]);
}

#[test]
fn tampering_with_a_record_of_the_previous_version_is_detected() {
    for position in [0, 6, 14, 15] {
        let (folder, audit) = previous();
        // Before this version sees the record, and after it.
        for reopens in [true, false] {
            let path = rotated_files(&audit.runs).get(position).cloned().unwrap_or(audit.runs.current());
            let text = fs::read(&path).unwrap();
            fs::remove_file(&path).unwrap();
            if reopens {
                fs::remove_file(audit.state_path()).unwrap();
            }
            let audit = self::audit(folder.path());
            assert!(!faults(&audit).is_empty(), "{}", path.display());
            fs::write(path, text).unwrap();
            assert_eq!(faults(&audit), []);
        }
    }
}

/// Adds a line as a server of the previous version does.
fn add_as_before(audit: &Audit, file_bytes: u64) {
    let path = audit.runs.current();
    let mut head = Head::read(&audit.head_path(), &audit.key).unwrap().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), head.length, "it has nothing to repair");
    if head.length >= file_bytes {
        fs::rename(&path, audit.runs.rotated(head.last)).unwrap();
        head.length = 0;
    }
    let line = Line::new(&audit.key, head.last + 1, &head.code, run(head.last + 1));
    disk::append(&path, format!("{}\n", line.text).as_bytes()).unwrap();
    head = Head { last: line.number, code: line.code, length: head.length + line.text.len() as u64 + 1, ..head };
    head.write(&audit.head_path(), &audit.key).unwrap();
}

#[test]
fn servers_of_the_previous_version_may_share_the_record() {
    let (_folder, audit) = previous();
    for number in 0..30 {
        add_as_before(&audit, if number % 4 == 0 { 1 } else { FILE_BYTES });
        assert_eq!(faults(&audit), []);
        if number % 3 == 0 {
            audit.end(audit.begin(run(number)).unwrap(), run(number)).unwrap();
            audit.count(refusal(&number.to_string()), NOW).unwrap();
            assert_eq!(faults(&audit), []);
        }
    }
    let verdict = audit.verify().unwrap();
    let [Removed { ring: "runs", last, .. }] = verdict.removed[..] else { panic!("{verdict:?}") };
    assert_eq!(verdict.lines as u64, 20 + 30 + 3 * 10 - last);
}
