//! The words of all skills in both engines, which make searches faster. They are indexed once skills are searched.

use crate::Catalog;

/// Skills per question. Between two questions the engine is free for others.
const INDEXED_AT_ONCE: u32 = 64;

impl Catalog {
    /// Has both engines index what they did not index yet, whenever skills were searched.
    pub(crate) async fn keep_searchable(self) {
        loop {
            self.inner.searched.notified().await;
            for number in 0..2 {
                while let Some(lease) = self.inner.slots.lease_of(number).await {
                    let asked = self.ask_lease(lease, |loaded, _| loaded.engine.prepare_search(INDEXED_AT_ONCE));
                    // An engine that breaks is replaced, and indexes after the next search.
                    if !asked.await.unwrap_or(false) {
                        break;
                    }
                }
            }
        }
    }
}
