//! What a guest tried and the host denied, to be told with the result.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Most denials that are kept of one run. A guest can try as often as it likes.
const MOST: usize = 20;

/// Longest text of one of them, in bytes.
const LONGEST: usize = 300;

/// Shared by everything that can deny something to one guest.
#[derive(Debug, Clone, Default)]
pub struct Denials(Arc<Mutex<BTreeSet<String>>>);

impl Denials {
    pub fn note(&self, mut what: String) {
        what.truncate(what.floor_char_boundary(LONGEST));
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
