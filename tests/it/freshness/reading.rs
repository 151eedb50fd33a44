//! Only what changed is read and parsed.

use super::names;
use crate::{library, serve};
use skillcell_tests::{component, write_files};

/// Enough that one more or less shows.
const SKILLS: usize = 200;

fn file_of(number: usize) -> String {
    let group = number % 7;
    if number.is_multiple_of(2) {
        format!("group{group}/skill-{number}/SKILL.md")
    } else {
        format!("group{group}/{number}.md")
    }
}

fn skill(number: usize, text: &str) -> String {
    format!("---\nname: skill-{number}\nkeywords: [word{number}]\ndescription: d\n---\n{text}\n")
}

fn write(folder: &std::path::Path, number: usize, text: &str) {
    write_files(folder, &[(&file_of(number), &skill(number, text))]);
}

#[cfg(target_os = "linux")]
mod on_disk {
    use super::{SKILLS, file_of, write};
    use crate::freshness::{names, settle};
    use crate::{library, serve};
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    use rustix::io::Errno;
    use serde_json::json;
    use skillcell_tests::files_below;
    use std::collections::{BTreeMap, BTreeSet};
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};

    /// Tells which files below a folder somebody reads.
    struct Reads {
        events: OwnedFd,
        folder: PathBuf,
        watched: BTreeMap<i32, PathBuf>,
    }

    impl Reads {
        fn below(folder: &Path) -> Self {
            let events = inotify::init(CreateFlags::NONBLOCK).unwrap();
            let files = files_below(folder);
            let folders: BTreeSet<&Path> = files.iter().map(|file| file.parent().unwrap()).collect();
            let watch = |folder: &Path| inotify::add_watch(&events, folder, WatchFlags::ACCESS).unwrap();
            let watched = folders.into_iter().map(|folder| (watch(folder), folder.to_owned())).collect();
            Self { events, folder: folder.to_owned(), watched }
        }

        /// The files that were read since the last time, as paths below the folder. Folders do not count.
        fn since_last_time(&self) -> BTreeSet<String> {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = inotify::Reader::new(&self.events, &mut buffer);
            let mut read = BTreeSet::new();
            loop {
                let event = match reader.next() {
                    Ok(event) => event,
                    Err(Errno::WOULDBLOCK) => return read,
                    Err(error) => panic!("{error}"),
                };
                if let (Some(name), Some(folder)) = (event.file_name(), self.watched.get(&event.wd())) {
                    let path = folder.join(name.to_str().unwrap());
                    if path.is_file() {
                        read.insert(path.strip_prefix(&self.folder).unwrap().to_str().unwrap().to_owned());
                    }
                }
            }
        }
    }

    #[test]
    fn of_many_files_those_are_read_that_changed() {
        let library = library(&[]);
        for number in 0..SKILLS {
            write(library.path(), number, "First.");
        }
        settle(library.path());
        let reads = Reads::below(library.path());
        let mut session = serve(library.path()).start();
        names(&mut session);
        assert_eq!(reads.since_last_time().len(), SKILLS, "at first all are read");
        for changed in [vec![2], vec![3], vec![8, 9, 150]] {
            for number in &changed {
                write(library.path(), *number, "Other.");
            }
            settle(library.path());
            names(&mut session);
            assert_eq!(reads.since_last_time(), changed.iter().copied().map(file_of).collect());
        }
        let file = library.path().join(file_of(4));
        std::fs::rename(&file, file.with_file_name("moved.md")).unwrap();
        std::fs::rename(file.with_file_name("moved.md"), &file).unwrap();
        settle(library.path());
        names(&mut session);
        let found = session.call_json("get_skill", json!({"context": "x", "skill_path": "group0/7"}));
        assert!(found["content"].as_str().is_some_and(|content| content.ends_with("First.")), "{found}");
        let moved = BTreeSet::from([file_of(4)]);
        assert!(
            reads.since_last_time().is_subset(&moved),
            "only what moved is read, and what is known is served without"
        );
    }
}

#[test]
fn an_engine_parses_only_what_changed() {
    let library = library(&[]);
    for number in 0..SKILLS {
        write(library.path(), number, "First.");
    }
    let launch = serve(library.path()).arg("--verbose").arg("--engine").arg(component("fragile-engine"));
    let mut session = launch.start();
    let mut before = 0;
    // Every file that either of the two engines has read since the last generation.
    let mut reads = |generation: usize| {
        assert_eq!(names(&mut session).len(), SKILLS);
        let brought = format!("brought generation {generation} into engine");
        session.wait_for_log_that("both engines", |log| log.matches(&brought).count() == 2);
        let log = session.log();
        let all: Vec<&str> = log.lines().filter_map(|line| Some(line.split_once("the engine reads ")?.1)).collect();
        let mut new: Vec<String> = all[before..].iter().map(|file| (*file).to_owned()).collect();
        before = all.len();
        new.sort();
        new
    };
    let twice = |files: &[String]| {
        let mut files = [files, files].concat();
        files.sort();
        files
    };
    assert_eq!(reads(1), twice(&(0..SKILLS).map(file_of).collect::<Vec<_>>()), "at first all are read");
    for (generation, number) in [(2, 2), (3, 3)] {
        write(library.path(), number, "Other.");
        assert_eq!(reads(generation), twice(&[file_of(number)]));
    }
    write_files(library.path(), &[("new/SKILL.md", "---\nname: new\ndescription: d\n---\n")]);
    std::fs::remove_file(library.path().join(file_of(5))).unwrap();
    assert_eq!(reads(4), twice(&["new/SKILL.md".to_owned()]));
}
