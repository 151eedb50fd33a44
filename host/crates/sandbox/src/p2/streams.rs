//! Streams over open files.

use crate::files::{FileError, OpenFile};
use bytes::Bytes;
use std::sync::Arc;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

/// Of one read or write. The guest repeats the call for the rest, and can be stopped in between.
const MAX_CHUNK_BYTES: usize = 1 << 20;

pub fn read_at(file: &dyn OpenFile, length: u64, offset: u64) -> Result<Vec<u8>, FileError> {
    // A guest may request a gigabyte of a small file.
    let remaining = file.stat()?.size.saturating_sub(offset).max(1);
    let length = usize::try_from(length.min(remaining)).unwrap_or(usize::MAX).min(MAX_CHUNK_BYTES);
    let mut bytes = vec![0; length];
    let read = file.read_at(&mut bytes, offset)?;
    bytes.truncate(read);
    Ok(bytes)
}

pub struct FileInputStream {
    pub file: Arc<dyn OpenFile>,
    pub offset: u64,
}

impl InputStream for FileInputStream {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        let bytes = read_at(&*self.file, size as u64, self.offset).map_err(stream_error)?;
        if bytes.is_empty() {
            return Err(StreamError::Closed);
        }
        self.offset += bytes.len() as u64;
        Ok(bytes.into())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileInputStream {
    async fn ready(&mut self) {}
}

pub struct FileOutputStream {
    pub file: Arc<dyn OpenFile>,
    /// `None` appends.
    pub offset: Option<u64>,
}

impl OutputStream for FileOutputStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let mut remaining = &bytes[..];
        while !remaining.is_empty() {
            let offset = match self.offset {
                Some(offset) => offset,
                None => self.file.stat().map_err(stream_error)?.size,
            };
            let written = self.file.write_at(remaining, offset).map_err(stream_error)?;
            self.offset = self.offset.map(|offset| offset + written as u64);
            remaining = &remaining[written..];
        }
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
impl Pollable for FileOutputStream {
    async fn ready(&mut self) {}
}

fn stream_error(error: FileError) -> StreamError {
    StreamError::LastOperationFailed(wasmtime::Error::new(error))
}
