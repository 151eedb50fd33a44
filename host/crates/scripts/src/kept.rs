//! Files of runs that the caller can still read: in memory, for a while, and for that caller alone.

use crate::outputs::OutputFile;
use base::user_files::fill_random;
use call::Caller;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const KEPT_FOR: Duration = Duration::from_mins(10);

/// Of one caller.
const MAX_CALLER_BYTES: usize = 64 << 20;

/// Of all callers together.
const MAX_BYTES: usize = 256 << 20;

const SCHEME: &str = "skillcell://run/";

/// Outputs of runs, by caller.
#[derive(Default)]
pub struct KeptFiles {
    /// Oldest first.
    runs: Mutex<VecDeque<KeptRun>>,
}

struct KeptRun {
    id: String,
    owner: Caller,
    files: Vec<OutputFile>,
    bytes: usize,
    since: Instant,
}

/// Whether a URI names a file of a run.
pub fn is_run_uri(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

/// Returns the URI of a file of a run.
pub fn uri_of(run: &str, path: &str) -> String {
    format!("{SCHEME}{run}/{}", base::percent::encode(path))
}

impl KeptFiles {
    /// Keeps files for a caller, and returns the name of the run. Older runs make room.
    pub fn keep(&self, owner: &Caller, files: Vec<OutputFile>) -> String {
        self.keep_at(owner, files, Instant::now())
    }

    /// Returns a file of a run, if it is still kept and the caller made the run.
    pub fn get(&self, owner: &Caller, uri: &str) -> Option<OutputFile> {
        self.get_at(owner, uri, Instant::now())
    }

    /// Forgets runs that are too old.
    pub fn forget_old(&self) {
        forget_before(&mut self.runs(), Instant::now());
    }

    /// How long a file is kept.
    pub fn kept_for() -> Duration {
        KEPT_FOR
    }

    fn keep_at(&self, owner: &Caller, files: Vec<OutputFile>, now: Instant) -> String {
        let id = random_id();
        let bytes = files.iter().map(|file| file.bytes.len()).sum();
        let mut runs = self.runs();
        forget_before(&mut runs, now);
        runs.push_back(KeptRun { id: id.clone(), owner: owner.clone(), files, bytes, since: now });
        make_room(&mut runs, MAX_CALLER_BYTES, |run| run.owner == *owner);
        make_room(&mut runs, MAX_BYTES, |_| true);
        id
    }

    fn get_at(&self, owner: &Caller, uri: &str, now: Instant) -> Option<OutputFile> {
        let (id, path) = uri.strip_prefix(SCHEME)?.split_once('/')?;
        let path = base::percent::decode(path);
        let mut runs = self.runs();
        forget_before(&mut runs, now);
        let run = runs.iter().find(|run| run.id == id && run.owner == *owner)?;
        run.files.iter().find(|file| file.path == path).cloned()
    }

    fn runs(&self) -> MutexGuard<'_, VecDeque<KeptRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget_before(runs: &mut VecDeque<KeptRun>, now: Instant) {
    while runs.front().is_some_and(|run| now.saturating_duration_since(run.since) >= KEPT_FOR) {
        runs.pop_front();
    }
}

/// Drops the oldest runs of a group until the rest fits.
fn make_room(runs: &mut VecDeque<KeptRun>, limit: usize, in_group: impl Fn(&KeptRun) -> bool) {
    let mut excess = runs.iter().filter(|run| in_group(run)).map(|run| run.bytes).sum::<usize>().saturating_sub(limit);
    runs.retain(|run| {
        let is_dropped = excess > 0 && in_group(run);
        if is_dropped {
            excess = excess.saturating_sub(run.bytes);
        }
        !is_dropped
    });
}

/// Returns a name that cannot be guessed.
fn random_id() -> String {
    let mut bytes = [0; 16];
    fill_random(&mut bytes).expect("the operating system has random numbers");
    bytes.iter().fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::digest::Sha256;
    use bytes::Bytes;
    use call::{Client, Principal};

    fn caller(name: &str) -> Caller {
        let client = Client { name: name.to_owned(), version: "1".to_owned() };
        Caller { principal: Principal::Operator, client: Some(client), session: None }
    }

    fn file(path: &str, size: usize) -> OutputFile {
        let bytes = Bytes::from(vec![7; size]);
        OutputFile { path: path.to_owned(), digest: Sha256::of(&bytes), bytes }
    }

    #[test]
    fn only_the_caller_that_made_a_run_reads_its_files() {
        let kept = KeptFiles::default();
        let run = kept.keep(&caller("one"), vec![file("out/a b%.md", 3), file("/tmp/x", 1)]);
        for path in ["out/a b%.md", "/tmp/x"] {
            let uri = uri_of(&run, path);
            assert_eq!(kept.get(&caller("one"), &uri).unwrap().path, path);
            assert!(kept.get(&caller("two"), &uri).is_none());
        }
        for other in ["out", "tmp/x", "out/a b%.md/", "../x"] {
            assert!(kept.get(&caller("one"), &format!("{SCHEME}{run}/{other}")).is_none(), "{other}");
        }
        assert!(kept.get(&caller("one"), &uri_of("0", "/tmp/x")).is_none());
    }

    #[test]
    fn files_are_kept_for_ten_minutes() {
        let kept = KeptFiles::default();
        let start = Instant::now();
        let run = kept.keep_at(&caller("one"), vec![file("a", 1)], start);
        let uri = uri_of(&run, "a");
        assert!(kept.get_at(&caller("one"), &uri, start + Duration::from_secs(599)).is_some());
        assert!(kept.get_at(&caller("one"), &uri, start + KEPT_FOR).is_none());
        assert!(kept.runs().is_empty());
    }

    #[test]
    fn newer_runs_push_out_older_ones_of_the_same_caller() {
        let kept = KeptFiles::default();
        let other = kept.keep(&caller("two"), vec![file("a", 1)]);
        let keep = || kept.keep(&caller("one"), vec![file("a", MAX_CALLER_BYTES / 2)]);
        let runs = [keep(), keep(), keep()];
        let is_kept = |name: &str, run: &str| kept.get(&caller(name), &uri_of(run, "a")).is_some();
        assert_eq!([&runs[0], &runs[1], &runs[2]].map(|run| is_kept("one", run)), [false, true, true]);
        assert!(is_kept("two", &other));
    }
}
