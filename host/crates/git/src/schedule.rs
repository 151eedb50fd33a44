//! Decides when repositories are synced automatically.

use super::sync::SyncMode;
use bindings::catalog::Refresh;
use std::time::{Duration, Instant};

/// How often the schedule is checked, and how often a failed first clone is retried.
pub const POLL_INTERVAL: Duration = Duration::from_mins(1);

/// At the start, a clone that another server synced this recently is not synced again. Also the tolerance for early polls.
pub const RECENTLY: Duration = Duration::from_secs(5);

/// How often a repository is synced automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncInterval {
    Every(Duration),
    Never,
}

impl SyncInterval {
    /// Follows the settings. Without a clone there are none yet, and one has to be made.
    pub fn new(is_cloned: bool, refresh: Option<Refresh>) -> Self {
        match refresh {
            _ if !is_cloned => Self::Every(POLL_INTERVAL),
            Some(refresh) if refresh.enabled => Self::Every(Duration::from_mins(refresh.interval_minutes.into())),
            _ => Self::Never,
        }
    }
}

/// Knows which repositories are due, by their numbers.
pub struct Schedule {
    last_attempts: Vec<Instant>,
}

impl Schedule {
    /// Every repository is due at the start, whatever its interval.
    pub fn start(now: Instant, count: usize) -> (Self, Vec<(usize, SyncMode)>) {
        let due = (0..count).map(|number| (number, SyncMode::IfOlderThan(RECENTLY))).collect();
        (Self { last_attempts: vec![now; count] }, due)
    }

    /// Returns the repositories that are due. If several servers share a clone, a sync by another one within half the
    /// interval is enough.
    pub fn take_due(&mut self, now: Instant, intervals: &[SyncInterval]) -> Vec<(usize, SyncMode)> {
        let mut due = Vec::new();
        for (number, (last, interval)) in self.last_attempts.iter_mut().zip(intervals).enumerate() {
            let SyncInterval::Every(interval) = *interval else { continue };
            if now.duration_since(*last) + RECENTLY >= interval {
                *last = now;
                due.push((number, SyncMode::IfOlderThan(interval / 2)));
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn refresh(enabled: bool, interval_minutes: u32) -> Refresh {
        Refresh { enabled, interval_minutes }
    }

    fn cloned(settings: Refresh) -> SyncInterval {
        SyncInterval::new(true, Some(settings))
    }

    /// Returns the minutes in which a repository is synced, given its interval in each minute.
    fn minutes(intervals: impl Iterator<Item = SyncInterval>) -> Vec<u32> {
        let start = Instant::now();
        let (mut schedule, _) = Schedule::start(start, 1);
        let mut is_due = |minute: u32, interval: SyncInterval| {
            let now = start + minute * POLL_INTERVAL;
            !schedule.take_due(now, &[interval]).is_empty()
        };
        (1..).zip(intervals).filter(|(minute, interval)| is_due(*minute, *interval)).map(|(minute, _)| minute).collect()
    }

    #[test]
    fn every_repository_is_synced_at_the_start_unless_another_server_just_did() {
        let mode = SyncMode::IfOlderThan(RECENTLY);
        assert_eq!(Schedule::start(Instant::now(), 2).1, [(0, mode), (1, mode)]);
        assert_eq!(Schedule::start(Instant::now(), 0).1, []);
    }

    #[test]
    fn the_interval_is_kept() {
        let every = |minutes| cloned(refresh(true, minutes));
        assert_eq!(minutes((0..60).map(|_| every(15))), [15, 30, 45, 60]);
        assert_eq!(minutes((0..4).map(|_| every(1))), [1, 2, 3, 4]);
        assert_eq!(minutes((0..59).map(|_| every(60))), Vec::<u32>::new());
    }

    #[test]
    fn a_new_interval_counts_from_the_last_sync() {
        let changes = |minute| cloned(refresh(true, if minute < 20 { 60 } else { 7 }));
        assert_eq!(minutes((1..=30).map(changes)), [20, 27]);
    }

    #[test]
    fn disabled_or_unknown_repositories_are_not_synced() {
        assert_eq!(minutes((0..100).map(|_| cloned(refresh(false, 1)))), Vec::<u32>::new());
        assert_eq!(minutes((0..100).map(|_| SyncInterval::new(true, None))), Vec::<u32>::new());
        let changes = |minute| cloned(refresh(minute >= 30, 15));
        assert_eq!(minutes((1..=50).map(changes)), [30, 45], "syncing resumes when it is enabled");
    }

    #[test]
    fn a_failed_first_clone_is_retried_every_minute() {
        for settings in [None, Some(refresh(true, 60)), Some(refresh(false, 60))] {
            assert_eq!(minutes((0..3).map(|_| SyncInterval::new(false, settings))), [1, 2, 3]);
        }
        let cloned_later = |minute| SyncInterval::new(minute > 3, Some(refresh(true, 15)));
        assert_eq!(minutes((1..=20).map(cloned_later)), [1, 2, 3, 18]);
    }

    #[test]
    fn a_recent_sync_by_another_server_is_enough() {
        let start = Instant::now();
        let (mut schedule, _) = Schedule::start(start, 3);
        let [often, seldom] = [10, 60].map(|minutes| cloned(refresh(true, minutes)));
        let older_than = |minutes| SyncMode::IfOlderThan(Duration::from_mins(minutes));
        assert_eq!(
            schedule.take_due(start + 10 * POLL_INTERVAL, &[often, seldom, often]),
            [(0, older_than(5)), (2, older_than(5))]
        );
        assert_eq!(
            schedule.take_due(start + 60 * POLL_INTERVAL, &[often, seldom, SyncInterval::Never]),
            [(0, older_than(5)), (1, older_than(30))]
        );
    }

    #[test]
    fn a_poll_that_comes_slightly_early_counts() {
        let start = Instant::now();
        let interval = [cloned(refresh(true, 15))];
        let due_after = |seconds| Schedule::start(start, 1).0.take_due(start + Duration::from_secs(seconds), &interval);
        assert_eq!(due_after(15 * 60 - 5).len(), 1);
        assert_eq!(due_after(15 * 60 - 6), []);
    }
}
