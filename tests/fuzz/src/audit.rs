//! The audit record after changes to its folder, but not to the key and the state outside of it.
//!
//! The input is a list of edits: what to do, in which file, where, how many bytes or lines, and these bytes.

use audit::{Audit, Entry};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const MAX_EDITS: usize = 4;

/// The files of the record. The head is for servers of an earlier version, and nothing is checked against it.
const FILES: [&str; 3] = ["audit.jsonl", "refusals.jsonl", "head.json"];
const RINGS: usize = 2;

thread_local! {
    static RECORD: Record = Record::new();
}

pub fn audit(bytes: &[u8]) {
    RECORD.with(|record| {
        let mut files = record.files.clone();
        let mut rest = bytes;
        for _ in 0..MAX_EDITS {
            let Some(after) = edit(&mut files, rest) else { break };
            rest = after;
        }
        if files != record.files {
            record.write(&files);
            record.check(&files);
            record.write(&record.files);
            fs::write(record.state(), &record.state_before).expect("a writable file");
        }
    });
}

/// Makes the first edit of a list, and returns the others.
fn edit<'a>(files: &mut [Option<Vec<u8>>], edits: &'a [u8]) -> Option<&'a [u8]> {
    let ([action, file, high, low, count], rest) = edits.split_first_chunk::<5>()?;
    let file = &mut files[usize::from(*file) % FILES.len()];
    let mut bytes = file.take().unwrap_or_default();
    let at = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
    let count = usize::from(*count);
    let (given, rest) = rest.split_at(count.min(rest.len()));
    let end = bytes.len().min(at + count);
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (line, other) = (at % lines.len().max(1), count % lines.len().max(1));
    match action % 8 {
        0 => drop(bytes.splice(at..end, given.iter().copied())),
        1 => drop(bytes.splice(at..at, given.iter().copied())),
        2 => drop(bytes.drain(at..end)),
        3 => bytes.truncate(at),
        4 => return Some(rest),
        5 if !lines.is_empty() => {
            lines.insert(other, lines[line].clone());
            bytes = lines.concat();
        }
        6 if !lines.is_empty() => {
            lines.swap(line, other);
            bytes = lines.concat();
        }
        _ if !lines.is_empty() => {
            lines.remove(line);
            bytes = lines.concat();
        }
        _ => {}
    }
    *file = Some(bytes);
    Some(rest)
}

struct Record {
    folder: TempDir,
    audit: Audit,
    /// The files as they were written, and the state.
    files: Vec<Option<Vec<u8>>>,
    state_before: Vec<u8>,
}

impl Record {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let audit = Audit::open(&folder.path().join("audit"), &folder.path().join("audit.key")).expect("a new record");
        for number in 0..4 {
            let began =
                audit.begin(entry(json!({"kind": "run", "script": format!("{number}.py")}))).expect("a new line");
            audit
                .end(began, entry(json!({"kind": "run", "exit": number, "text": "é\n\"quoted\""})))
                .expect("a new line");
            let refusal = json!({"kind": "refused", "reason": format!("reason {}", number / 2), "time": "now"});
            audit.count(entry(refusal), Duration::from_secs(1)).expect("a new line");
        }
        let mut record = Self { folder, audit, files: Vec::new(), state_before: Vec::new() };
        assert!(record.faults().is_empty(), "a genuine record is faulty");
        record.files = FILES.iter().map(|name| fs::read(record.path(name)).ok()).collect();
        record.state_before = fs::read(record.state()).expect("a state");
        record
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("audit").join(name)
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("audit.state")
    }

    fn write(&self, files: &[Option<Vec<u8>>]) {
        for (name, bytes) in FILES.iter().zip(files) {
            match bytes {
                Some(bytes) => fs::write(self.path(name), bytes).expect("a writable file"),
                None => drop(fs::remove_file(self.path(name))),
            }
        }
    }

    fn faults(&self) -> Vec<String> {
        match self.audit.verify() {
            Ok(verdict) => verdict.faults.iter().map(ToString::to_string).collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    /// Whatever was done to the lines is noticed, also after the next line was written.
    fn check(&self, files: &[Option<Vec<u8>>]) {
        let faults = self.faults();
        // A server that is killed leaves a part of a line at the end.
        let is_torn =
            |before: &[u8], after: &[u8]| after.strip_prefix(before).is_some_and(|rest| !rest.contains(&b'\n'));
        let is_harmless = |(before, after): (&Option<Vec<u8>>, &Option<Vec<u8>>)| match (before, after) {
            (Some(before), Some(after)) => is_torn(before, after),
            _ => before == after,
        };
        let is_changed = !self.files.iter().zip(files).take(RINGS).all(is_harmless);
        assert!(!is_changed || !faults.is_empty(), "a change is not noticed");
        let _ = self.audit.lines();
        if self.audit.begin(entry(json!({"kind": "run"}))).is_ok() {
            assert!(!is_changed || !self.faults().is_empty(), "the next line hides {faults:?}");
        }
    }
}

fn entry(value: Value) -> Entry {
    if let Value::Object(entry) = value { entry } else { Entry::new() }
}
