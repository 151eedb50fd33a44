//! Detects changed files and folders by their metadata, without reading them.

use rustix::fs::Stat;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The metadata of a file or folder when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: Duration,
    changed: Duration,
    /// Number of hard links. With several, a file can change through another path.
    links: u64,
    /// Whether the last change was long enough ago that another one would show in the times. If not, the stamp is racy.
    settled: bool,
}

/// Whether a file or folder is unchanged since it was read. Of several, the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    Fresh,
    /// The times are equal, but so recent that a later change might not show in them (as git's racy files).
    Racy,
    Stale,
}

/// File systems with nanosecond times advance them in steps of a few milliseconds.
const FINE_GRANULARITY: Duration = Duration::from_millis(50);

/// Others have a granularity of one or two seconds.
const COARSE_GRANULARITY: Duration = Duration::from_secs(2);

impl Stamp {
    #[expect(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "the fields have other types on other systems")]
    pub fn of(stat: &Stat) -> Self {
        let time = |seconds: i64, nanoseconds: u64| {
            Duration::new(seconds.max(0) as u64, u32::try_from(nanoseconds).unwrap_or(0).min(999_999_999))
        };
        let modified = time(stat.st_mtime as i64, stat.st_mtime_nsec as u64);
        let changed = time(stat.st_ctime as i64, stat.st_ctime_nsec as u64);
        let granularity = if changed.subsec_nanos() == 0 { COARSE_GRANULARITY } else { FINE_GRANULARITY };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // ctime cannot be set, so a file with an mtime in the future settles like any other.
        let settled = changed + granularity < now;
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

    /// Compares with the current metadata.
    pub fn freshness(&self, stat: &Stat) -> Freshness {
        match (self.same_as(&Self::of(stat)), self.settled) {
            (true, true) => Freshness::Fresh,
            (true, false) => Freshness::Racy,
            (false, _) => Freshness::Stale,
        }
    }

    /// Whether all metadata is equal.
    pub fn same_as(&self, other: &Self) -> bool {
        Self { settled: false, ..*self } == Self { settled: false, ..*other }
    }

    /// Marks the stamp as racy, because the file changed while it was read.
    pub fn racy(self) -> Self {
        Self { settled: false, ..self }
    }

    /// Time of the last write, since the Unix epoch.
    pub fn modified(&self) -> Duration {
        self.modified
    }

    pub fn is_settled(&self) -> bool {
        self.settled
    }

    pub fn has_hard_links(&self) -> bool {
        self.links > 1
    }

    pub fn is_on_same_device(&self, other: &Self) -> bool {
        self.device == other.device
    }

    /// Device and inode.
    pub fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }
}
