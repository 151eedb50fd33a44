//! Looking where the watcher saw something finds everything that changed.

use super::*;
use crate::library::scan::{self, Scan, Unsure};
use crate::library::snapshot::Snapshot;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;
use std::fs::{Permissions, remove_dir_all, remove_file, set_permissions};
use std::os::unix::fs::PermissionsExt;

const LIMIT: u64 = 1 << 20;

/// Among them hidden ones, some that are never walked, and roots inside the root.
const FOLDERS: [&str; 9] = ["", "a", "a/b", "c", "a/.hidden", "a/node_modules", "skills", "skills/d", ".claude/skills"];

const NAMES: [&str; 5] = ["one.md", "SKILL.md", "config.yaml", "other.txt", "e"];

/// Something that people and their programs do.
#[derive(Debug, Clone)]
enum Deed {
    Write(String, u8),
    /// As editors do it.
    Replace(String, u8),
    Move(String, String),
    Remove(String),
    Make(String),
    Touch(String, u32),
    Link(String, String),
}

fn place() -> impl Strategy<Value = String> {
    let file = (select(&FOLDERS[..]), select(&NAMES[..])).prop_map(|(folder, name)| scan::join(folder, name));
    prop_oneof![4 => file, 1 => select(&FOLDERS[1..]).prop_map(str::to_owned)]
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        6 => (place(), any::<u8>()).prop_map(|(place, text)| Deed::Write(place, text)),
        6 => (place(), any::<u8>()).prop_map(|(place, text)| Deed::Replace(place, text)),
        4 => (place(), place()).prop_map(|(from, to)| Deed::Move(from, to)),
        3 => place().prop_map(Deed::Remove),
        3 => place().prop_map(Deed::Make),
        2 => (place(), select(&[0o600, 0o644, 0o700][..])).prop_map(|(place, mode)| Deed::Touch(place, mode)),
        1 => (place(), place()).prop_map(|(target, place)| Deed::Link(target, place)),
    ]
}

/// Does it, if it can be done.
fn act(top: &Path, deed: &Deed) -> std::io::Result<()> {
    let at = |place: &str| top.join(place);
    match deed {
        Deed::Write(place, text) => write(at(place), [*text]),
        Deed::Replace(place, text) => {
            let next = at(place).with_file_name(".next");
            write(&next, [*text]).and_then(|()| rename(next, at(place)))
        }
        Deed::Move(from, to) => rename(at(from), at(to)),
        Deed::Remove(place) => remove_file(at(place)).or_else(|_| remove_dir_all(at(place))),
        Deed::Make(place) => create_dir_all(at(place)),
        Deed::Touch(place, mode) => set_permissions(at(place), Permissions::from_mode(*mode)),
        Deed::Link(target, place) => symlink(target, at(place)),
    }
}

/// Folders with what is in them, and files with their text.
fn described(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (number, root) in snapshot.roots.iter().enumerate() {
        let folder = |folder: &crate::library::snapshot::Folder| {
            format!("{:?} {:?} {:?} {:?}", folder.files, folder.folders, folder.links, folder.troubles)
        };
        all.extend(root.folders.iter().map(|(path, found)| (format!("{number}:{path}/"), folder(found))));
        all.extend(root.files().iter().map(|(path, file)| (format!("{number}:{path}"), format!("{:?}", file.text))));
    }
    all
}

/// Every file is asked for, so that each is looked at again.
fn read_everything(snapshot: &Snapshot) {
    for root in &snapshot.roots {
        for (path, folder) in &root.folders {
            for name in &folder.files {
                root.file(&scan::join(path, name), LIMIT);
            }
        }
    }
}

/// Looks after each of some deeds, by name and at everything. How often names told enough.
fn looks_by_name(rounds: &[Vec<Deed>]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    for inner in ["a/b", "c", "skills"] {
        create_dir_all(top.join(inner)).unwrap();
    }
    let (mut watcher, _disturbances) = watcher(&top);
    let roots = Arc::clone(&watcher.watching.roots);
    let mut seen = std::time::Instant::now();
    let mut known = scan::scan(&roots, &Snapshot::default(), LIMIT).unwrap().unwrap().snapshot;
    read_everything(&known);
    let mut by_name = 0;
    for deeds in rounds {
        for deed in deeds {
            let _ = act(&top, deed);
        }
        watcher.becomes_certain();
        let began = std::time::Instant::now();
        let named = scan::scan_stirred(&roots, &known, LIMIT, || watcher.witness.stirred_since(seen));
        let everything = scan::scan(&roots, &known, LIMIT).unwrap();
        let now = |found: &Option<Scan>| described(found.as_ref().map_or(&known, |scan| &scan.snapshot));
        match named {
            Ok(named) => {
                assert_eq!(now(&named), now(&everything), "{deeds:?}");
                by_name += 1;
            }
            Err(unsure) => assert_eq!(unsure, Unsure::Unnamed),
        }
        known = everything.map_or(known, |scan| scan.snapshot);
        read_everything(&known);
        seen = began;
    }
    by_name
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_found_by_name_is_all_that_changed(rounds in prop::collection::vec(prop::collection::vec(deed(), 1..4), 1..16)) {
        looks_by_name(&rounds);
    }
}

#[test]
fn edits_of_files_are_found_by_name() {
    let edits = |round: u8| {
        let (file, other) = ("a/one.md".to_owned(), "skills/SKILL.md".to_owned());
        vec![Deed::Write(file.clone(), round), Deed::Replace(other, round), Deed::Move(file, "c/e".to_owned())]
    };
    let rounds: Vec<Vec<Deed>> = (0..40).map(edits).collect();
    let by_name = looks_by_name(&rounds);
    assert!(by_name >= 30, "only {by_name} of 40");
}
