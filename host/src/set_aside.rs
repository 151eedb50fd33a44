//! Files that an engine could not take, remembered by what is in them.

use crate::bindings::library::{ReadError, SetAsideReason};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Shared by both engines, so that neither is given such a file again. A changed file has another digest and is tried.
#[derive(Default)]
pub struct SetAside {
    reasons: RwLock<BTreeMap<[u8; 32], SetAsideReason>>,
}

impl SetAside {
    /// Sets a text aside. False if it was before.
    pub fn add(&self, text: &str, reason: SetAsideReason) -> bool {
        self.reasons.write().unwrap_or_else(PoisonError::into_inner).insert(digest(text), reason).is_none()
    }

    pub fn check(&self, text: &str) -> Result<(), ReadError> {
        let reasons = self.reasons.read().unwrap_or_else(PoisonError::into_inner);
        // Digests cost more than reading, and nearly always there is nothing to compare with.
        if reasons.is_empty() {
            return Ok(());
        }
        reasons.get(&digest(text)).map_or(Ok(()), |reason| Err(ReadError::SetAside(*reason)))
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}
