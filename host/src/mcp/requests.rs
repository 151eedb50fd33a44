//! Requests that have no answer yet, and whether anybody still wants one.

use rmcp::model::RequestId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Shared by the transport, which learns that a client cancels, and by whatever runs for that request.
#[derive(Clone)]
pub struct Cancellations {
    tokens: Arc<Mutex<HashMap<RequestId, CancellationToken>>>,
    /// Cancelled when the server ends, and every request with it.
    ended: CancellationToken,
}

impl Cancellations {
    pub fn new(ended: CancellationToken) -> Self {
        Self { tokens: Arc::default(), ended }
    }

    /// The token of a request that was admitted.
    pub fn token(&self, id: &RequestId) -> CancellationToken {
        self.tokens().get(id).cloned().unwrap_or_else(|| self.ended.child_token())
    }

    pub fn begin(&self, id: &RequestId) {
        self.tokens().insert(id.clone(), self.ended.child_token());
    }

    pub fn cancel(&self, id: &RequestId) {
        if let Some(token) = self.tokens().get(id) {
            token.cancel();
        }
    }

    pub fn end(&self, id: &RequestId) {
        self.tokens().remove(id);
    }

    fn tokens(&self) -> MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
