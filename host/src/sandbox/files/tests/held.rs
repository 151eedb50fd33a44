//! A folder in memory is to a script what it is on disk.

use super::*;
use crate::library::held::{HeldRoot, Room};
use crate::sandbox::files::held::Held;
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

fn told(files: &mut Files, path: &str) -> String {
    let stat =
        |files: &Files, follow| files.stat(&top(), path, follow).map(|stat| (stat.kind, stat.kind == Kind::File));
    let (followed, plain) = (stat(files, true), stat(files, false));
    let listed = files.list(&top().join(path).unwrap().path).map(|entries| {
        let entry = |entry: Entry| (entry.name, entry.kind);
        entries.into_iter().map(entry).collect::<Vec<_>>()
    });
    let link = files.read_link(&top(), path);
    format!("{followed:?} {plain:?} {:?} {listed:?} {link:?}", read(files, path))
}

fn names_in(files: &Files) -> Vec<String> {
    super::names(files, "skill")
}

#[test]
fn what_is_held_is_seen_as_on_disk_and_never_changes() {
    let machine = Machine::new();
    let at = |path: &str| machine.path(path);
    fs::create_dir_all(at("skill/.hidden")).unwrap();
    fs::create_dir_all(at("skill/empty")).unwrap();
    fs::write(at("skill/SKILL.md"), "x").unwrap();
    fs::write(at("skill/.hidden/key"), "secret").unwrap();
    for (leads, link) in [(".", "here"), ("scripts", "folder"), ("folder/run.py", "chain"), (".hidden/key", "key")] {
        symlink(leads, at("skill").join(link)).unwrap();
    }
    symlink("run.py", at("skill/scripts/again.py")).unwrap();
    let held = HeldRoot::of(&machine.open("skill"), &BTreeSet::new(), 1_000, &mut Room::default()).unwrap();
    let mut still = Files::new(machine.denials.clone());
    still.mount("skill", Held::skill(Arc::new(held).top()));
    let mut live = machine.files(Vec::new());
    let names = [
        "SKILL.md", "scripts", "run.py", "again.py", "out", "etc", "inside", "here", "folder", "chain", "key", "empty",
        "none", ".hidden",
    ];
    let second = names.iter().flat_map(|first| names.map(|second| format!("skill/{first}/{second}")));
    let paths: Vec<String> = names.iter().map(|name| format!("skill/{name}")).chain(second).collect();
    assert_eq!(names_in(&still), names_in(&live));
    for path in paths.iter().map(String::as_str) {
        // Whether something in the way is no folder, or not there, is told apart on disk only.
        let seen = told(&mut live, path).replace("NotAFolder", "NotFound");
        assert_eq!(told(&mut still, path).replace("NotAFolder", "NotFound"), seen, "{path}");
    }
    for path in ["skill/new", "skill/SKILL.md"] {
        assert_eq!(still.open(&top(), path, WRITE).err(), Some(FileError::ReadOnly), "{path}");
        assert!(still.remove_file(&top(), path).is_err() && still.rename((&top(), path), (&top(), "skill/x")).is_err());
    }
    fs::remove_dir_all(at("skill")).unwrap();
    assert_eq!(read(&mut still, "skill/chain").unwrap(), "print('on disk')");
}
