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

/// The occasions as they come.
pub struct Occasions {
    timer: Instant,
    /// The first and the last event since the last occasion.
    events: Option<(Instant, Instant)>,
    /// Missing after the watcher ended.
    disturbances: Option<ChangeSignal>,
}

impl Occasions {
    pub fn new(disturbances: Option<ChangeSignal>) -> Self {
        Self { timer: Instant::now(), events: None, disturbances }
    }

    /// Waits for the next occasion. Cancel-safe.
    pub async fn next(&mut self) -> Occasion {
        loop {
            let due = self.due();
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
                    Some(last) => self.disturbed(last),
                    None => self.disturbances = None,
                },
                () = sleep_until(due) => {}
            }
            if let Some(occasion) = self.take(Instant::now()) {
                return occasion;
            }
        }
    }

    pub fn disturbed(&mut self, at: Instant) {
        let (first, last) = self.events.unwrap_or((at, at));
        self.events = Some((first, last.max(at)));
    }

    /// Notes the end of a refresh for this occasion, or for a request. Returns whether the disk is quiet and everything on it is
    /// served.
    pub fn finished(&mut self, occasion: Option<Occasion>, is_new: bool, now: Instant) -> bool {
        let Some(occasion) = occasion else {
            // What a request found may be part of something that still goes on.
            if is_new {
                self.disturbed(now);
            }
            return false;
        };
        occasion == Occasion::Events || self.is_quiet()
    }

    /// Whether there were no events since the last occasion because of them.
    fn is_quiet(&self) -> bool {
        let has_more = |disturbances: &ChangeSignal| disturbances.has_changed().unwrap_or(false);
        self.events.is_none() && !self.disturbances.as_ref().is_some_and(has_more)
    }

    pub fn due(&self) -> Instant {
        self.debounced().map_or(self.timer, |debounced| debounced.min(self.timer))
    }

    fn debounced(&self) -> Option<Instant> {
        self.events.map(|(first, last)| (last + DEBOUNCE).min(first + MAX_DELAY))
    }

    /// What is due now. The timer leaves pending events alone: they may not be complete.
    pub fn take(&mut self, now: Instant) -> Option<Occasion> {
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

    #[test]
    fn events_are_debounced_into_one_scan_and_the_timer_runs_whether_or_not_there_are_any() {
        let endless: Vec<u64> = (10..140).map(|number| number * 100).collect();
        // When there are events, and when these lead to a scan, in milliseconds.
        for (events, expected) in [
            (&[][..], &[][..]),
            (&[1_000, 1_200, 1_699, 70_000], &[2_199, 70_500]),
            // The timer in between does not count.
            (&[1_000, 29_800, 30_100, 60_000], &[1_500, 30_600, 60_500]),
            (&endless, &[6_000, 11_000, 14_400]),
        ] {
            let mut occasions = Occasions::new(None);
            let start = occasions.timer;
            let at = |milliseconds: u64| start + Duration::from_millis(milliseconds);
            let mut coming = events.iter().copied().peekable();
            let (mut after_events, mut by_timer) = (Vec::new(), Vec::new());
            while occasions.due() <= at(90_000) {
                if let Some(event) = coming.next_if(|event| at(*event) < occasions.due()) {
                    occasions.disturbed(at(event));
                    continue;
                }
                let due = occasions.due();
                let seen = match occasions.take(due).expect("it is due") {
                    Occasion::Events => &mut after_events,
                    Occasion::Timer => &mut by_timer,
                };
                seen.push((due - start).as_millis());
            }
            assert_eq!(after_events, expected, "{events:?}");
            assert_eq!(by_timer, [0, 30_000, 60_000, 90_000], "{events:?}");
        }
    }
}
