//! Everything that has to be noticed is watched, and nothing else.

use super::*;
use crate::library::roots::Choice;
use crate::library::watch::file_system;
use std::fs::{create_dir, create_dir_all, remove_dir, rename, write};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::sync::Mutex;
use std::time::Duration;

/// A watcher that does what it is told when a test lets it.
struct Watcher {
    watching: Watching,
    orders: mpsc::Receiver<Order>,
    witness: Arc<Witness>,
}

fn watcher(folder: &Path) -> (Watcher, Disturbances) {
    watcher_on(file_system, folder)
}

fn watcher_on(file_system: FileSystem, folder: &Path) -> (Watcher, Disturbances) {
    let choice = Choice {
        given: vec![folder.to_str().unwrap().to_owned()],
        working_folder: folder.to_owned(),
        ..Choice::default()
    };
    let (sender, orders) = mpsc::channel();
    let (mut watching, disturbances) = Watching::new(file_system, roots::choose(&choice).unwrap().into(), &sender);
    watching.watch();
    let witness = watching.witness();
    (Watcher { watching, orders, witness }, disturbances)
}

impl Watcher {
    fn watch(&mut self) {
        self.watching.watch();
    }

    /// What is watched of all roots, as paths below the first.
    fn watched(&self) -> BTreeSet<String> {
        let top = &self.watching.places[0];
        let folders = self.watching.reaches.iter().flatten().flat_map(Reach::watched);
        folders.map(|folder| folder.strip_prefix(top).unwrap().to_str().unwrap().to_owned()).collect()
    }

    /// Follows what happened until it is known that nothing else did.
    fn becomes_certain(&mut self) -> bool {
        (0..100).any(|_| {
            while let Ok(order) = self.orders.try_recv() {
                self.obey(order);
            }
            is_certain(self)
        })
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Follow(path) => self.watching.follow(&[path]),
            Order::Watch | Order::End => self.watching.watch(),
        }
    }

    /// Follows what happens until these are watched.
    fn watches(&mut self, expected: &[&str]) {
        let expected: BTreeSet<String> = expected.iter().map(|&folder| folder.to_owned()).collect();
        while self.watched() != expected {
            match self.orders.recv_timeout(Duration::from_secs(20)) {
                Ok(order) => self.obey(order),
                Err(_) => assert_eq!(self.watched(), expected),
            }
        }
    }
}

/// Whether everything that changes from now on is known. A busy machine may be late.
fn is_certain(watcher: &Watcher) -> bool {
    (0..100).any(|_| watcher.witness.stirred_since(std::time::Instant::now()).is_some())
}

/// Waits for something that stirs.
fn is_noticed(disturbances: &Disturbances) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if disturbances.has_changed().unwrap() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

/// What is logged meanwhile.
fn logged(work: impl FnOnce()) -> String {
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);
    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let log = Log::default();
    let theirs = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || theirs.clone()).finish();
    tracing::subscriber::with_default(subscriber, work);
    let bytes = log.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_root_that_other_machines_can_change_is_told_once_and_never_certain() {
    const NFS: i128 = 0x6969;
    const SMB: i128 = 0x517b;
    const SMB2: i128 = 0xfe53_4d42;
    const CIFS: i128 = 0xff53_4d42;
    const FUSE: i128 = 0x6573_5546;
    let folder = tempfile::tempdir().unwrap();
    let elsewhere: [FileSystem; 6] =
        [|_| Some(NFS), |_| Some(SMB), |_| Some(SMB2), |_| Some(CIFS), |_| Some(FUSE), |_| None];
    for file_system in elsewhere {
        let log = logged(|| {
            let (mut watcher, _disturbances) = watcher_on(file_system, folder.path());
            watcher.watch();
            watcher.watch();
            assert!(!is_certain(&watcher));
        });
        assert_eq!(log.matches("other machines may change it").count(), 1, "{log}");
        assert_eq!(log.lines().filter(|line| line.contains("root `")).count(), 1, "{log}");
    }
}

#[test]
fn a_root_that_only_this_machine_changes_is_relied_on_without_a_word() {
    const EXT: i128 = 0xef53;
    const XFS: i128 = 0x5846_5342;
    const BTRFS: i128 = 0x9123_683e;
    const TMPFS: i128 = 0x0102_1994;
    const OVERLAY: i128 = 0x794c_7630;
    let folder = tempfile::tempdir().unwrap();
    let here: [FileSystem; 5] = [|_| Some(EXT), |_| Some(XFS), |_| Some(BTRFS), |_| Some(TMPFS), |_| Some(OVERLAY)];
    for file_system in here {
        let log = logged(|| {
            let (watcher, _disturbances) = watcher_on(file_system, folder.path());
            assert!(is_certain(&watcher));
        });
        assert!(!log.contains("root `"), "{log}");
    }
}

#[test]
fn a_folder_that_could_not_be_watched_leaves_nothing_certain_until_all_are() {
    let folder = tempfile::tempdir().unwrap();
    let (mut watcher, _disturbances) = watcher(folder.path());
    assert!(is_certain(&watcher));
    watcher.witness.lost(&notify::Error::new(notify::ErrorKind::MaxFilesWatch));
    assert!(!is_certain(&watcher));
    watcher.watch();
    assert!(is_certain(&watcher));
}

#[test]
fn a_root_in_the_place_of_another_is_watched_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("root")).unwrap();
    std::fs::create_dir(at("other")).unwrap();
    let (mut watcher, mut disturbances) = watcher(&at("root"));
    std::fs::rename(at("root"), at("old")).unwrap();
    std::fs::rename(at("other"), at("root")).unwrap();
    assert!(!is_certain(&watcher), "nobody watches the other one");
    watcher.watch();
    assert!(watcher.becomes_certain());
    disturbances.mark_unchanged();
    std::fs::write(at("root").join("new.md"), "x").unwrap();
    assert!(is_noticed(&disturbances));
}

#[test]
fn a_root_that_appears_is_watched_from_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("later");
    let (mut watcher, disturbances) = watcher(&root);
    std::fs::create_dir(&root).unwrap();
    assert!(!is_certain(&watcher));
    watcher.watch();
    std::fs::write(root.join("new.md"), "x").unwrap();
    assert!(is_noticed(&disturbances));
}

#[test]
fn what_nobody_walks_is_not_watched() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    create_dir_all(outside.path().join("deep")).unwrap();
    for path in ["a/b", "a/node_modules/c", "node_modules/d/e", "target/f", ".git/objects"] {
        create_dir_all(at(path)).unwrap();
    }
    symlink(outside.path(), at("absolute")).unwrap();
    symlink("../..", at("a/up")).unwrap();
    symlink("..", at("a/b/again")).unwrap();
    let (mut watcher, disturbances) = watcher(folder.path());
    assert!(is_certain(&watcher));
    watcher.watches(&["", "a", "a/b"]);
    symlink(outside.path(), at("another")).unwrap();
    create_dir_all(at("a/target/g")).unwrap();
    create_dir(at("last")).unwrap();
    watcher.watches(&["", "a", "a/b", "last"]);
    write(at("last/new.txt"), "x").unwrap();
    assert!(is_noticed(&disturbances));
}

#[test]
fn where_links_inside_the_root_lead_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    create_dir_all(at(".store/real/inner")).unwrap();
    create_dir_all(at(".store/unused")).unwrap();
    create_dir_all(at(".files/unused")).unwrap();
    create_dir(at("plain")).unwrap();
    symlink(".store/real", at("linked")).unwrap();
    symlink("plain", at("twice")).unwrap();
    symlink("../.files/late.md", at("plain/late.md")).unwrap();
    symlink(".later/deep", at("missing")).unwrap();
    let (mut watcher, mut disturbances) = watcher(folder.path());
    let first = ["", ".files", ".store", ".store/real", ".store/real/inner", "plain"];
    watcher.watches(&first);
    for file in [".store/real/inner/new.md", ".files/late.md"] {
        disturbances.mark_unchanged();
        write(at(file), "x").unwrap();
        assert!(is_noticed(&disturbances), "{file}");
    }
    create_dir_all(at(".store/real/more/new")).unwrap();
    create_dir_all(at(".later/deep/down")).unwrap();
    let later = [".later", ".later/deep", ".later/deep/down", ".store/real/more", ".store/real/more/new"];
    watcher.watches(&[&first[..], &later].concat());
    // Another folder in the place of one that a link leads to.
    rename(at(".store"), at(".old")).unwrap();
    create_dir_all(at(".store/real/other")).unwrap();
    let now = ["", ".files", ".later", ".later/deep", ".later/deep/down"];
    watcher.watches(&[&now[..], &[".store", ".store/real", ".store/real/other", "plain"]].concat());
    disturbances.mark_unchanged();
    write(at(".store/real/other/new.md"), "x").unwrap();
    assert!(is_noticed(&disturbances));
}

#[test]
fn a_root_in_a_hidden_folder_is_watched_as_soon_as_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    create_dir_all(at(".claude/commands")).unwrap();
    let (mut watcher, _disturbances) = watcher(folder.path());
    watcher.watches(&["", ".claude"]);
    create_dir_all(at(".claude/skills/pdf")).unwrap();
    watcher.watches(&["", ".claude", ".claude/skills", ".claude/skills/pdf"]);
    create_dir_all(at("skills/one")).unwrap();
    watcher.watches(&["", ".claude", ".claude/skills", ".claude/skills/pdf", "skills", "skills/one"]);
}

#[test]
fn a_folder_that_is_made_anew_is_watched_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    create_dir(at("a")).unwrap();
    let (mut watcher, mut disturbances) = watcher(folder.path());
    for _ in 0..3 {
        remove_dir(at("a")).unwrap();
        watcher.watches(&[""]);
        create_dir(at("a")).unwrap();
        assert!(!is_certain(&watcher), "nobody watches it yet");
        watcher.watches(&["", "a"]);
        disturbances.mark_unchanged();
        write(at("a/file"), "x").unwrap();
        assert!(is_noticed(&disturbances));
        std::fs::remove_file(at("a/file")).unwrap();
    }
}

mod named;
