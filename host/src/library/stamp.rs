//! How to tell without reading that a file or folder is still the same.

use rustix::fs::Stat;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the file system says about a file, taken when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: Duration,
    changed: Duration,
    /// Names that the file has. With several, it can change without anybody touching this one.
    links: u64,
    /// Whether the last change was long enough before, so that another one would show in the times.
    settled: bool,
}

/// Whether something on disk is what it was when it was read. Of several things, the largest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sameness {
    Same,
    /// Its times are those that it had, but they were so new that another change might not show.
    Unsettled,
    Other,
}

/// Times advance in steps of a few milliseconds on file systems that keep nanoseconds.
const FINE_STEP: Duration = Duration::from_millis(50);

/// And in steps of one or two seconds on others.
const COARSE_STEP: Duration = Duration::from_secs(2);

impl Stamp {
    #[expect(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "the fields have other types on other systems")]
    pub fn of(stat: &Stat) -> Self {
        let time = |seconds: i64, nanoseconds: u64| {
            Duration::new(seconds.max(0) as u64, u32::try_from(nanoseconds).unwrap_or(0).min(999_999_999))
        };
        let modified = time(stat.st_mtime as i64, stat.st_mtime_nsec as u64);
        let changed = time(stat.st_ctime as i64, stat.st_ctime_nsec as u64);
        let step = if changed.subsec_nanos() == 0 { COARSE_STEP } else { FINE_STEP };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // The time of change cannot be set, so a file that claims to be from tomorrow settles like any other.
        let settled = changed + step < now;
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified,
            changed,
            links: stat.st_nlink as u64,
            settled,
        }
    }

    /// Whether the file is the one that this stamp was taken of.
    pub fn sameness(&self, stat: &Stat) -> Sameness {
        match (self.same_as(&Self::of(stat)), self.settled) {
            (true, true) => Sameness::Same,
            (true, false) => Sameness::Unsettled,
            (false, _) => Sameness::Other,
        }
    }

    /// Whether two stamps show the same times and size.
    pub fn same_as(&self, other: &Self) -> bool {
        Self { settled: false, ..*self } == Self { settled: false, ..*other }
    }

    /// The same stamp, never to be trusted: the file changed while it was read.
    pub fn unsettled(self) -> Self {
        Self { settled: false, ..self }
    }

    /// When the bytes were last written, since 1970.
    pub fn modified(&self) -> Duration {
        self.modified
    }

    pub fn is_settled(&self) -> bool {
        self.settled
    }

    pub fn has_other_names(&self) -> bool {
        self.links > 1
    }

    pub fn is_on_same_device(&self, other: &Self) -> bool {
        self.device == other.device
    }

    /// What two ways to one folder have in common.
    pub fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }
}
