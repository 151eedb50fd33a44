//! Requests in flight: their cancellation, and the answer to one that panics.

use crate::answer::Result;
use base::allocator;
use rmcp::model::RequestId;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long the shutdown waits for requests in flight and for their answers to be written. The whole shutdown must take less
/// than a second.
pub const SHUTDOWN_GRACE: Duration = Duration::from_millis(700);

/// Shared by the transport, which receives cancellations, and the code that answers requests.
#[derive(Clone)]
pub struct Cancellations {
    /// Requests of the client on stdio. Ids over HTTP are not unique, so those requests are not in here.
    tokens: Arc<Mutex<HashMap<RequestId, CancellationToken>>>,
    /// Cancelled at shutdown, together with every request.
    shutdown: CancellationToken,
    /// Cancelled when the input ends, together with every subscription, because subscriptions never end by themselves.
    pub input_ended: CancellationToken,
}

impl Cancellations {
    pub fn new(shutdown: CancellationToken) -> Self {
        Self { tokens: Arc::default(), input_ended: shutdown.child_token(), shutdown }
    }

    pub fn subscription(&self, id: &RequestId) -> CancellationToken {
        self.tokens().get(id).cloned().unwrap_or_else(|| self.shutdown.child_token())
    }

    /// Returns the token of a request. Over HTTP it is cancelled with the connection.
    pub fn token(&self, context: &RequestContext<RoleServer>) -> CancellationToken {
        let admitted = self.tokens().get(&context.id).cloned();
        admitted.unwrap_or_else(|| either(&context.ct, self.shutdown.clone()))
    }

    pub fn begin(&self, id: &RequestId) {
        self.tokens().insert(id.clone(), self.shutdown.child_token());
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

/// Returns a token that is cancelled with either of two.
fn either(connection: &CancellationToken, shutdown: CancellationToken) -> CancellationToken {
    let token = connection.child_token();
    let both = token.clone();
    // rmcp cancels the first when a request is answered, so this task ends.
    tokio::spawn(async move {
        if both.run_until_cancelled(shutdown.cancelled()).await.is_some() {
            both.cancel();
        }
    });
    token
}

/// Answers a request that panics with an error, because rmcp would send nothing.
pub async fn guarded<T>(request: impl Future<Output = Result<T>>) -> Result<T> {
    let mut request = std::pin::pin!(request);
    std::future::poll_fn(|context| {
        let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| request.as_mut().poll(context)));
        polled.unwrap_or_else(|_| {
            let message = "the request failed inside the server: its log says where";
            std::task::Poll::Ready(Err(ErrorData::internal_error(message, None)))
        })
    })
    .await
    .inspect(|_| allocator::trim_after_answer())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ErrorCode;

    #[tokio::test]
    async fn a_panic_is_answered_as_an_internal_error() {
        let answer: Result<()> = guarded(async { panic!("boom") }).await;
        assert_eq!(answer.unwrap_err().code, ErrorCode::INTERNAL_ERROR);
    }

    #[tokio::test]
    async fn a_request_is_cancelled_with_its_connection_or_at_shutdown() {
        let (connection, other, shutdown) =
            (CancellationToken::new(), CancellationToken::new(), CancellationToken::new());
        let first = either(&connection, shutdown.clone());
        let second = either(&other, shutdown.clone());
        connection.cancel();
        first.cancelled().await;
        assert!(!second.is_cancelled());
        shutdown.cancel();
        second.cancelled().await;
        assert!(!other.is_cancelled());
    }
}
