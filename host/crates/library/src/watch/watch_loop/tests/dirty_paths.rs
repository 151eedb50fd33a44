//! A scan of the dirty paths finds everything that changed.

use super::*;
use crate::scan::{self, Scan, ScanError};
use crate::snapshot::Snapshot;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use std::fs::{Permissions, remove_dir_all, remove_file, set_permissions};
use std::os::unix::fs::PermissionsExt;

const LIMIT: u64 = 1 << 20;

/// Includes hidden folders, folders that are never walked, and nested roots.
const FOLDERS: [&str; 9] = ["", "a", "a/b", "c", "a/.hidden", "a/node_modules", "skills", "skills/d", ".claude/skills"];

const NAMES: [&str; 5] = ["one.md", "SKILL.md", "config.yaml", "other.txt", "e"];

#[derive(Debug, Clone)]
enum Action {
    Write(String, u8),
    /// Through a temporary file, as editors do.
    Replace(String, u8),
    Move(String, String),
    Remove(String),
    CreateFolder(String),
    SetMode(String, u32),
    Link(String, String),
}

fn path() -> impl Strategy<Value = String> {
    let file = (select(&FOLDERS[..]), select(&NAMES[..])).prop_map(|(folder, name)| scan::join(folder, name));
    prop_oneof![4 => file, 1 => select(&FOLDERS[1..]).prop_map(str::to_owned)]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (path(), any::<u8>()).prop_map(|(path, text)| Action::Write(path, text)),
        6 => (path(), any::<u8>()).prop_map(|(path, text)| Action::Replace(path, text)),
        4 => (path(), path()).prop_map(|(from, to)| Action::Move(from, to)),
        3 => path().prop_map(Action::Remove),
        3 => path().prop_map(Action::CreateFolder),
        2 => (path(), select(&[0o600, 0o644, 0o700][..])).prop_map(|(path, mode)| Action::SetMode(path, mode)),
        1 => (path(), path()).prop_map(|(target, path)| Action::Link(target, path)),
    ]
}

fn perform(top: &Path, action: &Action) -> std::io::Result<()> {
    let at = |path: &str| top.join(path);
    match action {
        Action::Write(path, text) => write(at(path), [*text]),
        Action::Replace(path, text) => {
            let next = at(path).with_file_name(".next");
            write(&next, [*text]).and_then(|()| rename(next, at(path)))
        }
        Action::Move(from, to) => rename(at(from), at(to)),
        Action::Remove(path) => remove_file(at(path)).or_else(|_| remove_dir_all(at(path))),
        Action::CreateFolder(path) => create_dir_all(at(path)),
        Action::SetMode(path, mode) => set_permissions(at(path), Permissions::from_mode(*mode)),
        Action::Link(target, path) => symlink(target, at(path)),
    }
}

/// Folders with their entries, and files with their text.
fn describe(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (number, root) in snapshot.roots.iter().enumerate() {
        let folder = |folder: &crate::snapshot::Folder| {
            format!("{:?} {:?} {:?} {:?}", folder.files, folder.folders, folder.links, folder.skipped)
        };
        all.extend(root.folders.iter().map(|(path, listed)| (format!("{number}:{path}/"), folder(listed))));
        all.extend(root.files().iter().map(|(path, file)| (format!("{number}:{path}"), format!("{:?}", file.text))));
    }
    all
}

/// Reads every file, so that later scans compare each of them.
fn read_everything(snapshot: &Snapshot) {
    for root in &snapshot.roots {
        for (path, folder) in root.folders.iter() {
            for name in &folder.files {
                root.file(&scan::join(path, name), LIMIT);
            }
        }
    }
}

/// Lets the watcher work until the dirty paths are known, but not for ever: some actions make them unknown for good.
fn wait_until_known(cookies: &SyncCookies) {
    let is_known = |_: &i32| {
        std::thread::yield_now();
        cookies.dirty_since(std::time::Instant::now()).is_some()
    };
    (0..2_000).find(is_known);
}

/// After each round, compares a scan of the dirty paths with a full scan. Returns how often the dirty paths were known.
fn compare_scans(rounds: &[Vec<Action>]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    for inner in ["a/b", "c", "skills"] {
        create_dir_all(top.join(inner)).unwrap();
    }
    let roots = roots_in(&top);
    // On its own thread, as in a server, so that what is created is followed while a scan waits for it.
    let (watcher, _signal) = crate::watch::Watcher::new(Arc::clone(&roots));
    watcher.watch();
    let cookies = watcher.sync_cookies();
    wait_until_known(&cookies);
    let mut last_scan = std::time::Instant::now();
    let mut known = scan::scan(&roots, &Snapshot::default(), LIMIT).unwrap().unwrap().snapshot;
    read_everything(&known);
    let mut dirty_scans = 0;
    for actions in rounds {
        for action in actions {
            let _ = perform(&top, action);
        }
        wait_until_known(&cookies);
        let began = std::time::Instant::now();
        let dirty = scan::scan_dirty(&roots, &known, LIMIT, || cookies.dirty_since(last_scan));
        let full = scan::scan(&roots, &known, LIMIT).unwrap();
        let now = |scan: &Option<Scan>| describe(scan.as_ref().map_or(&known, |scan| &scan.snapshot));
        match dirty {
            Ok(dirty) => {
                assert_eq!(now(&dirty), now(&full), "{actions:?}");
                dirty_scans += 1;
            }
            Err(error) => assert_eq!(error, ScanError::DirtyPathsUnknown),
        }
        known = full.map_or(known, |scan| scan.snapshot);
        read_everything(&known);
        last_scan = began;
    }
    dirty_scans
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn scanning_dirty_paths_finds_all_changes(rounds in prop::collection::vec(prop::collection::vec(action(), 1..4), 1..16)) {
        compare_scans(&rounds);
    }
}

#[test]
fn edits_of_files_are_known_as_dirty_paths() {
    let edits = |round: u8| {
        let (file, other) = ("a/one.md".to_owned(), "skills/SKILL.md".to_owned());
        vec![Action::Write(file.clone(), round), Action::Replace(other, round), Action::Move(file, "c/e".to_owned())]
    };
    let rounds: Vec<Vec<Action>> = (0..40).map(edits).collect();
    let dirty_scans = compare_scans(&rounds);
    assert!(dirty_scans >= 30, "only {dirty_scans} of 40");
}
