//! Decides when repositories are synced automatically.

use super::sync::SyncMode;
use bindings::catalog::Refresh;
use std::time::{Duration, Instant};

/// How often the schedule is checked, and how often a failed first clone is retried.
pub const POLL_INTERVAL: Duration = Duration::from_mins(1);

/// At the start, a clone that another server synced this recently is not synced again. Also the tolerance for early polls.
pub const RECENTLY: Duration = Duration::from_secs(5);

/// Returns how often a repository is synced automatically, if at all. Without a clone there are no settings yet.
pub fn sync_interval(is_cloned: bool, refresh: Option<Refresh>) -> Option<Duration> {
    if !is_cloned {
        return Some(POLL_INTERVAL);
    }
    let refresh = refresh.filter(|refresh| refresh.enabled)?;
    Some(Duration::from_mins(refresh.interval_minutes.into()))
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

    /// Returns the repositories that are due. A sync by another server within half the interval is enough.
    pub fn take_due(&mut self, now: Instant, intervals: &[Option<Duration>]) -> Vec<(usize, SyncMode)> {
        let mut due = Vec::new();
        for (number, (last, interval)) in self.last_attempts.iter_mut().zip(intervals).enumerate() {
            let Some(interval) = *interval else { continue };
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

    /// The interval of a clone with these settings.
    fn cloned(enabled: bool, interval_minutes: u32) -> Option<Duration> {
        sync_interval(true, Some(Refresh { enabled, interval_minutes }))
    }

    fn not_cloned(enabled: bool) -> Option<Duration> {
        sync_interval(false, Some(Refresh { enabled, interval_minutes: 60 }))
    }

    #[test]
    fn every_repository_is_synced_at_the_start_unless_another_server_just_did() {
        let mode = SyncMode::IfOlderThan(RECENTLY);
        assert_eq!(Schedule::start(Instant::now(), 2).1, [(0, mode), (1, mode)]);
        assert_eq!(Schedule::start(Instant::now(), 0).1, []);
    }

    #[test]
    fn the_settings_of_each_minute_decide_when_a_repository_is_synced() {
        type IntervalAt = fn(u32) -> Option<Duration>;
        let cases: [(&str, IntervalAt, u32, &[u32]); 11] = [
            ("every 15 minutes", |_| cloned(true, 15), 60, &[15, 30, 45, 60]),
            ("every minute", |_| cloned(true, 1), 4, &[1, 2, 3, 4]),
            ("not yet due", |_| cloned(true, 60), 59, &[]),
            ("changed", |minute| cloned(true, if minute < 20 { 60 } else { 7 }), 30, &[20, 27]),
            ("disabled", |_| cloned(false, 1), 100, &[]),
            ("unknown", |_| sync_interval(true, None), 100, &[]),
            ("enabled later", |minute| cloned(minute >= 30, 15), 50, &[30, 45]),
            ("not cloned", |_| sync_interval(false, None), 3, &[1, 2, 3]),
            ("not cloned, seldom", |_| not_cloned(true), 3, &[1, 2, 3]),
            ("not cloned, disabled", |_| not_cloned(false), 3, &[1, 2, 3]),
            ("cloned later", |minute| if minute > 3 { cloned(true, 15) } else { not_cloned(true) }, 20, &[1, 2, 3, 18]),
        ];
        for (what, interval_at, end, expected) in cases {
            let start = Instant::now();
            let (mut schedule, _) = Schedule::start(start, 1);
            let mut is_due =
                |minute| !schedule.take_due(start + minute * POLL_INTERVAL, &[interval_at(minute)]).is_empty();
            let minutes: Vec<u32> = (1..=end).filter(|minute| is_due(*minute)).collect();
            assert_eq!(minutes, expected, "{what}");
        }
    }

    #[test]
    fn a_recent_sync_by_another_server_is_enough() {
        let start = Instant::now();
        let (mut schedule, _) = Schedule::start(start, 3);
        let (often, seldom) = (cloned(true, 10), cloned(true, 60));
        let older_than = |minutes| SyncMode::IfOlderThan(Duration::from_mins(minutes));
        assert_eq!(
            schedule.take_due(start + 10 * POLL_INTERVAL, &[often, seldom, often]),
            [(0, older_than(5)), (2, older_than(5))]
        );
        assert_eq!(
            schedule.take_due(start + 60 * POLL_INTERVAL, &[often, seldom, None]),
            [(0, older_than(5)), (1, older_than(30))]
        );
    }

    #[test]
    fn a_poll_that_comes_slightly_early_counts() {
        let start = Instant::now();
        let interval = [cloned(true, 15)];
        let due_after = |seconds| Schedule::start(start, 1).0.take_due(start + Duration::from_secs(seconds), &interval);
        assert_eq!(due_after(15 * 60 - 5).len(), 1);
        assert_eq!(due_after(15 * 60 - 6), []);
    }
}
