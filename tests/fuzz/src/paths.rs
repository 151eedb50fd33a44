//! Calls of a script to its files, on disk and in memory.
//!
//! Each line is a call: a letter, a path, and after a tab a second path.

use crate::scratch;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sandbox::denials::Denials;
use sandbox::files::disk::{Disk, Writable};
use sandbox::files::memory::{Memory, Quota};
use sandbox::files::path::GuestPath;
use sandbox::files::{FileError, Files, NewTimes, OpenMode};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const MAX_CALLS: usize = 40;

/// Nothing that a script may read contains this.
const SECRET: &[u8] = b"secret";

/// Files that no call may change or create.
const UNTOUCHABLE: [&str; 9] = [
    "secret.txt",
    "elsewhere/secret.txt",
    "elsewhere/a",
    "a",
    "skill/scripts/run.py",
    "skill/a",
    "project/.git/config",
    "project/.git/a",
    "project/CLAUDE.md",
];

thread_local! {
    static MACHINE: Machine = Machine::new();
}

pub fn paths(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    MACHINE.with(|machine| {
        let quota = scratch::quota();
        let mut files = machine.files(&quota);
        let mut is_changed = false;
        for line in text.split('\n').take(MAX_CALLS) {
            let mut letters = line.chars();
            let call = letters.next().unwrap_or_default();
            let (path, second) = letters.as_str().split_once('\t').unwrap_or((letters.as_str(), "tmp/b"));
            check_resolution(path);
            is_changed |= do_call(&mut files, call, path, second);
        }
        scratch::check_size(&files);
        drop(files);
        scratch::check_returned(quota);
        if is_changed {
            machine.check();
            machine.set_up();
        }
    });
}

/// Makes one call, and returns whether it may have changed a file on disk.
fn do_call(files: &mut Files, call: char, path: &str, second: &str) -> bool {
    let top = GuestPath::default();
    let mode = OpenMode { follow: true, ..OpenMode::default() };
    let create = OpenMode { write: true, create: true, ..mode };
    let changed = match call {
        'r' => {
            if let Ok(opened) = files.open(&top, path, mode)
                && let Some(file) = opened.file
            {
                let mut bytes = [0; 64];
                let count = file.read_at(&mut bytes, 0).unwrap_or(0);
                assert!(!bytes[..count].starts_with(SECRET), "`{path}` leads out");
                assert!(path_is_scratch(path) || file.write_at(b"x", 0).is_err(), "`{path}` was opened for reading");
            }
            return false;
        }
        'w' => {
            let mode = OpenMode { truncate: true, ..create };
            files.open(&top, path, mode).and_then(|opened| match opened.file {
                Some(file) => file.write_at(second.as_bytes(), 0).map(drop),
                None => Err(FileError::IsAFolder),
            })
        }
        'x' => files.open(&top, path, OpenMode { exclusive: true, ..create }).map(drop),
        'm' => files.create_folder(&top, path),
        'd' => files.remove_folder(&top, path),
        'u' => files.remove_file(&top, path),
        'n' => files.rename((&top, path), (&top, second), &|| false),
        't' => files.set_times(&top, path, NewTimes::default()),
        's' => files.stat(&top, path, true).map(drop),
        'k' => files.read_link(&top, path).map(|target| assert!(!target.starts_with('/'), "`{path}` shows `{target}`")),
        'o' => files.open(&top, path, OpenMode { folder: true, ..mode }).and_then(|opened| {
            // A handle to a folder reaches what is below it.
            let below = opened.path.join(second)?;
            assert!(below.path.as_str().starts_with(opened.path.as_str()), "`{second}` leaves `{path}`");
            let names = files.list(&opened.path, &|| false)?;
            assert!(!names.iter().any(|entry| entry.name == "secret.txt"), "`{path}` leads out");
            Ok(())
        }),
        _ => {
            let refused = files.refuse_link(&top, path);
            assert!(refused == FileError::NotPermitted || top.join(path) == Err(refused), "a link is created");
            return false;
        }
    };
    changed.is_ok()
}

fn path_is_scratch(path: &str) -> bool {
    GuestPath::default().join(path).is_ok_and(|resolved| resolved.path.as_str().starts_with("tmp/"))
}

/// A second reading of what a path means, name by name.
fn check_resolution(path: &str) {
    for from in ["", "skill", "work/src"] {
        let folder =
            if from.is_empty() { GuestPath::default() } else { GuestPath::default().join(from).expect("a path").path };
        let Ok(resolved) = folder.join(path) else { continue };
        let mut names: Vec<&str> = Vec::new();
        for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
            match name {
                ".." => assert!(names.pop().is_some(), "`{path}` leaves `{from}`"),
                _ => names.push(name),
            }
        }
        let expected: Vec<&str> = from.split('/').filter(|name| !name.is_empty()).chain(names).collect();
        assert_eq!(resolved.path.as_str(), expected.join("/"), "{path}");
        assert!(!path.starts_with('/') && !path.contains('\0'), "`{path}` is accepted");
    }
}

/// A machine with secrets, a skill and a project that a script may change.
struct Machine {
    folder: TempDir,
    before: Vec<Option<Vec<u8>>>,
}

impl Machine {
    fn new() -> Self {
        let mut machine = Self { folder: tempfile::tempdir().expect("a temporary folder"), before: Vec::new() };
        for (path, text) in
            [("secret.txt", "secret"), ("elsewhere/secret.txt", "secret"), ("skill/scripts/run.py", "print('on disk')")]
        {
            machine.write(path, text);
        }
        for (target, link) in
            [("../secret.txt", "skill/out"), ("/etc", "skill/etc"), ("scripts/run.py", "skill/inside")]
        {
            std::os::unix::fs::symlink(target, machine.path(link)).expect("a new link");
        }
        machine.set_up();
        machine.before = machine.untouchable();
        machine
    }

    /// Makes the project as it was.
    fn set_up(&self) {
        let _ = fs::remove_dir_all(self.path("project"));
        for (path, text) in [
            ("project/src/main.rs", "fn main() {}"),
            ("project/.git/config", "[core]"),
            ("project/.git/hooks/post", "x"),
            ("project/CLAUDE.md", "be kind"),
        ] {
            self.write(path, text);
        }
        for (target, link) in [(".git", "innocent"), ("../elsewhere", "away"), ("src", "sources"), ("loop", "loop")] {
            std::os::unix::fs::symlink(target, self.path("project").join(link)).expect("a new link");
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a new folder");
        fs::write(path, text).expect("a new file");
    }

    fn files(&self, quota: &Arc<Quota>) -> Files {
        let open = |path| Arc::new(Dir::open_ambient_dir(self.path(path), ambient_authority()).expect("a folder"));
        let whole = Writable { below: String::new(), named: String::new() };
        let mut files = Files::new(Denials::default());
        files.mount("skill", Disk::skill(open("skill")));
        files.mount("tmp", Memory::scratch(Arc::clone(quota)));
        files.mount("work", Disk::writable(open("project"), vec![whole], Vec::new()));
        files.mount("usr/local/lib", Memory::frozen([("python.zip".to_owned(), bytes::Bytes::from_static(b"zip"))]));
        files
    }

    fn untouchable(&self) -> Vec<Option<Vec<u8>>> {
        UNTOUCHABLE.iter().map(|path| fs::read(self.path(path)).ok()).collect()
    }

    fn check(&self) {
        for (path, (before, now)) in UNTOUCHABLE.iter().zip(self.before.iter().zip(self.untouchable())) {
            assert_eq!(*before, now, "{path}");
        }
        let names = |path: &str| fs::read_dir(self.path(path)).expect("a folder").count();
        assert_eq!((names(""), names("elsewhere"), names("skill")), (4, 1, 4), "something was created outside");
    }
}
