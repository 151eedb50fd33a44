//! A disk without room, as far as one process can have that to itself: no file may grow beyond a size.

use super::{Scene, clones_in, forms, names, noise, refreshed, refused, text};
use crate::{SKILLCELL, SMALL};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use skillcell_tests::{Launch, Session};

/// A server that meets the end of the room as an error, as it would on a full disk, and not as a signal.
fn in_little_room(scene: &Scene, url: &str) -> Session {
    let launch = Launch::bare("sh").with_home(scene.home.path()).folder(scene.home.path()).env("SKILLS_REPO", url);
    launch.arg("-c").arg("trap '' XFSZ; exec \"$0\" serve").arg(SKILLCELL).start()
}

/// Lets the running server write so many bytes into one file.
fn room(session: &Session, bytes: Option<u64>) {
    let process = Pid::from_raw(i32::try_from(session.process_id()).unwrap());
    let maximum = getrlimit(Resource::Fsize).maximum;
    prlimit(process, Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}

#[test]
fn a_full_disk_is_told_and_what_was_there_is_served() {
    let scene = Scene::new();
    let server = scene.http();
    for url in [scene.upstream.file_url(), server.url("skills")] {
        scene.upstream.force_push("main", &SMALL);
        let mut session = in_little_room(&scene, &url);
        assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
        refreshed(&mut session);
        let large = noise(3_000_000);
        scene.upstream.push("main", &[("forms.md", &forms("Newer.")), ("large.txt", &large)]);
        // Too little for the pack, then enough for it and too little for the file.
        for bytes in [100_000, 2_900_000] {
            room(&session, Some(bytes));
            let message = refused(&mut session);
            assert!(message.contains("File too large"), "{message}");
            assert_eq!(names(&mut session), ["forms", "pdf"]);
            assert_eq!(text(&mut session), "Validate on submit.");
        }
        room(&session, None);
        refreshed(&mut session);
        assert_eq!(text(&mut session), "Newer.");
        let clone = clones_in(&scene.clones()).into_iter().find(|clone| clone.join("large.txt").exists());
        assert_eq!(std::fs::read_to_string(clone.unwrap().join("large.txt")).unwrap(), large);
        std::fs::remove_dir_all(scene.clones()).unwrap();
    }
}
