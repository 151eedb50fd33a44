//! When to rescan without being asked: after events, debounced, and by a timer.

use crate::rescan::Scope;
use library::watch::ChangeSignal;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Time between full scans, for changes that cause no events.
pub const RESCAN_EVERY: Duration = Duration::from_secs(30);

/// Events are debounced by this much, but never delayed longer than the second.
const DEBOUNCE: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(5);

/// Why to rescan now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    Timer,
    Events,
}

impl Occasion {
    pub fn scope(self) -> Scope {
        match self {
            Self::Timer => Scope::Full,
            Self::Events => Scope::Dirty,
        }
    }
}

/// The occasions as they come. [`next`](Self::next) is cancel-safe.
pub struct Occasions {
    schedule: Schedule,
    /// Missing after the watcher ended.
    disturbances: Option<ChangeSignal>,
}

impl Occasions {
    pub fn new(disturbances: ChangeSignal) -> Self {
        Self { schedule: Schedule::new(Instant::now()), disturbances: Some(disturbances) }
    }

    pub async fn next(&mut self) -> Occasion {
        loop {
            let due = self.schedule.due();
            let disturbed = async {
                match &mut self.disturbances {
                    Some(disturbances) => disturbances.changed().await.ok().and_then(|()| *disturbances.borrow()),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // An event that came before the deadline postpones it.
                biased;
                disturbed = disturbed => match disturbed {
                    Some(last) => self.schedule.disturbed(last),
                    None => self.disturbances = None,
                },
                () = sleep_until(due) => {}
            }
            if let Some(occasion) = self.schedule.take(Instant::now()) {
                return occasion;
            }
        }
    }

    pub fn disturbed(&mut self, at: Instant) {
        self.schedule.disturbed(at);
    }

    /// Whether there were no events since the last occasion because of them.
    pub fn is_quiet(&self) -> bool {
        let has_more = |disturbances: &ChangeSignal| disturbances.has_changed().unwrap_or(false);
        self.schedule.events.is_none() && !self.disturbances.as_ref().is_some_and(has_more)
    }
}

struct Schedule {
    timer: Instant,
    /// The first and the last event since the last occasion.
    events: Option<(Instant, Instant)>,
}

impl Schedule {
    fn new(now: Instant) -> Self {
        Self { timer: now, events: None }
    }

    fn disturbed(&mut self, at: Instant) {
        let (first, last) = self.events.unwrap_or((at, at));
        self.events = Some((first, last.max(at)));
    }

    fn due(&self) -> Instant {
        self.debounced().map_or(self.timer, |debounced| debounced.min(self.timer))
    }

    fn debounced(&self) -> Option<Instant> {
        self.events.map(|(first, last)| (last + DEBOUNCE).min(first + MAX_DELAY))
    }

    /// What is due now. The timer leaves pending events alone: they may not be complete.
    fn take(&mut self, now: Instant) -> Option<Occasion> {
        if self.debounced().is_some_and(|debounced| debounced <= now) {
            self.events = None;
            return Some(Occasion::Events);
        }
        (self.timer <= now).then(|| {
            self.timer = now + RESCAN_EVERY;
            Occasion::Timer
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The occasions within 90 seconds, in milliseconds, for events at these times.
    fn occasions(events: &[u64]) -> Vec<(u64, Occasion)> {
        let start = Instant::now();
        let at = |milliseconds: u64| start + Duration::from_millis(milliseconds);
        let mut schedule = Schedule::new(start);
        let mut events = events.iter().copied().peekable();
        let mut seen = Vec::new();
        while schedule.due() <= at(90_000) {
            if let Some(event) = events.next_if(|event| at(*event) < schedule.due()) {
                schedule.disturbed(at(event));
                continue;
            }
            let due = schedule.due();
            let occasion = schedule.take(due).expect("it is due");
            seen.push((u64::try_from((due - start).as_millis()).unwrap(), occasion));
        }
        seen
    }

    fn times(events: &[u64], wanted: Occasion) -> Vec<u64> {
        let seen = occasions(events).into_iter().filter(|(_, occasion)| *occasion == wanted);
        seen.map(|(at, _)| at).collect()
    }

    #[test]
    fn the_timer_runs_whether_or_not_there_are_events() {
        assert_eq!(times(&[], Occasion::Timer), [0, 30_000, 60_000, 90_000]);
        assert_eq!(times(&[1_000, 29_800, 60_000], Occasion::Timer), [0, 30_000, 60_000, 90_000]);
    }

    #[test]
    fn events_are_debounced_into_one_scan() {
        assert_eq!(times(&[1_000, 1_200, 1_699, 70_000], Occasion::Events), [2_199, 70_500]);
        assert_eq!(times(&[29_800, 30_100], Occasion::Events), [30_600], "the timer in between does not count");
    }

    #[test]
    fn endless_events_do_not_postpone_a_scan_forever() {
        let events: Vec<u64> = (10..140).map(|number| number * 100).collect();
        assert_eq!(times(&events, Occasion::Events), [6_000, 11_000, 14_400]);
    }
}
