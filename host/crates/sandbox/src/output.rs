//! Captures the standard output and standard error of a guest, up to a limit.

use bytes::Bytes;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// How much a guest may write at once.
const MAX_CHUNK_BYTES: usize = 1 << 20;

/// One stream. Bytes beyond the limit are silently dropped: a script that prints too much should still finish its work.
#[derive(Debug, Clone)]
pub struct Output {
    captured: Arc<Mutex<CapturedBytes>>,
    limit: usize,
}

#[derive(Debug, Default)]
struct CapturedBytes {
    bytes: Vec<u8>,
    truncated: bool,
}

/// The text that a guest wrote.
#[derive(Debug, Default)]
pub struct CapturedText {
    pub text: String,
    pub truncated: bool,
}

impl Output {
    pub fn new(limit: usize) -> Self {
        Self { captured: Arc::default(), limit }
    }

    pub fn append(&self, bytes: &[u8]) {
        let mut captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        let room = self.limit - captured.bytes.len();
        captured.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        captured.truncated |= bytes.len() > room;
    }

    /// Takes everything written so far. Invalid UTF-8 becomes replacement characters; a character cut in two is removed.
    pub fn take(&self) -> CapturedText {
        let mut captured = std::mem::take(&mut *self.captured.lock().unwrap_or_else(PoisonError::into_inner));
        if captured.truncated
            && let Err(error) = std::str::from_utf8(&captured.bytes)
            && error.error_len().is_none()
        {
            captured.bytes.truncate(error.valid_up_to());
        }
        let text = String::from_utf8(captured.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        CapturedText { text, truncated: captured.truncated }
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Output {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.append(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_CHUNK_BYTES)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.append(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_beyond_the_limit_is_dropped_and_reported() {
        let output = Output::new(5);
        output.append(b"abc");
        output.append(b"de");
        let written = output.take();
        assert_eq!((written.text.as_str(), written.truncated), ("abcde", false));
        output.append("aé…é".as_bytes());
        let written = output.take();
        assert_eq!((written.text.as_str(), written.truncated), ("aé", true));
    }
}
