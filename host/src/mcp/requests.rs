//! Requests that have no answer yet: whether anybody still wants one, and what if it breaks.

use crate::memory;
use rmcp::model::RequestId;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// At the end, requests that are still running have this long to be answered, and their answers to be written, so that the
/// server is gone within a second.
pub const LAST_ANSWERS: Duration = Duration::from_millis(700);

/// Shared by the transport, which learns that a client cancels, and by whatever runs for that request.
#[derive(Clone)]
pub struct Cancellations {
    /// Requests of the one client on standard input. Those over HTTP have ids that are not unique, and are never in here.
    tokens: Arc<Mutex<HashMap<RequestId, CancellationToken>>>,
    /// Cancelled when the server ends, and every request with it.
    ended: CancellationToken,
    /// Cancelled when the client says nothing more, and with it every subscription: those are never answered by themselves.
    pub silent: CancellationToken,
}

impl Cancellations {
    pub fn new(ended: CancellationToken) -> Self {
        Self { tokens: Arc::default(), silent: ended.child_token(), ended }
    }

    /// The token of a subscription.
    pub fn subscription(&self, id: &RequestId) -> CancellationToken {
        self.tokens().get(id).cloned().unwrap_or_else(|| self.ended.child_token())
    }

    /// The token of a request. One that nobody admitted is over when its connection is.
    pub fn token(&self, context: &RequestContext<RoleServer>) -> CancellationToken {
        let admitted = self.tokens().get(&context.id).cloned();
        admitted.unwrap_or_else(|| either(&context.ct, self.ended.clone()))
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

/// A token that is cancelled with either of two.
fn either(connection: &CancellationToken, ended: CancellationToken) -> CancellationToken {
    let token = connection.child_token();
    let both = token.clone();
    // rmcp cancels the first when a request is answered, so no task is left behind.
    tokio::spawn(async move {
        if both.run_until_cancelled(ended.cancelled()).await.is_some() {
            both.cancel();
        }
    });
    token
}

/// Answers also when the request panics: rmcp sends nothing then.
pub async fn guarded<T>(request: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    let mut request = std::pin::pin!(request);
    std::future::poll_fn(|context| {
        let polled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| request.as_mut().poll(context)));
        polled.unwrap_or_else(|_| {
            let message = "the request failed inside the server: its log says where";
            std::task::Poll::Ready(Err(ErrorData::internal_error(message, None)))
        })
    })
    .await
    .inspect(|_| memory::answered())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ErrorCode;

    #[tokio::test]
    async fn a_panic_is_answered_as_an_internal_error() {
        let answer: Result<(), ErrorData> = guarded(async { panic!("boom") }).await;
        assert_eq!(answer.unwrap_err().code, ErrorCode::INTERNAL_ERROR);
    }

    #[tokio::test]
    async fn a_request_is_over_with_its_connection_or_with_the_server() {
        let (connection, other, ended) = (CancellationToken::new(), CancellationToken::new(), CancellationToken::new());
        let first = either(&connection, ended.clone());
        let second = either(&other, ended.clone());
        connection.cancel();
        first.cancelled().await;
        assert!(!second.is_cancelled());
        ended.cancel();
        second.cancelled().await;
        assert!(!other.is_cancelled());
    }
}
