//! A frozen folder looks to a script like the same folder on disk.

use super::*;
use crate::files::frozen::Frozen;
use library::frozen::{FreezeBudget, FrozenRoot};
use std::os::unix::fs::symlink;

fn describe(files: &mut Files, path: &str) -> String {
    let stat = |follow| files.stat(&top(), path, follow).map(|stat| stat.kind);
    let (followed, not_followed) = (stat(true), stat(false));
    let listed = files.list(&top().join(path).unwrap().path, NEVER).map(|entries| {
        let entry = |entry: Entry| (entry.name, entry.kind);
        entries.into_iter().map(entry).collect::<Vec<_>>()
    });
    let link = files.read_link(&top(), path);
    format!("{followed:?} {not_followed:?} {:?} {listed:?} {link:?}", read(files, path))
}

#[test]
fn a_frozen_folder_looks_like_the_one_on_disk_and_never_changes() {
    let machine = Machine::new();
    let at = |path: &str| machine.path(path);
    fs::create_dir_all(at("skill/.hidden")).unwrap();
    fs::create_dir_all(at("skill/empty")).unwrap();
    fs::write(at("skill/SKILL.md"), "x").unwrap();
    fs::write(at("skill/.hidden/key"), "secret").unwrap();
    for (target, link) in [(".", "here"), ("scripts", "folder"), ("folder/run.py", "chain"), (".hidden/key", "key")] {
        symlink(target, at("skill").join(link)).unwrap();
    }
    symlink("run.py", at("skill/scripts/again.py")).unwrap();
    let root = FrozenRoot::read(&machine.open("skill"), [""], &mut FreezeBudget::default()).unwrap();
    let mut frozen = Files::new(machine.denials.clone());
    frozen.mount("skill", Frozen(Arc::new(root).top()));
    let mut live = machine.files(Vec::new());
    let entries = [
        "SKILL.md", "scripts", "run.py", "again.py", "out", "etc", "inside", "here", "folder", "chain", "key", "empty",
        "none", ".hidden",
    ];
    let second = entries.iter().flat_map(|first| entries.map(|second| format!("skill/{first}/{second}")));
    let paths: Vec<String> = entries.iter().map(|name| format!("skill/{name}")).chain(second).collect();
    assert_eq!(names(&frozen, "skill"), names(&live, "skill"));
    for path in paths.iter().map(String::as_str) {
        // Only the disk distinguishes a file in the way from a missing folder.
        let on_disk = describe(&mut live, path).replace("NotAFolder", "NotFound");
        assert_eq!(describe(&mut frozen, path).replace("NotAFolder", "NotFound"), on_disk, "{path}");
    }
    for path in ["skill/new", "skill/SKILL.md"] {
        assert_eq!(frozen.open(&top(), path, WRITE).err(), Some(FileError::ReadOnly), "{path}");
        assert_eq!(frozen.remove_file(&top(), path), Err(FileError::ReadOnly), "{path}");
        assert_eq!(rename(&mut frozen, path, "skill/x"), Err(FileError::ReadOnly), "{path}");
    }
    fs::remove_dir_all(at("skill")).unwrap();
    assert_eq!(read(&mut frozen, "skill/chain").unwrap(), "print('on disk')");
}
