//! What links add to a scan: names, and nothing that multiplies.

use super::*;
use crate::roots::{self, RootOptions};
use std::fs::{create_dir_all, remove_file, write};
use std::os::unix::fs::symlink;
use std::path::Path;

const LIMIT: u64 = 1_000;

fn scanned(top: &Path, before: &Snapshot) -> Snapshot {
    let given = vec![top.to_str().unwrap().to_owned()];
    let roots = roots::resolve(&RootOptions { given, ..RootOptions::default() }).unwrap();
    scan(&roots, before, LIMIT).unwrap().map_or_else(|| before.clone(), |scan| scan.snapshot)
}

fn skipped(snapshot: &Snapshot, reason: SkipReason) -> Vec<String> {
    let of_folder = |(path, folder): (&Arc<str>, &Arc<Folder>)| {
        let skipped = folder.skipped.iter().filter(|skipped| skipped.1 == reason);
        skipped.map(|(name, _)| join(path, name)).collect::<Vec<_>>()
    };
    snapshot.roots[0].folders.iter().flat_map(of_folder).collect()
}

#[test]
fn a_folder_is_walked_once_however_many_links_lead_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for number in 0..50 {
        create_dir_all(at(&format!("large/{number}/deep"))).unwrap();
        write(at(&format!("large/{number}/deep/SKILL.md")), "x").unwrap();
        symlink("..", at(&format!("large/{number}/deep/up"))).unwrap();
    }
    create_dir_all(at("wide")).unwrap();
    for number in 0..500 {
        let target = if number % 2 == 0 { "../large".to_owned() } else { (number - 1).to_string() };
        symlink(target, at(&format!("wide/{number}"))).unwrap();
    }
    let snapshot = scanned(folder.path(), &Snapshot::default());
    assert_eq!(snapshot.roots[0].folders.len(), 1 + 1 + 1 + 100);
    assert_eq!(snapshot.files_read().1, 50);
    assert_eq!(snapshot.roots[0].folders["wide"].folder_links().count(), 500);
}

#[test]
fn links_lead_only_to_what_is_walked() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for path in [".hidden/in", "node_modules/in", "target", "skills/one", "1/2/3/4/5/6/7/8/9/10/11", "plain"] {
        create_dir_all(at(path)).unwrap();
    }
    write(at(".hidden/in/SKILL.md"), "x").unwrap();
    write(at("plain/a.txt"), "x").unwrap();
    symlink("../plain/a.txt", at(".hidden/back")).unwrap();
    for (path, target) in [
        ("b-document.md", ".hidden/in/SKILL.md"),
        ("b-folder", ".hidden/in"),
        ("b-through.md", ".hidden/back"),
        ("c", "node_modules/in"),
        ("d", "target"),
        ("e", "skills/one"),
        ("f", "1/2/3/4/5/6/7/8/9/10/11"),
        ("g.md", "plain/a.txt"),
        ("h", "1/2/3/4/5/6/7/8/9/10"),
    ] {
        symlink(target, at(path)).unwrap();
    }
    let snapshot = scanned(folder.path(), &Snapshot::default());
    let not_walked = ["b-document.md", "b-folder", "b-through.md", "c", "d", "e", "f"];
    assert_eq!(skipped(&snapshot, SkipReason::NotWalked), not_walked);
    assert_eq!(snapshot.roots[0].folders[""].files, ["g.md"]);
    assert_eq!(snapshot.roots[0].folders[""].folder_links().collect::<Vec<_>>(), ["h"]);
    assert_eq!(snapshot.roots[0].file("g.md", LIMIT).text.as_deref(), Ok("x"));
}

#[test]
fn a_document_is_read_through_few_links() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    write(at("text"), "x").unwrap();
    create_dir_all(at("b")).unwrap();
    for number in 0..MAX_LINKED_DOCUMENTS {
        symlink("text", at(&format!("{number:03}.md"))).unwrap();
        symlink("../text", at(&format!("b/{number:03}.md"))).unwrap();
    }
    write(at("b/plain.md"), "x").unwrap();
    let first = scanned(folder.path(), &Snapshot::default());
    assert_eq!(first.roots[0].folders[""].files.len(), MAX_LINKED_DOCUMENTS);
    assert_eq!(first.roots[0].folders["b"].files, ["plain.md"]);
    assert_eq!(skipped(&first, SkipReason::TooManyLinks).len(), MAX_LINKED_DOCUMENTS);
    for path in ["000.md", "001.md"] {
        remove_file(at(path)).unwrap();
    }
    let second = scanned(folder.path(), &first);
    assert_eq!(second.roots[0].folders["b"].files, ["000.md", "001.md", "plain.md"]);
    assert_eq!(skipped(&second, SkipReason::TooManyLinks).len(), MAX_LINKED_DOCUMENTS - 2);
}
