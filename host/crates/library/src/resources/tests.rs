//! A frozen folder answers as the disk did.

use super::*;
use crate::frozen::{FreezeBudget, FrozenRoot};
use cap_std::ambient_authority;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// Maximum size of a document outside of skills.
const LIMIT: u64 = 1_000;

const LONG: Oversize = Oversize { size: 3 << 30, limit: LIMIT };

/// A root with a skill, and with links of every kind.
fn scene() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for path in ["skill/lib/deep", "skill/.secret", "skill/node_modules/x", ".store/real", "plain", "target"] {
        std::fs::create_dir_all(at(path)).unwrap();
    }
    let files = "skill/SKILL.md skill/a.txt skill/.hidden.txt skill/.secret/key.txt skill/lib/b.txt skill/lib/deep/c.txt \
                 skill/node_modules/x/d.txt .store/real/SKILL.md .store/real/e.txt plain/f.md target/g.md";
    for path in files.split_whitespace() {
        std::fs::write(at(path), path).unwrap();
    }
    for (path, target) in [
        ("skill/to-file", "lib/b.txt"),
        ("skill/to-folder", "lib"),
        ("skill/to-itself", "."),
        ("skill/to-hidden", ".secret/key.txt"),
        ("skill/to-link", "to-folder/deep"),
        ("skill/out", "../plain"),
        ("skill/away", "/etc/hostname"),
        ("skill/nowhere", "missing"),
        ("skill/round", "round"),
        ("skill/home", "../skill/a.txt"),
        ("skill/lib/up", ".."),
        ("skill/lib/m.txt", "b.txt"),
        ("skill/chain", ".secret/next"),
        ("skill/.secret/next", "../lib"),
        ("skill/repo", ".."),
        ("linked", ".store/real"),
        ("alias", "skill"),
        ("plain/k.md", "../skill/a.txt"),
    ] {
        symlink(target, at(path)).unwrap();
    }
    symlink("plain/f.md", at("config.yaml")).unwrap();
    std::fs::File::create(at("plain/long.md")).unwrap().set_len(LONG.size).unwrap();
    mknodat(CWD, at("skill/pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    folder
}

fn both(folder: &Path) -> [ResourceFolder; 2] {
    let opened = Arc::new(Dir::open_ambient_dir(folder, ambient_authority()).unwrap());
    let frozen = FrozenRoot::read(&opened, ["skill", "alias"], &mut FreezeBudget::default()).unwrap();
    [ResourceFolder::OnDisk(opened), ResourceFolder::Frozen(Arc::new(frozen).top())]
}

/// Everything that a folder answers about a path.
fn describe(folder: &ResourceFolder, path: &str) -> String {
    let read = folder.read(path, 1_000).map(|bytes| String::from_utf8(bytes).unwrap());
    let entries = folder.entries(path).ok().map(|entries| {
        let mut lines: Vec<String> =
            entries.into_iter().filter_map(|entry| Some(format!("{:?} {}", entry.kind, entry.name?))).collect();
        lines.sort();
        lines
    });
    let (target, hidden, files) = (folder.target(path), folder.leads_to_hidden(path), folder.list_files(path));
    format!("{read:?} {:?} {target:?} {hidden} {files:?} {entries:?}", folder.read(path, 3).is_ok())
}

#[test]
fn a_frozen_folder_answers_as_the_disk_did() {
    let scene = scene();
    let [disk, frozen] = both(scene.path());
    let names = "SKILL.md a.txt lib deep b.txt c.txt to-file to-folder to-itself to-hidden to-link out away nowhere round pipe \
                 e.txt f.md missing node_modules x d.txt home up m.txt chain repo";
    let deeper = |parents: &[String]| -> Vec<String> {
        parents.iter().flat_map(|parent| names.split_whitespace().map(move |name| format!("{parent}/{name}"))).collect()
    };
    let first: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
    let second = deeper(&first);
    let third = deeper(&second);
    let paths = [first, second, third].concat();
    for base in ["skill", "skill/lib", "skill/to-folder", "alias"] {
        let (disk, frozen) = (disk.open(base).unwrap(), frozen.open(base).unwrap());
        for path in &paths {
            assert_eq!(describe(&frozen, path), describe(&disk, path), "{path} in {base}");
        }
        assert_eq!((frozen.list_files(""), frozen.target("")), (disk.list_files(""), Some(Target::Folder)));
    }
    let opened = "skill/away skill/nowhere missing skill/a.txt skill/out skill/../skill/lib ../x skill/repo linked";
    for path in opened.split_whitespace() {
        assert_eq!(frozen.open(path).is_err(), disk.open(path).is_err(), "{path}");
    }
    let ResourceFolder::Frozen(frozen) = frozen else { panic!("it is frozen") };
    for path in ["plain/f.md", "target/g.md", "config.yaml"] {
        assert!(frozen.read(path).is_err(), "{path} does not belong to a skill");
    }
}

#[test]
fn nothing_hidden_is_served_through_a_link() {
    let scene = scene();
    symlink(".secret", scene.path().join("skill/shown")).unwrap();
    for folder in both(scene.path()) {
        assert!(folder.open("linked").is_err());
        let skill = folder.open("skill").unwrap();
        for path in ["shown", "shown/key.txt", "to-hidden"] {
            assert!(skill.open(path).is_err() && skill.read(path, LIMIT).is_err(), "{path}");
            assert!(skill.target(path).is_none() && skill.entries(path).is_err(), "{path}");
            assert_eq!(skill.list_files(path), [""; 0], "{path}");
        }
        assert!(!skill.list_files("").contains(&"to-hidden".to_owned()));
    }
}

#[test]
fn files_beyond_the_budget_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("SKILL.md"), "x").unwrap();
    std::fs::File::create(folder.path().join("huge")).unwrap().set_len(3 << 30).unwrap();
    let opened = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
    let error = FrozenRoot::read(&opened, [""], &mut FreezeBudget::default()).unwrap_err();
    assert!(error.to_string().contains("more than 1024 MiB or 200000 files\nhint: "), "{error}");
}

#[test]
fn a_folder_lists_only_its_files() {
    let folder = tempfile::tempdir().unwrap();
    for path in ["in/folder", "out"] {
        std::fs::create_dir_all(folder.path().join(path)).unwrap();
    }
    for path in ["in/b.py", "in/a.py", "in/.hidden", "in/folder/deep.py", "out/secret.py"] {
        std::fs::write(folder.path().join(path), "").unwrap();
    }
    symlink("a.py", folder.path().join("in/c.py")).unwrap();
    symlink("../out/secret.py", folder.path().join("in/d.py")).unwrap();
    symlink("../../out", folder.path().join("in/folder/out")).unwrap();
    let root = Dir::open_ambient_dir(folder.path().join("in"), ambient_authority()).unwrap();
    let root = ResourceFolder::OnDisk(Arc::new(root));
    assert_eq!(root.list_files(""), ["a.py", "b.py", "c.py"]);
    assert_eq!(root.list_files("folder"), ["deep.py"]);
    for nothing in ["a.py", "missing", "..", "folder/out", "../out"] {
        assert_eq!(root.list_files(nothing), [""; 0], "{nothing}");
    }
    for number in 0..2_000 {
        std::fs::write(folder.path().join(format!("in/folder/{number}")), "").unwrap();
    }
    assert_eq!(root.list_files("folder").len(), MAX_LISTED_ENTRIES);
}
