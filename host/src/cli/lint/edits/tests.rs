use super::*;
use cap_std::ambient_authority;
use std::os::unix::fs::{PermissionsExt, symlink};
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

/// The names of all files in the skill's folder.
fn names(folder: &TempDir) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path().join("a")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn edits_are_applied_in_order_and_overlapping_ones_are_dropped() {
    let text = "été and more";
    let edits = vec![edit(10, 14, "less"), edit(0, 5, "hiver"), edit(0, 5, "hiver"), edit(4, 8, "x"), edit(5, 5, ",")];
    let sorted = without_overlaps(text, edits);
    assert_eq!(apply(text, &sorted), "hiver, and less");
}

#[test]
fn invalid_edits_are_dropped() {
    for invalid in [edit(1, 2, "x"), edit(5, 4, "x"), edit(0, 99, "x"), edit(u32::MAX, u32::MAX, "x")] {
        assert_eq!(without_overlaps("été", vec![invalid]), []);
    }
}

#[test]
fn ten_thousand_edits_are_applied_at_once() {
    let text = "a\u{200b}".repeat(10_000);
    let edits: Vec<Edit> = (0..10_000).rev().map(|number| edit(number * 4 + 1, number * 4 + 4, "")).collect();
    let sorted = without_overlaps(&text, edits);
    assert_eq!(sorted.len(), 10_000);
    let (folder, root) = folder(&text);
    replace_file(&root, "a/SKILL.md", &text, &apply(&text, &sorted)).unwrap();
    assert_eq!(read(&folder, "a/SKILL.md"), "a".repeat(10_000));
}

#[test]
fn permissions_are_kept_and_no_temporary_file_remains() {
    let (folder, root) = folder("old");
    let path = folder.path().join("a/SKILL.md");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    replace_file(&root, "a/SKILL.md", "old", "new").unwrap();
    assert_eq!(read(&folder, "a/SKILL.md"), "new");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
    assert_eq!(names(&folder), ["SKILL.md"]);
}

#[test]
fn a_file_that_changed_is_not_replaced() {
    let (folder, root) = folder("edited");
    for before in ["old", "edited and longer", ""] {
        assert!(matches!(replace_file(&root, "a/SKILL.md", before, "new"), Err(ReplaceError::Changed)), "{before}");
    }
    assert_eq!((read(&folder, "a/SKILL.md").as_str(), names(&folder).len()), ("edited", 1));
}

#[test]
fn links_pipes_and_read_only_files_are_not_replaced() {
    let (folder, root) = folder("old");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("x.md"), "old").unwrap();
    let path_of = |name: &str| folder.path().join("a").join(name);
    symlink(outside.path().join("x.md"), path_of("out.md")).unwrap();
    symlink("SKILL.md", path_of("in.md")).unwrap();
    symlink(outside.path(), folder.path().join("way")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, path_of("pipe.md"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    std::fs::create_dir(path_of("folder.md")).unwrap();
    for link in ["a/out.md", "a/in.md"] {
        assert!(matches!(replace_file(&root, link, "old", "new"), Err(ReplaceError::Link)), "{link}");
    }
    for special in ["a/pipe.md", "a/folder.md"] {
        assert!(matches!(replace_file(&root, special, "old", "new"), Err(ReplaceError::NotAFile)), "{special}");
    }
    for escape in ["way/x.md", "../x.md", "/tmp/x.md"] {
        assert!(replace_file(&root, escape, "old", "new").is_err(), "{escape}");
    }
    std::fs::set_permissions(path_of("SKILL.md"), std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(replace_file(&root, "a/SKILL.md", "old", "new"), Err(ReplaceError::ReadOnly)));
    assert_eq!(read(&folder, "a/SKILL.md"), "old");
    assert_eq!(std::fs::read_to_string(outside.path().join("x.md")).unwrap(), "old");
}

#[test]
fn files_in_linked_folders_are_not_replaced() {
    let (folder, root) = folder("old");
    for hidden in [".git", "a/.hidden"] {
        std::fs::create_dir(folder.path().join(hidden)).unwrap();
        std::fs::write(folder.path().join(hidden).join("x.md"), "old").unwrap();
    }
    for (link, target) in [("notes", ".git"), ("docs", "a/.hidden"), ("a/deep", "../.git"), ("b", "a"), ("c", "b")] {
        symlink(target, folder.path().join(link)).unwrap();
    }
    for (path, link) in [
        ("notes/x.md", "notes"),
        ("docs/x.md", "docs"),
        ("a/deep/x.md", "a/deep"),
        ("b/SKILL.md", "b"),
        ("c/SKILL.md", "c"),
        ("b/deep/x.md", "b"),
    ] {
        let refused = replace_file(&root, path, "old", "new");
        assert!(matches!(&refused, Err(ReplaceError::LinkedFolder(at)) if at == link), "{path}: {refused:?}");
    }
    for path in [".git/x.md", "a/.hidden/x.md", "a/SKILL.md"] {
        assert_eq!(read(&folder, path), "old", "{path}");
    }
}

#[test]
fn only_markdown_files_of_the_library_are_written() {
    let (folder, root) = folder("old");
    for path in ["a/run.sh", ".git/x.md", "a/.x.md"] {
        let absolute = folder.path().join(path);
        std::fs::create_dir_all(absolute.parent().unwrap()).unwrap();
        std::fs::write(&absolute, "old").unwrap();
        assert!(matches!(replace_file(&root, path, "old", "new"), Err(ReplaceError::NotInLibrary)), "{path}");
        assert_eq!(std::fs::read_to_string(absolute).unwrap(), "old");
    }
}
