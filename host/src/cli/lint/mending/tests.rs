use super::*;
use cap_std::ambient_authority;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

fn edit(start: u32, end: u32, text: &str) -> Edit {
    Edit { start, end, text: text.to_owned() }
}

/// A folder with the file `a/SKILL.md`.
fn folder(text: &str) -> (TempDir, Dir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("a")).unwrap();
    std::fs::write(folder.path().join("a/SKILL.md"), text).unwrap();
    let opened = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
    (folder, opened)
}

fn read(folder: &TempDir, path: &str) -> String {
    std::fs::read_to_string(folder.path().join(path)).unwrap()
}

/// Names of everything in the skill's folder.
fn names(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path().join("a")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn edits_are_applied_in_order_and_overlapping_ones_wait() {
    let text = "été and more";
    let edits = vec![edit(10, 14, "less"), edit(0, 5, "hiver"), edit(0, 5, "hiver"), edit(4, 8, "x"), edit(5, 5, ",")];
    let settled = settled(text, edits);
    assert_eq!(applied(text, &settled), "hiver, and less");
}

#[test]
fn edits_that_make_no_sense_are_left_out() {
    for wrong in [edit(1, 2, "x"), edit(5, 4, "x"), edit(0, 99, "x"), edit(u32::MAX, u32::MAX, "x")] {
        assert_eq!(settled("été", vec![wrong]), []);
    }
}

#[test]
fn ten_thousand_edits_are_one_new_file() {
    let text = "a\u{200b}".repeat(10_000);
    let edits: Vec<Edit> = (0..10_000).rev().map(|number| edit(number * 4 + 1, number * 4 + 4, "")).collect();
    let settled = settled(&text, edits);
    assert_eq!(settled.len(), 10_000);
    let (folder, root) = folder(&text);
    replace(&root, "a/SKILL.md", &text, &applied(&text, &settled)).unwrap();
    assert_eq!(read(&folder, "a/SKILL.md"), "a".repeat(10_000));
}

#[test]
fn a_file_keeps_its_permissions_and_leaves_nothing_beside_it() {
    let (folder, root) = folder("old");
    let path = folder.path().join("a/SKILL.md");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    replace(&root, "a/SKILL.md", "old", "new").unwrap();
    assert_eq!(read(&folder, "a/SKILL.md"), "new");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
    assert_eq!(names(&folder), ["SKILL.md"]);
}

#[test]
fn what_changed_meanwhile_stays_as_it_is() {
    let (folder, root) = folder("edited");
    for before in ["old", "edited and longer", ""] {
        assert!(matches!(replace(&root, "a/SKILL.md", before, "new"), Err(Unmended::Changed)), "{before}");
    }
    assert_eq!((read(&folder, "a/SKILL.md").as_str(), names(&folder).len()), ("edited", 1));
}

#[test]
fn links_pipes_and_read_only_files_stay_as_they_are() {
    let (folder, root) = folder("old");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x.md"), "old").unwrap();
    let place = |name: &str| folder.path().join("a").join(name);
    symlink(outside.path().join("x.md"), place("out.md")).unwrap();
    symlink("SKILL.md", place("in.md")).unwrap();
    symlink(outside.path(), folder.path().join("way")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, place("pipe.md"), rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
        .unwrap();
    std::fs::create_dir(place("folder.md")).unwrap();
    for link in ["a/out.md", "a/in.md"] {
        assert!(matches!(replace(&root, link, "old", "new"), Err(Unmended::Link)), "{link}");
    }
    for odd in ["a/pipe.md", "a/folder.md"] {
        assert!(matches!(replace(&root, odd, "old", "new"), Err(Unmended::NotAFile)), "{odd}");
    }
    for escape in ["way/x.md", "../x.md", "/tmp/x.md"] {
        assert!(replace(&root, escape, "old", "new").is_err(), "{escape}");
    }
    std::fs::set_permissions(place("SKILL.md"), std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(replace(&root, "a/SKILL.md", "old", "new"), Err(Unmended::ReadOnly)));
    assert_eq!(read(&folder, "a/SKILL.md"), "old");
    assert_eq!(std::fs::read_to_string(outside.path().join("x.md")).unwrap(), "old");
}

#[test]
fn only_markdown_of_the_library_is_written() {
    let (folder, root) = folder("old");
    for (path, file) in [("a/run.sh", "a/run.sh"), (".git/x.md", ".git/x.md"), ("a/.x.md", "a/.x.md")] {
        let place = folder.path().join(file);
        std::fs::create_dir_all(place.parent().unwrap_or(Path::new(""))).unwrap();
        std::fs::write(&place, "old").unwrap();
        assert!(matches!(replace(&root, path, "old", "new"), Err(Unmended::NotOurs)), "{path}");
        assert_eq!(std::fs::read_to_string(place).unwrap(), "old");
    }
}
