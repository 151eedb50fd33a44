//! Everything that scans walk is watched, and nothing else.

use super::*;
use crate::roots::RootOptions;
use crate::watch::file_system;
use std::fs::{create_dir, create_dir_all, remove_dir, rename, write};
use std::os::unix::fs::symlink;
use std::time::Duration;
use tempfile::TempDir;

/// A watcher whose commands a test runs step by step.
struct Watcher {
    watch_loop: WatchLoop,
    commands: mpsc::Receiver<Command>,
    cookies: Arc<SyncCookies>,
}

/// A temporary folder, and a function that returns paths in it.
fn place() -> (TempDir, impl Fn(&str) -> PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, move |name: &str| path.join(name))
}

fn watcher(folder: &Path) -> (Watcher, ChangeSignal) {
    watcher_on(file_system, folder)
}

fn roots_in(folder: &Path) -> Arc<[SkillRoot]> {
    let given = vec![folder.to_str().unwrap().to_owned()];
    roots::resolve(&RootOptions { given, ..RootOptions::default() }).unwrap().into()
}

fn watcher_on(file_system: FileSystem, folder: &Path) -> (Watcher, ChangeSignal) {
    let (sender, commands) = mpsc::channel();
    let (mut watch_loop, signal) = WatchLoop::new(file_system, roots_in(folder), &sender);
    watch_loop.watch();
    let cookies = watch_loop.sync_cookies();
    (Watcher { watch_loop, commands, cookies }, signal)
}

impl Watcher {
    /// The watched folders of all roots, as paths below the first root.
    fn watched(&self) -> BTreeSet<String> {
        let top = &self.watch_loop.paths[0];
        let folders = self.watch_loop.watches.iter().flatten().flat_map(RootWatch::watched);
        folders.map(|folder| folder.strip_prefix(top).unwrap().to_str().unwrap().to_owned()).collect()
    }

    /// Runs commands until the dirty paths are known.
    fn catches_up(&mut self) -> bool {
        (0..100).any(|_| {
            while let Ok(command) = self.commands.try_recv() {
                self.run(command);
            }
            self.cookies.dirty_since(std::time::Instant::now()).is_some()
        })
    }

    fn run(&mut self, command: Command) {
        match command {
            Command::Follow(path) => self.watch_loop.follow(&[path]),
            Command::Watch | Command::Stop => self.watch_loop.watch(),
        }
    }

    /// Runs commands until exactly these folders are watched.
    fn wait_until_watched(&mut self, expected: &[&str]) {
        let expected: BTreeSet<String> = expected.iter().map(|&folder| folder.to_owned()).collect();
        while self.watched() != expected {
            match self.commands.recv_timeout(Duration::from_secs(20)) {
                Ok(command) => self.run(command),
                Err(_) => assert_eq!(self.watched(), expected),
            }
        }
    }
}

/// Whether dirty paths are known from now on. Retries, because events are late on a busy machine.
fn knows_dirty_paths(watcher: &Watcher) -> bool {
    (0..100).any(|_| watcher.cookies.dirty_since(std::time::Instant::now()).is_some())
}

/// Writes a file, and waits for a change to be signaled.
fn is_noticed(signal: &mut ChangeSignal, file: &Path) -> bool {
    signal.mark_unchanged();
    write(file, "x").unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if signal.has_changed().unwrap() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

/// Returns what `work` logs.
fn logged(work: impl FnOnce()) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    let subscriber = tracing_subscriber::fmt().with_writer(Arc::new(file.reopen().unwrap())).finish();
    tracing::subscriber::with_default(subscriber, work);
    std::fs::read_to_string(file.path()).unwrap()
}

#[test]
fn a_root_that_other_machines_can_change_is_logged_once_and_never_trusted_and_others_are() {
    const NFS: i128 = 0x6969;
    const SMB: i128 = 0x517b;
    const SMB2: i128 = 0xfe53_4d42;
    const CIFS: i128 = 0xff53_4d42;
    const FUSE: i128 = 0x6573_5546;
    const EXT: i128 = 0xef53;
    const XFS: i128 = 0x5846_5342;
    const BTRFS: i128 = 0x9123_683e;
    const TMPFS: i128 = 0x0102_1994;
    const OVERLAY: i128 = 0x794c_7630;
    let folder = tempfile::tempdir().unwrap();
    let remote: [FileSystem; 6] =
        [|_| Some(NFS), |_| Some(SMB), |_| Some(SMB2), |_| Some(CIFS), |_| Some(FUSE), |_| None];
    let local: [FileSystem; 5] = [|_| Some(EXT), |_| Some(XFS), |_| Some(BTRFS), |_| Some(TMPFS), |_| Some(OVERLAY)];
    let cases = remote.map(|file_system| (file_system, 1)).into_iter().chain(local.map(|file_system| (file_system, 0)));
    for (file_system, warnings) in cases {
        let log = logged(|| {
            let (mut watcher, _signal) = watcher_on(file_system, folder.path());
            watcher.watch_loop.watch();
            watcher.watch_loop.watch();
            assert_eq!(knows_dirty_paths(&watcher), warnings == 0);
        });
        assert_eq!(log.matches("other machines may change it").count(), warnings, "{log}");
        assert_eq!(log.lines().filter(|line| line.contains("root `")).count(), warnings, "{log}");
    }
}

#[test]
fn a_folder_that_cannot_be_watched_makes_dirty_paths_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let (mut watcher, _signal) = watcher(folder.path());
    assert!(knows_dirty_paths(&watcher));
    watcher.cookies.record_error(&notify::Error::new(notify::ErrorKind::MaxFilesWatch));
    assert!(!knows_dirty_paths(&watcher));
    watcher.watch_loop.watch();
    assert!(knows_dirty_paths(&watcher));
}

#[test]
fn a_root_that_replaces_another_is_watched() {
    let (_folder, at) = place();
    create_dir(at("root")).unwrap();
    create_dir(at("other")).unwrap();
    let (mut watcher, mut signal) = watcher(&at("root"));
    rename(at("root"), at("old")).unwrap();
    rename(at("other"), at("root")).unwrap();
    assert!(!knows_dirty_paths(&watcher), "the replacement is not watched yet");
    watcher.watch_loop.watch();
    assert!(watcher.catches_up());
    assert!(is_noticed(&mut signal, &at("root").join("new.md")));
}

#[test]
fn a_root_that_appears_is_watched_by_the_next_call() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("later");
    let (mut watcher, mut signal) = watcher(&root);
    create_dir(&root).unwrap();
    assert!(!knows_dirty_paths(&watcher));
    watcher.watch_loop.watch();
    assert!(is_noticed(&mut signal, &root.join("new.md")));
}

#[test]
fn folders_that_are_not_walked_are_not_watched() {
    let (folder, at) = place();
    let outside = tempfile::tempdir().unwrap();
    create_dir_all(outside.path().join("deep")).unwrap();
    for path in ["a/b", "a/node_modules/c", "node_modules/d/e", "target/f", ".git/objects"] {
        create_dir_all(at(path)).unwrap();
    }
    symlink(outside.path(), at("absolute")).unwrap();
    symlink("../..", at("a/up")).unwrap();
    symlink("..", at("a/b/again")).unwrap();
    let (mut watcher, mut signal) = watcher(folder.path());
    assert!(knows_dirty_paths(&watcher));
    watcher.wait_until_watched(&["", "a", "a/b"]);
    symlink(outside.path(), at("another")).unwrap();
    create_dir_all(at("a/target/g")).unwrap();
    create_dir(at("last")).unwrap();
    watcher.wait_until_watched(&["", "a", "a/b", "last"]);
    assert!(is_noticed(&mut signal, &at("last/new.txt")));
}

#[test]
fn links_add_no_watches() {
    let (folder, at) = place();
    create_dir_all(at(".store/real/inner")).unwrap();
    create_dir(at("plain")).unwrap();
    symlink(".store/real", at("linked")).unwrap();
    symlink("plain", at("twice")).unwrap();
    symlink("../.store/late.md", at("plain/late.md")).unwrap();
    let (mut watcher, mut signal) = watcher(folder.path());
    watcher.wait_until_watched(&["", "plain"]);
    symlink(".later/deep", at("missing")).unwrap();
    create_dir_all(at(".later/deep/down")).unwrap();
    create_dir(at("last")).unwrap();
    watcher.wait_until_watched(&["", "last", "plain"]);
    assert!(is_noticed(&mut signal, &at("plain/new.md")));
}

#[test]
fn a_root_in_a_hidden_folder_is_watched_as_soon_as_it_exists() {
    let (folder, at) = place();
    create_dir_all(at(".claude/commands")).unwrap();
    let (mut watcher, _signal) = watcher(folder.path());
    watcher.wait_until_watched(&["", ".claude"]);
    create_dir_all(at(".claude/skills/pdf")).unwrap();
    watcher.wait_until_watched(&["", ".claude", ".claude/skills", ".claude/skills/pdf"]);
    create_dir_all(at("skills/one")).unwrap();
    watcher.wait_until_watched(&["", ".claude", ".claude/skills", ".claude/skills/pdf", "skills", "skills/one"]);
}

#[test]
fn a_folder_that_is_created_again_is_watched_again() {
    let (folder, at) = place();
    create_dir(at("a")).unwrap();
    let (mut watcher, mut signal) = watcher(folder.path());
    for _ in 0..3 {
        remove_dir(at("a")).unwrap();
        watcher.wait_until_watched(&[""]);
        create_dir(at("a")).unwrap();
        assert!(!knows_dirty_paths(&watcher), "it is not watched yet");
        watcher.wait_until_watched(&["", "a"]);
        assert!(is_noticed(&mut signal, &at("a/file")));
        std::fs::remove_file(at("a/file")).unwrap();
    }
}

mod dirty_paths;
