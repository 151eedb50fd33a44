//! The body of an answer as an integration gets it: not too much of it, and never its token.

use super::requests::Noted;
use super::secret::Secret;
use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use wasmtime_wasi_http::{Error, WasiBody};

/// Most that one answer brings, in bytes.
pub const MOST_BYTES: u64 = 8 << 20;

/// What is left of a body.
pub struct Watched {
    body: WasiBody,
    left: u64,
    secret: Secret,
    /// What came and could be the beginning of the secret.
    held: BytesMut,
    ended: bool,
    noted: Noted,
    on_secret: Box<dyn Fn() + Send>,
}

impl Watched {
    /// `on_secret` is called when the service sends the secret back.
    pub fn new(body: WasiBody, secret: Secret, noted: Noted, on_secret: impl Fn() + Send + 'static) -> Self {
        let on_secret = Box::new(on_secret);
        Self { body, left: MOST_BYTES, secret, held: BytesMut::new(), ended: false, noted, on_secret }
    }

    /// The part of the data that can be handed on.
    fn take_in(&mut self, data: &Bytes) -> Result<Bytes, Error> {
        self.noted.received(data.len());
        self.left = self.left.checked_sub(data.len() as u64).ok_or_else(|| {
            self.noted.failed("the answer is too large");
            Error::HttpResponseBodySize(Some(MOST_BYTES))
        })?;
        self.held.extend_from_slice(data);
        if self.secret.is_in(&self.held) {
            self.noted.failed("the answer repeats the token");
            (self.on_secret)();
            return Err(Error::HttpRequestDenied);
        }
        let safe = self.held.len() - self.secret.may_begin_in(&self.held);
        Ok(self.held.split_to(safe).freeze())
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        while !self.ended {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                // Trailers say nothing that an integration needs.
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    let taken = self.take_in(&data);
                    self.ended = taken.is_err();
                    match taken {
                        Ok(bytes) if bytes.is_empty() => {}
                        other => return Poll::Ready(Some(other.map(Frame::data))),
                    }
                }
                Some(Err(error)) => {
                    self.ended = true;
                    self.noted.failed(&error.to_string());
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.ended = true;
                    let rest = self.held.split().freeze();
                    return Poll::Ready((!rest.is_empty()).then(|| Ok(Frame::data(rest))));
                }
            }
        }
        Poll::Ready(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::requests::Requests;
    use super::*;
    use base64::engine::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use http_body_util::BodyExt as _;
    use hyper::Request;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// What an integration gets of an answer that comes in these parts, and whether the secret was noticed.
    async fn given(parts: Vec<Vec<u8>>, secret: &str) -> (Result<Vec<u8>, Error>, bool) {
        let request = Request::get("https://api.example.com/").body(()).unwrap();
        let noted = Requests::default().begin(&request, "api.example.com:443").unwrap();
        let body = Parts(parts.into_iter()).boxed_unsync();
        let noticed = Arc::new(AtomicBool::new(false));
        let notice = Arc::clone(&noticed);
        let watched = Watched::new(body, Secret::new(secret), noted, move || notice.store(true, Ordering::Relaxed));
        let got = watched.collect().await.map(|all| all.to_bytes().to_vec());
        (got, noticed.load(Ordering::Relaxed))
    }

    /// Parts one after the other.
    struct Parts(std::vec::IntoIter<Vec<u8>>);

    impl Body for Parts {
        type Data = Bytes;
        type Error = Error;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
            Poll::Ready(self.0.next().map(|part| Ok(Frame::data(Bytes::from(part)))))
        }
    }

    #[tokio::test]
    async fn a_body_comes_as_it_is() {
        let parts = ["{\"a\": ", "\"token-12", "\"}", "token-1234567"].map(|part| part.as_bytes().to_vec());
        let (got, noticed) = given(parts.to_vec(), "token-12345678").await;
        assert_eq!(got.unwrap(), b"{\"a\": \"token-12\"}token-1234567");
        assert!(!noticed);
    }

    #[tokio::test]
    async fn a_token_is_never_handed_on_however_it_is_cut() {
        let secret = "aab-aab-aac-1234";
        let encoded = STANDARD.encode(format!("me:{secret}"));
        for text in [format!("header: aab-{secret}\r\n"), format!("{{\"header\": \"Basic {encoded}\"}}")] {
            for size in 1..=text.len() {
                let parts = text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
                let (got, noticed) = given(parts, secret).await;
                assert!(matches!(got, Err(Error::HttpRequestDenied)) && noticed, "in parts of {size}: {text}");
            }
        }
    }

    #[tokio::test]
    async fn a_body_without_end_ends() {
        let part = vec![b'x'; 1 << 20];
        let most = usize::try_from(MOST_BYTES >> 20).unwrap();
        assert_eq!(given(vec![part.clone(); most], "").await.0.unwrap().len() as u64, MOST_BYTES);
        let (got, _) = given(vec![part; most + 1], "").await;
        assert!(matches!(got, Err(Error::HttpResponseBodySize(Some(MOST_BYTES)))));
    }
}
