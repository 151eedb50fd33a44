//! A full disk, simulated for one process by a limit on the size of files.

use super::{Scene, clones_in, forms, incompressible, names, refresh_error, refresh_ok, text};
use crate::{SKILLCELL, SMALL};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use skillcell_tests::{Launch, Session};

/// Starts a server that gets an error at the limit, as it would on a full disk, instead of a signal.
fn serve_ignoring_xfsz(scene: &Scene, url: &str) -> Session {
    let launch = Launch::bare("sh").with_home(scene.home.path()).folder(scene.home.path()).env("SKILLS_REPO", url);
    launch.arg("-c").arg("trap '' XFSZ; exec \"$0\" serve").arg(SKILLCELL).start()
}

/// Limits the size of files that the running server writes.
fn limit_file_size(session: &Session, bytes: Option<u64>) {
    let process = Pid::from_raw(i32::try_from(session.process_id()).unwrap());
    let maximum = getrlimit(Resource::Fsize).maximum;
    prlimit(process, Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}

#[test]
fn a_full_disk_is_reported_and_the_old_state_is_served() {
    let scene = Scene::new();
    let server = scene.http();
    for url in [scene.upstream.file_url(), server.url("skills")] {
        scene.upstream.force_push("main", &SMALL);
        let mut session = serve_ignoring_xfsz(&scene, &url);
        assert_eq!(names(&mut session), ["forms", "pdf"], "{}", session.log());
        refresh_ok(&mut session);
        let large = incompressible(3_000_000);
        scene.upstream.push("main", &[("forms.md", &forms("Newer.")), ("large.txt", &large)]);
        // Too little for the pack, then enough for it and too little for the file.
        for bytes in [100_000, 2_900_000] {
            limit_file_size(&session, Some(bytes));
            let message = refresh_error(&mut session);
            assert!(message.contains("File too large"), "{message}");
            assert_eq!(names(&mut session), ["forms", "pdf"]);
            assert_eq!(text(&mut session), "Validate on submit.");
        }
        limit_file_size(&session, None);
        refresh_ok(&mut session);
        assert_eq!(text(&mut session), "Newer.");
        let clone = clones_in(&scene.clones()).into_iter().find(|clone| clone.join("large.txt").exists());
        assert_eq!(std::fs::read_to_string(clone.unwrap().join("large.txt")).unwrap(), large);
        std::fs::remove_dir_all(scene.clones()).unwrap();
    }
}
