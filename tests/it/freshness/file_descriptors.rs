//! A server that runs out of file descriptors.

use super::{names, settle};
use crate::{SMALL, library, serve};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use skillcell_tests::{Session, write_files};
use std::collections::BTreeSet;

/// Lets the server open only this many more files. Returns the previous limit.
fn limit_open_files(session: &Session, more: u64) -> Rlimit {
    let open = std::fs::read_dir(format!("/proc/{}/fd", session.process_id())).unwrap();
    let open: BTreeSet<u64> = open.map(|file| file.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect();
    let mut free = (0..).filter(|number| !open.contains(number));
    set_limit(session, Rlimit { current: free.nth(more.try_into().unwrap()), maximum: None })
}

fn set_limit(session: &Session, mut limit: Rlimit) -> Rlimit {
    let process = Pid::from_raw(session.process_id().cast_signed());
    limit.maximum = rustix::process::getrlimit(Resource::Nofile).maximum;
    prlimit(process, Resource::Nofile, limit).unwrap()
}

#[test]
fn no_skill_is_lost_while_files_cannot_be_opened() {
    let library = library(&SMALL);
    let folder = library.path();
    for number in 0..30 {
        write_files(folder, &[(&format!("group{}/{number}.md", number % 3), SMALL[0].1)]);
    }
    settle(folder);
    let mut session = serve(folder).arg("--verbose").start();
    let all: BTreeSet<String> = names(&mut session).into_iter().collect();
    assert_eq!(all.len(), 32);
    let mut warnings = 0;
    for more in 0..12 {
        let before = limit_open_files(&session, more);
        write_files(folder, &[(&format!("group1/new{more}.md"), SMALL[0].1), ("group2/2.md", SMALL[0].1)]);
        let listed: BTreeSet<String> = names(&mut session).into_iter().collect();
        set_limit(&session, before);
        assert!(listed.is_superset(&all), "with {more} more: {:?} are lost", all.difference(&listed));
        warnings = session.log().matches("too many files are open").count();
    }
    assert!(warnings > 0, "it never ran out of file descriptors:\n{}", session.log());
    write_files(folder, &[("last.md", SMALL[0].1)]);
    assert_eq!(names(&mut session).len(), 32 + 12 + 1, "every skill is listed when files can be opened again");
}
