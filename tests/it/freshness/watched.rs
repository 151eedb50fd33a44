//! Folders that are watched although others cannot be, and folders that are not because nobody walks them.

use super::{SOON, is_watched, names};
use crate::{SKILLCELL, SMALL, library, serve};
use skillcell_tests::{Launch, Session, write_files};
use std::fs::{Permissions, create_dir_all, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Instant;

/// How many folders and files the server watches.
fn watches(session: &Session) -> usize {
    let open = std::fs::read_dir(format!("/proc/{}/fdinfo", session.process_id())).unwrap();
    // A file that is closed meanwhile is none that watches.
    let watches = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path()).unwrap_or_default();
    open.map(|entry| watches(entry.unwrap()).matches("inotify wd").count()).sum()
}

#[test]
fn what_nobody_walks_costs_no_watches() {
    let outside = library(&[]);
    let plain = library(&SMALL);
    let mut session = serve(plain.path()).start();
    is_watched(&mut session, plain.path(), "new.md");
    let expected = watches(&session);
    let folder = library(&SMALL);
    for number in 0..100 {
        create_dir_all(outside.path().join(format!("{number}"))).unwrap();
        for place in ["node_modules", "target", ".git", "pdf/node_modules"] {
            create_dir_all(folder.path().join(format!("{place}/{number}/deep"))).unwrap();
        }
    }
    symlink(outside.path(), folder.path().join("outside")).unwrap();
    symlink("/", folder.path().join("everything")).unwrap();
    let mut session = serve(folder.path()).start();
    is_watched(&mut session, folder.path(), "new.md");
    assert_eq!(watches(&session), expected);
    symlink(outside.path(), folder.path().join("more")).unwrap();
    is_watched(&mut session, folder.path(), "more.md");
    assert_eq!(watches(&session), expected);
}

#[test]
fn a_folder_that_a_link_leads_to_is_watched() {
    let library = library(&[SMALL[0], (".store/pdf/SKILL.md", SMALL[1].1)]);
    symlink(".store/pdf", library.path().join("pdf")).unwrap();
    let mut session = serve(library.path()).start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    // The clock may strike at any moment once, but not twice.
    for number in 0..2 {
        let written = Instant::now();
        let text = SMALL[1].1.replace("Read", &format!("Edition {number}: read"));
        write_files(library.path(), &[(".store/pdf/SKILL.md", &text)]);
        session.notification("notifications/resources/list_changed");
        assert!(written.elapsed() < SOON, "{:?}: {}", written.elapsed(), session.log());
    }
}

/// Root reads everything, so the server has to run as somebody else.
#[test]
fn a_folder_without_permission_does_not_keep_the_others_from_being_watched() {
    let library = library(&SMALL);
    let open = |path: &Path, mode: u32| set_permissions(path, Permissions::from_mode(mode)).unwrap();
    create_dir_all(library.path().join("m/secret")).unwrap();
    let binary = library.path().join(".skillcell");
    std::fs::copy(SKILLCELL, &binary).unwrap();
    open(&binary, 0o755);
    open(library.path(), 0o755);
    open(&library.path().join("m/secret"), 0o000);
    let mut session = Launch::new(&binary).unprivileged().arg(library.path()).folder(library.path()).start();
    is_watched(&mut session, library.path(), "new.md");
    is_watched(&mut session, &library.path().join("m"), "new.md");
    let told = session.log().lines().filter(|line| line.contains("or within 30 seconds")).count();
    assert_eq!(told, 1, "{}", session.log());
    assert!(session.log().contains("m/secret"), "{}", session.log());
    // From now on it is like the others.
    open(&library.path().join("m/secret"), 0o755);
    write_files(library.path(), &[("m/secret/opened.md", SMALL[0].1)]);
    session.notification("notifications/resources/list_changed");
    is_watched(&mut session, &library.path().join("m/secret"), "new.md");
}
