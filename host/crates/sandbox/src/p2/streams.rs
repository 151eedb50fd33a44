//! Streams over open files, and over captured output.

use crate::files::{FileError, OpenFile};
use bytes::Bytes;
use std::sync::Arc;
use wasmtime_wasi::p2::{DynOutputStream, InputStream, OutputStream, Pollable, StreamError, StreamResult};

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

/// Returns a stream that writes to a file: from an offset on, or at its end without one.
pub fn file_output(file: Arc<dyn OpenFile>, mut offset: Option<u64>) -> DynOutputStream {
    Box::new(WriteStream(move |mut remaining: &[u8]| {
        while !remaining.is_empty() {
            let at = match offset {
                Some(offset) => offset,
                None => file.stat().map_err(stream_error)?.size,
            };
            let written = file.write_at(remaining, at).map_err(stream_error)?;
            offset = offset.map(|offset| offset + written as u64);
            remaining = &remaining[written..];
        }
        Ok(())
    }))
}

/// A stream that is always ready, over a function that writes all it gets.
pub struct WriteStream<W>(pub W);

impl<W: FnMut(&[u8]) -> StreamResult<()> + Send + 'static> OutputStream for WriteStream<W> {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        (self.0)(&bytes)
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_CHUNK_BYTES)
    }
}

#[wasmtime_wasi::async_trait]
impl<W: Send + 'static> Pollable for WriteStream<W> {
    async fn ready(&mut self) {}
}

fn stream_error(error: FileError) -> StreamError {
    StreamError::LastOperationFailed(wasmtime::Error::new(error))
}
