//! Files that broke an engine, by the digest of their text.

use base::digest::Sha256;
use bindings::library::{QuarantineReason, ReadError};
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Shared by all engines of a server, so that none reads such a file again. A changed file has another digest and is tried.
#[derive(Default)]
pub struct Quarantine {
    reasons: RwLock<BTreeMap<Sha256, QuarantineReason>>,
}

impl Quarantine {
    /// Adds a text. Returns whether it is new.
    pub fn add(&self, text: &str, reason: QuarantineReason) -> bool {
        let mut reasons = self.reasons.write().unwrap_or_else(PoisonError::into_inner);
        reasons.insert(Sha256::of(text.as_bytes()), reason).is_none()
    }

    pub fn check(&self, text: &str) -> Result<(), ReadError> {
        let reasons = self.reasons.read().unwrap_or_else(PoisonError::into_inner);
        // Digests cost more than reading, and the quarantine is nearly always empty.
        if reasons.is_empty() {
            return Ok(());
        }
        reasons.get(&Sha256::of(text.as_bytes())).map_or(Ok(()), |reason| Err(ReadError::Quarantined(*reason)))
    }
}
