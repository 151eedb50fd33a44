//! Notices that something below the roots changed, without saying what: looking is `scan`'s work.

use crate::library::roots::SkillRoot;
use crate::library::stillness::{self, Stillness};
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use rustix::fs::statfs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// When something last stirred. Whoever waits for it sees that it is another moment.
pub type Disturbances = watch::Receiver<Option<Instant>>;

pub struct Watcher {
    roots: Arc<[SkillRoot]>,
    /// Missing when the operating system gives none; then only the timer looks.
    system: Option<RecommendedWatcher>,
    /// The folders that are watched, by the place where they were found.
    watched: BTreeMap<PathBuf, (u64, u64)>,
    /// What was logged, so that it is logged once.
    told: BTreeSet<(PathBuf, Unwatched)>,
    stillness: Arc<Stillness>,
    file_system: FileSystem,
}

/// Finds the number of the file system that a folder is in.
type FileSystem = fn(&Path) -> Option<i128>;

fn file_system(folder: &Path) -> Option<i128> {
    statfs(folder).ok().map(|found| found.f_type.into())
}

/// Why changes of a root may come without being noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unwatched {
    Missing,
    /// Other machines can change it.
    Elsewhere,
    Refused,
}

impl Watcher {
    pub fn new(roots: Arc<[SkillRoot]>) -> (Self, Disturbances) {
        Self::on(file_system, roots)
    }

    fn on(file_system: FileSystem, roots: Arc<[SkillRoot]>) -> (Self, Disturbances) {
        let (sender, receiver) = watch::channel(None);
        let stillness = Arc::new(Stillness::new(Arc::clone(&roots)));
        let told = Arc::clone(&stillness);
        let notice = move |event: notify::Result<Event>| {
            let event = event.inspect_err(|error| told.lost(error)).ok();
            if event.as_ref().is_none_or(is_change) && told.saw(event.as_ref()) {
                sender.send_replace(Some(Instant::now()));
            }
        };
        let mut system = notify::recommended_watcher(notice)
            .inspect_err(|error| tracing::warn!("no folder can be watched: {error}; {LATER}"))
            .ok();
        stillness.watch_probe(|file| {
            let system = system.as_mut().ok_or_else(notify::Error::watch_not_found)?;
            system.watch(file, RecursiveMode::NonRecursive)
        });
        let (watched, told) = (BTreeMap::new(), BTreeSet::new());
        let mut watcher = Self { roots, system, watched, told, stillness, file_system };
        watcher.watch();
        (watcher, receiver)
    }

    pub fn stillness(&self) -> Arc<Stillness> {
        Arc::clone(&self.stillness)
    }

    /// Watches the roots that exist. Comes again from time to time, for those that appeared, came back or were replaced. Tells
    /// whether there are any of these: of what changed there before, nobody was told.
    pub fn watch(&mut self) -> bool {
        let Some(system) = &mut self.system else { return false };
        // When a new folder could not be watched, nobody knows which, and all are tried again.
        let anew = self.stillness.take_lost();
        let (mut complete, mut more) = (true, false);
        for root in self.roots.iter() {
            let path = root.path();
            let found = stillness::identity(root).filter(|_| path.is_dir());
            // What is watched is the folder, not the name. One that was replaced has to be watched anew.
            if self.watched.get(&path).copied() != found || anew {
                if self.watched.remove(&path).is_some() {
                    let _ = system.unwatch(&path);
                }
                if let Some(identity) = found {
                    match system.watch(&path, RecursiveMode::Recursive) {
                        Ok(()) => {
                            self.watched.insert(path.clone(), identity);
                            more = true;
                        }
                        Err(error) => tell(&mut self.told, root, Unwatched::Refused, &error.to_string()),
                    }
                }
            }
            let mut others = self.roots.iter().map(SkillRoot::path);
            // That there is no folder for skills inside one is nothing to tell.
            let is_inner = others.any(|other| other != path && path.starts_with(other));
            if found.is_none() && !is_inner {
                tell(&mut self.told, root, Unwatched::Missing, "it does not exist");
            } else if found.is_some() && !(self.file_system)(&path).is_some_and(stillness::is_local) {
                complete = false;
                tell(&mut self.told, root, Unwatched::Elsewhere, "other machines may change it");
            }
            complete &= found.is_none() || self.watched.contains_key(&path);
        }
        self.stillness.watched(complete);
        more
    }
}

/// What happens to changes that nobody notices.
pub const LATER: &str = "changes show up when a client asks, or within 30 seconds";

fn tell(told: &mut BTreeSet<(PathBuf, Unwatched)>, root: &SkillRoot, why: Unwatched, reason: &str) {
    if told.insert((root.path(), why)) {
        let (label, path) = (&root.label, root.path());
        match why {
            Unwatched::Missing => {
                tracing::info!("root `{label}` at {} cannot be watched yet: {reason}; {LATER}", path.display());
            }
            Unwatched::Elsewhere | Unwatched::Refused => {
                tracing::warn!(
                    "root `{label}` at {} cannot be relied on to be watched: {reason}; {LATER}",
                    path.display()
                );
            }
        }
    }
}

/// Reading a file is no change. Our own reading would otherwise never end.
fn is_change(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// Waits for a disturbance, and then until nothing happened for a while, but not forever. False when none can come any more.
pub async fn settled(disturbances: &mut Disturbances, quiet: Duration, longest: Duration) -> bool {
    if disturbances.changed().await.is_err() {
        return false;
    }
    calm(disturbances, quiet, longest).await;
    true
}

/// Waits until nothing has stirred for a while, but not forever.
pub async fn calm(disturbances: &mut Disturbances, quiet: Duration, longest: Duration) {
    let end = Instant::now() + longest;
    loop {
        let Some(last) = *disturbances.borrow_and_update() else { return };
        let until = (last + quiet).min(end);
        if Instant::now() >= until {
            return;
        }
        sleep_until(until).await;
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::library::roots::{self, Choice};
    use std::io::Write;
    use std::sync::Mutex;

    fn watcher(folder: &Path) -> (Watcher, Disturbances) {
        watcher_on(file_system, folder)
    }

    fn watcher_on(file_system: FileSystem, folder: &Path) -> (Watcher, Disturbances) {
        let choice = Choice {
            given: vec![folder.to_str().unwrap().to_owned()],
            environment: None,
            main_clone: None,
            more_clones: Vec::new(),
            working_folder: folder.to_owned(),
            home: None,
            user: false,
            plugins: false,
        };
        Watcher::on(file_system, roots::choose(&choice).unwrap().into())
    }

    /// Whether nothing can have changed since a look that begins when the dust has settled. A busy machine may be late.
    fn is_certain(watcher: &Watcher) -> bool {
        let look = std::time::Instant::now() + Duration::from_secs(2);
        (0..100).any(|_| watcher.stillness.holds_since(look))
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
        watcher.stillness.lost(&notify::Error::new(notify::ErrorKind::MaxFilesWatch));
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
        assert!(is_certain(&watcher));
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
}
