//! Folders that are watched although others cannot be, and folders that are never walked and so not watched.

use super::{assert_announced_by_watcher, assert_watched, names};
use crate::subscriptions::wait_until_announcing;
use crate::{SMALL, install_server, library, serve};
use skillcell_tests::{Launch, Session, eventually, put_file};
use std::fs::{Permissions, create_dir_all, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Counts the folders and files that the server watches.
fn watches(session: &Session) -> usize {
    let open = std::fs::read_dir(format!("/proc/{}/fdinfo", session.process_id())).unwrap();
    // A file may have been closed in the meantime.
    let fdinfo = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path()).unwrap_or_default();
    open.map(|entry| fdinfo(entry.unwrap()).matches("inotify wd").count()).sum()
}

#[test]
fn folders_that_are_never_walked_are_not_watched() {
    let outside = library(&[]);
    let plain = library(&SMALL);
    let mut session = serve(plain.path()).arg("--verbose").start();
    assert_watched(&mut session, plain.path(), "new.md");
    let expected = watches(&session);
    let folder = library(&SMALL);
    for number in 0..100 {
        create_dir_all(outside.path().join(format!("{number}"))).unwrap();
        for parent in ["node_modules", "target", ".git", "pdf/node_modules"] {
            create_dir_all(folder.path().join(format!("{parent}/{number}/deep"))).unwrap();
        }
    }
    symlink(outside.path(), folder.path().join("outside")).unwrap();
    symlink("/", folder.path().join("everything")).unwrap();
    let mut session = serve(folder.path()).arg("--verbose").start();
    assert_watched(&mut session, folder.path(), "new.md");
    assert_eq!(watches(&session), expected);
    symlink(outside.path(), folder.path().join("more")).unwrap();
    assert_watched(&mut session, folder.path(), "more.md");
    assert_eq!(watches(&session), expected);
}

#[test]
fn the_target_of_a_link_is_watched() {
    let library = library(&[SMALL[0], ("store/pdf.txt", SMALL[1].1)]);
    std::fs::create_dir(library.path().join("pdf")).unwrap();
    symlink("../store/pdf.txt", library.path().join("pdf/SKILL.md")).unwrap();
    let mut session = serve(library.path()).arg("--verbose").start();
    assert_eq!(names(&mut session), ["forms", "pdf"]);
    wait_until_announcing(&session);
    assert_announced_by_watcher(&mut session, |_, number| {
        let text = SMALL[1].1.replace("Read", &format!("Edition {number} of"));
        put_file(library.path(), "store/pdf.txt", text);
    });
}

/// Root reads everything, so the server runs as another user.
#[test]
fn a_folder_without_permission_does_not_prevent_watching_the_others() {
    let library = library(&SMALL);
    let set_mode = |path: &Path, mode: u32| set_permissions(path, Permissions::from_mode(mode)).unwrap();
    create_dir_all(library.path().join("m/secret")).unwrap();
    let binary = install_server(library.path());
    set_mode(&library.path().join("m/secret"), 0o000);
    let launch = Launch::new(&binary).unprivileged().arg(library.path()).folder(library.path());
    let mut session = launch.arg("--verbose").start();
    assert_watched(&mut session, library.path(), "new.md");
    assert_watched(&mut session, &library.path().join("m"), "new.md");
    let logged = session.log().lines().filter(|line| line.contains("or within 30 seconds")).count();
    assert_eq!(logged, 1, "{}", session.log());
    assert!(session.log().contains("m/secret"), "{}", session.log());
    // Once it is accessible it is watched as well.
    set_mode(&library.path().join("m/secret"), 0o755);
    put_file(library.path(), "m/secret/opened.md", SMALL[0].1);
    eventually("the skill in the folder that was opened", || {
        names(&mut session).contains(&"m/secret/opened".to_owned())
    });
    session.notification("notifications/resources/list_changed");
    assert_watched(&mut session, &library.path().join("m/secret"), "new.md");
}
