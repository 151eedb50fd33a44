//! What a guest tried and the host denied, to be told with the result.

use crate::printable::{counted, printable_up_to};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most denials that are kept of one run. A guest can try as often as it likes; what else it tried is counted.
const MOST: usize = 20;

/// Longest text of one of them, in characters.
const LONGEST: usize = 300;

/// Shared by everything that can deny something to one guest.
#[derive(Debug, Clone, Default)]
pub struct Denials(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    kept: BTreeSet<String>,
    more: usize,
}

impl Denials {
    /// What a guest named may be anything, so it is kept as it can be shown.
    pub fn note(&self, what: impl AsRef<str>) {
        let what = printable_up_to(what.as_ref(), LONGEST);
        let mut noted = self.noted();
        if noted.kept.len() < MOST {
            noted.kept.insert(what);
        } else if !noted.kept.contains(&what) {
            noted.more = noted.more.saturating_add(1);
        }
    }

    /// All that were kept, and in the last line how many were not.
    pub fn take(&self) -> Vec<String> {
        let Noted { kept, more } = std::mem::take(&mut *self.noted());
        let more = (more > 0).then(|| format!("and {}, not listed here", counted(more, "more attempt")));
        kept.into_iter().chain(more).collect()
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_counted() {
        let denials = Denials::default();
        for number in 0..MOST {
            denials.note(format!("read `{number:02}`"));
            denials.note("read `00`");
        }
        assert_eq!(denials.take().len(), MOST);
        for number in 0..=MOST {
            denials.note(format!("read `{number:02}`"));
        }
        assert_eq!(denials.take().last().unwrap(), "and 1 more attempt, not listed here");
        for number in 0..MOST + 7 {
            denials.note(format!("read `{number:02}`"));
            denials.note("read `00`");
        }
        let told = denials.take();
        assert_eq!((told.len(), told[0].as_str()), (MOST + 1, "read `00`"));
        assert_eq!(told[MOST], "and 7 more attempts, not listed here");
        assert!(denials.take().is_empty());
    }
}
