//! Captures the standard output and standard error of a guest, up to a limit.

use crate::p2::streams::WriteStream;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::OutputStream;

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

    /// Returns an empty stream with the same limit.
    #[must_use]
    pub fn with_same_limit(&self) -> Self {
        Self::new(self.limit)
    }

    /// Takes the bytes that a nested guest wrote to `other`. What was dropped there is missing here too.
    pub fn take_nested(&self, other: &Self) -> Vec<u8> {
        let nested = std::mem::take(&mut *other.captured.lock().unwrap_or_else(PoisonError::into_inner));
        self.captured.lock().unwrap_or_else(PoisonError::into_inner).truncated |= nested.truncated;
        nested.bytes
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
        unreachable!("only WASI 0.3 uses this, which is not compiled in")
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        let output = self.clone();
        Box::new(WriteStream(move |bytes: &[u8]| {
            output.append(bytes);
            Ok(())
        }))
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
