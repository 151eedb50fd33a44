//! Only what changed is read and parsed.

use super::names;
use crate::{library, serve};
use skillcell_tests::{component, put_file};

/// Enough that one file more or less is noticed.
const SKILLS: usize = 200;

fn file_path(number: usize) -> String {
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
    put_file(folder, &file_path(number), skill(number, text));
}

#[cfg(target_os = "linux")]
mod on_disk {
    use super::{SKILLS, file_path, write};
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

    /// Records which files below a folder are read.
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

        /// Returns the files that were read since the last call, as paths below the folder.
        fn take(&self) -> BTreeSet<String> {
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
    fn only_changed_files_are_read() {
        let library = library(&[]);
        for number in 0..SKILLS {
            write(library.path(), number, "First.");
        }
        settle(library.path());
        let reads = Reads::below(library.path());
        let mut session = serve(library.path()).start();
        names(&mut session);
        assert_eq!(reads.take().len(), SKILLS, "at first all are read");
        for changed in [vec![2], vec![3], vec![8, 9, 150]] {
            for number in &changed {
                write(library.path(), *number, "Other.");
            }
            settle(library.path());
            names(&mut session);
            assert_eq!(reads.take(), changed.iter().copied().map(file_path).collect());
        }
        let file = library.path().join(file_path(4));
        std::fs::rename(&file, file.with_file_name("moved.md")).unwrap();
        std::fs::rename(file.with_file_name("moved.md"), &file).unwrap();
        settle(library.path());
        names(&mut session);
        let found = session.call_json("get_skill", json!({"context": "x", "skill_path": "group0/7"}));
        assert!(found["content"].as_str().is_some_and(|content| content.ends_with("First.")), "{found}");
        let moved = BTreeSet::from([file_path(4)]);
        assert!(reads.take().is_subset(&moved), "only what moved is read, and known skills are served without reading");
    }
}

#[test]
fn an_engine_parses_only_what_changed() {
    let library = library(&[]);
    for number in 0..SKILLS {
        write(library.path(), number, "First.");
    }
    let launch = serve(library.path()).arg("--verbose").arg("--engine").arg(component("fragile-engine"));
    // A scorer would read every file again.
    let mut session = launch.arg("--scorer").arg("keyword").start();
    let mut before = 0;
    // Both engines read these files once, and no others, for the list that is requested next.
    let mut reads = |files: &[String]| {
        assert_eq!(names(&mut session).len(), SKILLS);
        let all = |log: &str| -> Vec<String> {
            let files = log.lines().filter_map(|line| Some(line.split_once("the engine reads ")?.1.to_owned()));
            files.collect()
        };
        let after = before + 2 * files.len();
        session.wait_for_log_that("both engines", |log| all(log).len() >= after);
        let mut read = all(&session.log()).split_off(before);
        before = after;
        read.sort();
        let mut expected = [files, files].concat();
        expected.sort();
        assert_eq!(read, expected);
    };
    reads(&(0..SKILLS).map(file_path).collect::<Vec<_>>());
    for number in [2, 3] {
        write(library.path(), number, "Other.");
        reads(&[file_path(number)]);
    }
    put_file(library.path(), "new/SKILL.md", "---\nname: new\ndescription: d\n---\n");
    std::fs::remove_file(library.path().join(file_path(5))).unwrap();
    reads(&["new/SKILL.md".to_owned()]);
    reads(&[]);
}
