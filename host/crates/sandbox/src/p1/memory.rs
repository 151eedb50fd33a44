//! Access to the memory of a guest, with bounds checks.

use super::abi::{Errno, Result};

pub struct GuestMemory<'a>(pub &'a mut [u8]);

impl GuestMemory<'_> {
    pub fn slice(&self, start: u32, length: u32) -> Result<&[u8]> {
        let start = start as usize;
        self.0.get(start..start + length as usize).ok_or(Errno::FAULT)
    }

    pub fn slice_mut(&mut self, start: u32, length: u32) -> Result<&mut [u8]> {
        let start = start as usize;
        self.0.get_mut(start..start + length as usize).ok_or(Errno::FAULT)
    }

    pub fn text(&self, start: u32, length: u32) -> Result<String> {
        let bytes = self.slice(start, length)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Errno::ILSEQ)
    }

    pub fn write(&mut self, at: u32, bytes: &[u8]) -> Result {
        let length = u32::try_from(bytes.len()).map_err(|_| Errno::FAULT)?;
        self.slice_mut(at, length)?.copy_from_slice(bytes);
        Ok(())
    }

    pub fn write_u32(&mut self, at: u32, value: u32) -> Result {
        self.write(at, &value.to_le_bytes())
    }

    pub fn write_u64(&mut self, at: u32, value: u64) -> Result {
        self.write(at, &value.to_le_bytes())
    }

    /// Writes a record of 8-byte words. A word may combine shorter fields, the first of which is in its lowest bits.
    pub fn write_words<const COUNT: usize>(&mut self, at: u32, words: [u64; COUNT]) -> Result {
        self.write(at, words.map(u64::to_le_bytes).as_flattened())
    }

    pub fn u32(&self, at: u32) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(at)?))
    }

    pub fn u64(&self, at: u32) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(at)?))
    }

    fn array<const LENGTH: usize>(&self, at: u32) -> Result<[u8; LENGTH]> {
        self.0.get(at as usize..).and_then(<[u8]>::first_chunk).copied().ok_or(Errno::FAULT)
    }

    /// Reads the buffers of a vectored read or write: pairs of pointer and length.
    pub fn buffers(&self, list: u32, count: u32) -> Result<Vec<(u32, u32)>> {
        if count > MAX_BUFFERS {
            return Err(Errno::INVAL);
        }
        let buffer = |number: u32| {
            let at = list.checked_add(number * 8).ok_or(Errno::FAULT)?;
            Ok((self.u32(at)?, self.u32(at.checked_add(4).ok_or(Errno::FAULT)?)?))
        };
        (0..count).map(buffer).collect()
    }
}

/// Of one vectored read or write, as on Linux.
const MAX_BUFFERS: u32 = 1024;
