//! Limits the size of a response body and keeps the token out of it.

use super::Target;
use super::request_log::LogEntry;
use super::secret::Secret;
use crate::denials::{Denial, Denials};
use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use wasmtime_wasi_http::{Error, WasiBody};

pub const MAX_BYTES: u64 = 8 << 20;

/// A response body that fails when it becomes too large or contains the token.
pub struct GuardedBody {
    body: WasiBody,
    bytes_left: u64,
    secret: Secret,
    /// Received bytes that could be the start of the secret.
    pending: BytesMut,
    ended: bool,
    log: LogEntry,
    denials: Denials,
    /// The service that sends the body.
    target: Target,
}

impl GuardedBody {
    pub fn new(body: WasiBody, secret: Secret, log: LogEntry, denials: Denials, target: Target) -> Self {
        Self { body, bytes_left: MAX_BYTES, secret, pending: BytesMut::new(), ended: false, log, denials, target }
    }

    /// Returns the bytes that are safe to pass on.
    fn receive(&mut self, data: &Bytes) -> Result<Bytes, Error> {
        self.log.received(data.len());
        self.bytes_left = self.bytes_left.checked_sub(data.len() as u64).ok_or_else(|| {
            self.log.failed("the answer is too large");
            Error::HttpResponseBodySize(Some(MAX_BYTES))
        })?;
        self.pending.extend_from_slice(data);
        if self.secret.is_in(&self.pending) {
            self.log.failed("the answer contains the token");
            self.denials.note(Denial::Token(self.target.clone()));
            return Err(Error::HttpRequestDenied);
        }
        let safe = self.pending.len() - self.secret.max_prefix_at_end(&self.pending);
        Ok(self.pending.split_to(safe).freeze())
    }
}

impl Body for GuardedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        while !self.ended {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                // Integrations do not need trailers.
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    let received = self.receive(&data);
                    self.ended = received.is_err();
                    match received {
                        Ok(bytes) if bytes.is_empty() => {}
                        other => return Poll::Ready(Some(other.map(Frame::data))),
                    }
                }
                Some(Err(error)) => {
                    self.ended = true;
                    self.log.failed(&error.to_string());
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.ended = true;
                    let rest = self.pending.split().freeze();
                    return Poll::Ready((!rest.is_empty()).then(|| Ok(Frame::data(rest))));
                }
            }
        }
        Poll::Ready(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::request_log::RequestLog;
    use super::*;
    use base64::engine::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use http_body_util::BodyExt as _;
    use hyper::Request;

    /// Returns what an integration receives of a body with these parts, and whether the secret was detected.
    async fn receive(parts: Vec<Vec<u8>>, secret: &str) -> (Result<Vec<u8>, Error>, bool) {
        let request = Request::get("https://api.example.com/").body(()).unwrap();
        let log = RequestLog::default().begin(&request, "api.example.com:443").unwrap();
        let (body, denials) = (Parts(parts.into_iter()).boxed_unsync(), Denials::default());
        let target = Target::of(request.uri()).unwrap();
        let guarded = GuardedBody::new(body, Secret::new(secret), log, denials.clone(), target.clone());
        let received = guarded.collect().await.map(|all| all.to_bytes().to_vec());
        (received, denials.take() == [Denial::Token(target)])
    }

    struct Parts(std::vec::IntoIter<Vec<u8>>);

    impl Body for Parts {
        type Data = Bytes;
        type Error = Error;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
            Poll::Ready(self.0.next().map(|part| Ok(Frame::data(Bytes::from(part)))))
        }
    }

    #[tokio::test]
    async fn a_body_without_the_token_is_unchanged() {
        let parts = ["{\"a\": ", "\"token-12", "\"}", "token-1234567"].map(|part| part.as_bytes().to_vec());
        let (received, detected) = receive(parts.to_vec(), "token-12345678").await;
        assert_eq!(received.unwrap(), b"{\"a\": \"token-12\"}token-1234567");
        assert!(!detected);
    }

    #[tokio::test]
    async fn a_token_is_never_passed_on_however_it_is_split() {
        let secret = "aab-aab-aac-1234";
        let encoded = STANDARD.encode(format!("me:{secret}"));
        for text in [format!("header: aab-{secret}\r\n"), format!("{{\"header\": \"Basic {encoded}\"}}")] {
            for size in 1..=text.len() {
                let parts = text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
                let (received, detected) = receive(parts, secret).await;
                assert!(matches!(received, Err(Error::HttpRequestDenied)) && detected, "in parts of {size}: {text}");
            }
        }
    }

    #[tokio::test]
    async fn the_size_of_a_body_is_limited() {
        let part = vec![b'x'; 1 << 20];
        let allowed = usize::try_from(MAX_BYTES >> 20).unwrap();
        assert_eq!(receive(vec![part.clone(); allowed], "").await.0.unwrap().len() as u64, MAX_BYTES);
        let (received, _) = receive(vec![part; allowed + 1], "").await;
        assert!(matches!(received, Err(Error::HttpResponseBodySize(Some(MAX_BYTES)))));
    }
}
