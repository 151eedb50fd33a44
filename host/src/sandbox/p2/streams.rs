//! Files that a component reads or writes as streams.

use crate::sandbox::files::{FileError, OpenFile};
use bytes::Bytes;
use std::sync::Arc;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

/// Most bytes that one read or write moves. The guest asks again for the rest, and can be stopped in between.
const MOST_AT_ONCE: usize = 1 << 20;

pub fn read_at(file: &dyn OpenFile, length: u64, offset: u64) -> Result<Vec<u8>, FileError> {
    // A guest may ask for a gigabyte of a small file.
    let left = file.stat()?.size.saturating_sub(offset).max(1);
    let length = usize::try_from(length.min(left)).unwrap_or(usize::MAX).min(MOST_AT_ONCE);
    let mut bytes = vec![0; length];
    let read = file.read_at(&mut bytes, offset)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// A file that is read from front to back.
pub struct Reading {
    pub file: Arc<dyn OpenFile>,
    pub offset: u64,
}

impl InputStream for Reading {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        let bytes = read_at(&*self.file, size as u64, self.offset).map_err(failed)?;
        if bytes.is_empty() {
            return Err(StreamError::Closed);
        }
        self.offset += bytes.len() as u64;
        Ok(bytes.into())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Reading {
    async fn ready(&mut self) {}
}

/// A file that is written from some place on, or at its end.
pub struct Writing {
    pub file: Arc<dyn OpenFile>,
    pub at: Option<u64>,
}

impl OutputStream for Writing {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let mut left = &bytes[..];
        while !left.is_empty() {
            let at = match self.at {
                Some(at) => at,
                None => self.file.stat().map_err(failed)?.size,
            };
            let written = self.file.write_at(left, at).map_err(failed)?;
            self.at = self.at.map(|at| at + written as u64);
            left = &left[written..];
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MOST_AT_ONCE)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Writing {
    async fn ready(&mut self) {}
}

fn failed(error: FileError) -> StreamError {
    StreamError::LastOperationFailed(wasmtime::Error::new(error))
}
