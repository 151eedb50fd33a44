//! When repositories are synced without being asked to.

use super::sync::Wanted;
use crate::bindings::catalog::Refresh;
use std::time::{Duration, Instant};

/// How often it is looked whether a repository is to be synced, and how often one is tried that could not be cloned yet.
pub const LOOK_EVERY: Duration = Duration::from_mins(1);

/// What another server synced this long ago need not be synced again at the start. A look may come so much too early.
pub const SYNCED_LATELY: Duration = Duration::from_secs(5);

/// How often a repository is to be synced by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rhythm {
    Every(Duration),
    Never,
}

impl Rhythm {
    /// By what the operator and content say. Without a clone nobody has said anything, and one has to be made.
    pub fn new(is_cloned: bool, refresh: Option<Refresh>) -> Self {
        match refresh {
            _ if !is_cloned => Self::Every(LOOK_EVERY),
            Some(refresh) if refresh.enabled => Self::Every(Duration::from_mins(refresh.interval_minutes.into())),
            _ => Self::Never,
        }
    }
}

/// Which repositories are due, by their numbers.
pub struct Schedule {
    last_tries: Vec<Instant>,
}

impl Schedule {
    /// Each is due at the beginning, whatever its rhythm is.
    pub fn begin(now: Instant, count: usize) -> (Self, Vec<(usize, Wanted)>) {
        let due = (0..count).map(|number| (number, Wanted::UnlessWithin(SYNCED_LATELY))).collect();
        (Self { last_tries: vec![now; count] }, due)
    }

    /// Those that are due now. Of several servers with one clone, one is enough: what another got within half the time is new.
    pub fn take(&mut self, now: Instant, rhythms: &[Rhythm]) -> Vec<(usize, Wanted)> {
        let mut due = Vec::new();
        for (number, (last, rhythm)) in self.last_tries.iter_mut().zip(rhythms).enumerate() {
            let Rhythm::Every(every) = *rhythm else { continue };
            if now.duration_since(*last) + SYNCED_LATELY >= every {
                *last = now;
                due.push((number, Wanted::UnlessWithin(every / 2)));
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn said(enabled: bool, interval_minutes: u32) -> Refresh {
        Refresh { enabled, interval_minutes }
    }

    fn cloned(refresh: Refresh) -> Rhythm {
        Rhythm::new(true, Some(refresh))
    }

    /// The minutes in which a repository is synced, if this is its rhythm in each of them.
    fn minutes(rhythms: impl Iterator<Item = Rhythm>) -> Vec<u32> {
        let start = Instant::now();
        let (mut schedule, _) = Schedule::begin(start, 1);
        let mut is_due = |minute: u32, rhythm: Rhythm| {
            let now = start + minute * LOOK_EVERY;
            !schedule.take(now, &[rhythm]).is_empty()
        };
        (1..).zip(rhythms).filter(|(minute, rhythm)| is_due(*minute, *rhythm)).map(|(minute, _)| minute).collect()
    }

    #[test]
    fn each_is_synced_at_the_beginning_unless_another_server_just_did() {
        let lately = Wanted::UnlessWithin(SYNCED_LATELY);
        assert_eq!(Schedule::begin(Instant::now(), 2).1, [(0, lately), (1, lately)]);
        assert_eq!(Schedule::begin(Instant::now(), 0).1, []);
    }

    #[test]
    fn the_interval_is_kept() {
        let every = |minutes| cloned(said(true, minutes));
        assert_eq!(minutes((0..60).map(|_| every(15))), [15, 30, 45, 60]);
        assert_eq!(minutes((0..4).map(|_| every(1))), [1, 2, 3, 4]);
        assert_eq!(minutes((0..59).map(|_| every(60))), Vec::<u32>::new());
    }

    #[test]
    fn a_new_interval_counts_from_the_last_sync() {
        let changes = |minute| cloned(said(true, if minute < 20 { 60 } else { 7 }));
        assert_eq!(minutes((1..=30).map(changes)), [20, 27]);
    }

    #[test]
    fn what_is_switched_off_or_unknown_is_not_synced() {
        assert_eq!(minutes((0..100).map(|_| cloned(said(false, 1)))), Vec::<u32>::new());
        assert_eq!(minutes((0..100).map(|_| Rhythm::new(true, None))), Vec::<u32>::new());
        let changes = |minute| cloned(said(minute >= 30, 15));
        assert_eq!(minutes((1..=50).map(changes)), [30, 45], "and is again when it is switched on");
    }

    #[test]
    fn what_could_not_be_cloned_is_tried_each_minute() {
        for refresh in [None, Some(said(true, 60)), Some(said(false, 60))] {
            assert_eq!(minutes((0..3).map(|_| Rhythm::new(false, refresh))), [1, 2, 3]);
        }
        let cloned_later = |minute| Rhythm::new(minute > 3, Some(said(true, 15)));
        assert_eq!(minutes((1..=20).map(cloned_later)), [1, 2, 3, 18]);
    }

    #[test]
    fn what_another_server_got_meanwhile_is_good_enough() {
        let start = Instant::now();
        let (mut schedule, _) = Schedule::begin(start, 3);
        let [often, seldom] = [10, 60].map(|minutes| cloned(said(true, minutes)));
        let within = |minutes| Wanted::UnlessWithin(Duration::from_mins(minutes));
        assert_eq!(schedule.take(start + 10 * LOOK_EVERY, &[often, seldom, often]), [(0, within(5)), (2, within(5))]);
        assert_eq!(
            schedule.take(start + 60 * LOOK_EVERY, &[often, seldom, Rhythm::Never]),
            [(0, within(5)), (1, within(30))]
        );
    }

    #[test]
    fn a_look_that_comes_a_little_early_counts() {
        let start = Instant::now();
        let rhythm = [cloned(said(true, 15))];
        let due_after = |seconds| Schedule::begin(start, 1).0.take(start + Duration::from_secs(seconds), &rhythm);
        assert_eq!(due_after(15 * 60 - 5).len(), 1);
        assert_eq!(due_after(15 * 60 - 6), []);
    }
}
