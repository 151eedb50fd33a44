//! What a guest tried and the host denied, to be told with the result.

use crate::printable::printable_up_to;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Most denials that are kept of one run. A guest can try as often as it likes.
const MOST: usize = 20;

/// Longest text of one of them, in characters.
const LONGEST: usize = 300;

/// Shared by everything that can deny something to one guest.
#[derive(Debug, Clone, Default)]
pub struct Denials(Arc<Mutex<BTreeSet<String>>>);

impl Denials {
    /// What a guest named may be anything, so it is kept as it can be shown.
    pub fn note(&self, what: impl AsRef<str>) {
        let what = printable_up_to(what.as_ref(), LONGEST);
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.len() < MOST {
            noted.insert(what);
        }
    }

    pub fn take(&self) -> Vec<String> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *noted).into_iter().collect()
    }
}
