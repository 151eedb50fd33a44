//! Bringing in what changes on disk without being asked to.

use super::{Catalog, Look};
use crate::library::watch::{Disturbances, Watcher};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How often the server looks at the disk in any case.
pub const LOOK_EVERY: Duration = Duration::from_secs(30);

/// What stirs on disk is looked at when it was quiet for this long, or after so long at the latest.
const LOOK_QUIET: Duration = Duration::from_millis(500);
const LOOK_LONGEST: Duration = Duration::from_secs(5);

impl Catalog {
    /// Brings in what changed on disk: now, when something stirs there, and from time to time for what nobody noticed.
    ///
    /// Says when the disk is calm and everything on it is served: then clients are told of everything at once.
    pub async fn keep_looking(self, watcher: Watcher, disturbances: Disturbances, calm: watch::Sender<()>) {
        let mut occasions = Occasions::new(disturbances);
        let mut news = self.news();
        loop {
            tokio::select! {
                occasion = occasions.next() => {
                    self.bring_in(occasion.look()).await;
                    // Whatever came of this look, nobody needs another because of it.
                    news.mark_unchanged();
                    if occasion == Occasion::Stirred || occasions.is_calm() {
                        calm.send_replace(());
                    }
                }
                // What a question found may be a part of what happens.
                Ok(()) = news.changed() => occasions.schedule.stirred(Instant::now()),
            }
            // A root that was found is watched from then on.
            watcher.watch();
        }
    }
}

/// Why to look at the disk now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occasion {
    Clock,
    Stirred,
}

impl Occasion {
    /// The clock is for what nobody noticed.
    fn look(self) -> Look {
        match self {
            Self::Clock => Look::Everything,
            Self::Stirred => Look::Stirred,
        }
    }
}

/// The occasions to look at the disk. Nothing is forgotten when waiting for one is given up.
struct Occasions {
    schedule: Schedule,
    /// Missing when nobody watches.
    disturbances: Option<Disturbances>,
}

impl Occasions {
    fn new(disturbances: Disturbances) -> Self {
        Self { schedule: Schedule::new(Instant::now()), disturbances: Some(disturbances) }
    }

    async fn next(&mut self) -> Occasion {
        loop {
            let due = self.schedule.due();
            let stirs = async {
                match &mut self.disturbances {
                    Some(disturbances) => disturbances.changed().await.ok().and_then(|()| *disturbances.borrow()),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // What stirred before it seemed quiet counts.
                biased;
                stirred = stirs => match stirred {
                    Some(last) => self.schedule.stirred(last),
                    None => self.disturbances = None,
                },
                () = sleep_until(due) => {}
            }
            if let Some(occasion) = self.schedule.take(Instant::now()) {
                return occasion;
            }
        }
    }

    /// Whether nothing stirred since the last look at what did.
    fn is_calm(&self) -> bool {
        let has_more = |disturbances: &Disturbances| disturbances.has_changed().unwrap_or(false);
        self.schedule.stirs.is_none() && !self.disturbances.as_ref().is_some_and(has_more)
    }
}

/// When the next look is due.
struct Schedule {
    clock: Instant,
    /// The first and the last time something stirred since the last look.
    stirs: Option<(Instant, Instant)>,
}

impl Schedule {
    fn new(now: Instant) -> Self {
        Self { clock: now, stirs: None }
    }

    fn stirred(&mut self, now: Instant) {
        let (first, last) = self.stirs.unwrap_or((now, now));
        self.stirs = Some((first, last.max(now)));
    }

    fn due(&self) -> Instant {
        self.quiet().map_or(self.clock, |quiet| quiet.min(self.clock))
    }

    /// When it was quiet for long enough, or restless for too long.
    fn quiet(&self) -> Option<Instant> {
        self.stirs.map(|(first, last)| (last + LOOK_QUIET).min(first + LOOK_LONGEST))
    }

    /// What is due now. A look by the clock is also one at what stirs, but that may go on.
    fn take(&mut self, now: Instant) -> Option<Occasion> {
        if self.quiet().is_some_and(|quiet| quiet <= now) {
            self.stirs = None;
            return Some(Occasion::Stirred);
        }
        (self.clock <= now).then(|| {
            self.clock = now + LOOK_EVERY;
            Occasion::Clock
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The occasions of a minute and a half in milliseconds, when something stirs at these.
    fn occasions(stirs: &[u64]) -> Vec<(u64, Occasion)> {
        let start = Instant::now();
        let at = |milliseconds: u64| start + Duration::from_millis(milliseconds);
        let mut schedule = Schedule::new(start);
        let mut stirs = stirs.iter().copied().peekable();
        let mut seen = Vec::new();
        while schedule.due() <= at(90_000) {
            if let Some(stir) = stirs.next_if(|stir| at(*stir) < schedule.due()) {
                schedule.stirred(at(stir));
                continue;
            }
            let due = schedule.due();
            let occasion = schedule.take(due).expect("it is due");
            seen.push((u64::try_from((due - start).as_millis()).unwrap(), occasion));
        }
        seen
    }

    fn stirred(stirs: &[u64]) -> Vec<u64> {
        let seen = occasions(stirs).into_iter().filter(|(_, occasion)| *occasion == Occasion::Stirred);
        seen.map(|(at, _)| at).collect()
    }

    #[test]
    fn the_clock_goes_on_whether_or_not_anything_stirs() {
        let clock = |stirs: &[u64]| -> Vec<u64> {
            let seen = occasions(stirs).into_iter().filter(|(_, occasion)| *occasion == Occasion::Clock);
            seen.map(|(at, _)| at).collect()
        };
        assert_eq!(clock(&[]), [0, 30_000, 60_000, 90_000]);
        assert_eq!(clock(&[1_000, 29_800, 60_000]), [0, 30_000, 60_000, 90_000]);
    }

    #[test]
    fn what_stirs_is_looked_at_once_when_it_is_quiet() {
        assert_eq!(stirred(&[1_000, 1_200, 1_699, 70_000]), [2_199, 70_500]);
        assert_eq!(stirred(&[29_800, 30_100]), [30_600], "the clock in between does not count");
    }

    #[test]
    fn what_never_rests_is_looked_at_all_the_same() {
        let stirs: Vec<u64> = (10..140).map(|number| number * 100).collect();
        assert_eq!(stirred(&stirs), [6_000, 11_000, 14_400]);
    }
}
