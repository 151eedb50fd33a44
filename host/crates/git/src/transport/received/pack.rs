//! The pack itself: a header, objects and deltas, and a checksum, which libgit2 verifies.

use super::Refusal;
use crate::limits::{MAX_FILE_BYTES, MAX_PACK_BYTES, MAX_PACK_OBJECTS};
use miniz_oxide::inflate::stream::{InflateState, MinReset, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

const SIGNATURE: &[u8] = b"PACK";
const HEADER_BYTES: usize = 12;
const ID_BYTES: usize = 20;

/// A piece of an inflated object.
const PIECE_BYTES: usize = 32 << 10;

/// The kinds of entries that are a delta: against an earlier entry, and against any object.
const OFFSET_DELTA: u8 = 6;
const ID_DELTA: u8 = 7;

pub struct Pack {
    state: State,
    /// Entries that are still to come.
    entries: u32,
    /// What all objects have together.
    total: u64,
    inflate: Box<InflateState>,
    piece: Box<[u8]>,
}

enum State {
    Header(Vec<u8>),
    Entry { kind: Option<u8>, size: Number },
    Base { entry: Entry, left: usize },
    Offset { entry: Entry, count: usize },
    Content(Entry),
    Checksum(usize),
}

#[derive(Clone, Copy)]
struct Entry {
    is_delta: bool,
    size: u64,
    inflated: u64,
    /// The sizes at the beginning of a delta: of its base and of its result.
    sizes: [Number; 2],
}

/// A number that arrives in groups of bits, the lowest first.
#[derive(Clone, Copy, Default)]
struct Number {
    value: u64,
    shift: u32,
    is_complete: bool,
}

impl Number {
    /// Adds the lowest bits of a byte. The highest bit says whether more follow.
    fn add(&mut self, byte: u8, bits: u32) -> Result<(), Refusal> {
        let group = u64::from(byte) & ((1 << bits) - 1);
        if self.shift > 56 {
            return Err(Refusal::Malformed("its pack has a size that is no number"));
        }
        self.value |= group << self.shift;
        self.shift += bits;
        self.is_complete = byte & 0x80 == 0;
        Ok(())
    }
}

impl Default for Pack {
    fn default() -> Self {
        Self {
            state: State::Header(Vec::new()),
            entries: 0,
            total: 0,
            inflate: InflateState::new_boxed(DataFormat::Zlib),
            piece: vec![0; PIECE_BYTES].into(),
        }
    }
}

impl Pack {
    pub fn check(&mut self, mut bytes: &[u8]) -> Result<(), Refusal> {
        while let Some((&first, rest)) = bytes.split_first() {
            match &mut self.state {
                State::Header(header) => {
                    header.push(first);
                    bytes = rest;
                    if header.len() == HEADER_BYTES {
                        let header = std::mem::take(header);
                        self.begin(&header)?;
                    }
                }
                State::Entry { kind, size } => {
                    bytes = rest;
                    size.add(first, if kind.is_none() { 4 } else { 7 })?;
                    let kind = *kind.get_or_insert(first >> 4 & 7);
                    if size.is_complete {
                        let size = size.value;
                        self.begin_entry(kind, size)?;
                    }
                }
                State::Base { entry, left } => {
                    let count = bytes.len().min(*left);
                    bytes = &bytes[count..];
                    *left -= count;
                    if *left == 0 {
                        self.state = State::Content(*entry);
                    }
                }
                State::Offset { entry, count } => {
                    bytes = rest;
                    *count += 1;
                    if *count > ID_BYTES {
                        return Err(Refusal::Malformed("its pack has a delta without a base"));
                    }
                    if first & 0x80 == 0 {
                        self.state = State::Content(*entry);
                    }
                }
                State::Content(entry) => {
                    let mut entry = *entry;
                    let (consumed, ended) = self.inflate(&mut entry, bytes)?;
                    bytes = &bytes[consumed..];
                    self.state = State::Content(entry);
                    if ended {
                        self.end_entry(entry)?;
                    }
                }
                State::Checksum(left) => {
                    let count = bytes.len().min(*left);
                    if count == 0 {
                        return Err(Refusal::Malformed("something follows its pack"));
                    }
                    bytes = &bytes[count..];
                    *left -= count;
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, header: &[u8]) -> Result<(), Refusal> {
        let number = |at: usize| header[at..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        if !header.starts_with(SIGNATURE) || !matches!(number(4), 2 | 3) {
            return Err(Refusal::Malformed("it sends something that is not a pack"));
        }
        self.entries = number(8);
        if self.entries > MAX_PACK_OBJECTS {
            let reason = format!("it sends {} objects, and the limit is {MAX_PACK_OBJECTS}", self.entries);
            return Err(Refusal::TooLarge(reason));
        }
        self.next_entry();
        Ok(())
    }

    fn next_entry(&mut self) {
        self.state = match self.entries.checked_sub(1) {
            None => State::Checksum(ID_BYTES),
            Some(left) => {
                self.entries = left;
                State::Entry { kind: None, size: Number::default() }
            }
        };
    }

    fn begin_entry(&mut self, kind: u8, size: u64) -> Result<(), Refusal> {
        check_size(size)?;
        self.inflate.reset_as(MinReset);
        let is_delta = matches!(kind, OFFSET_DELTA | ID_DELTA);
        let entry = Entry { is_delta, size, inflated: 0, sizes: [Number::default(); 2] };
        self.state = match kind {
            1..=4 => State::Content(entry),
            OFFSET_DELTA => State::Offset { entry, count: 0 },
            ID_DELTA => State::Base { entry, left: ID_BYTES },
            _ => return Err(Refusal::Malformed("its pack has an object of an unknown kind")),
        };
        Ok(())
    }

    /// Inflates a part of an entry. Returns how many bytes it has consumed, and whether the entry ended.
    fn inflate(&mut self, entry: &mut Entry, bytes: &[u8]) -> Result<(usize, bool), Refusal> {
        let done = inflate(&mut self.inflate, bytes, &mut self.piece, MZFlush::None);
        let ended = match done.status {
            Ok(MZStatus::StreamEnd) => true,
            // It needs more bytes.
            Ok(MZStatus::Ok) | Err(MZError::Buf) if done.bytes_consumed + done.bytes_written > 0 => false,
            _ => return Err(Refusal::Malformed("its pack is damaged")),
        };
        entry.inflated += done.bytes_written as u64;
        if entry.inflated > entry.size || ended && entry.inflated != entry.size {
            return Err(Refusal::Malformed("its pack has an object of another size than announced"));
        }
        if entry.is_delta {
            let [base, result] = &mut entry.sizes;
            for byte in &self.piece[..done.bytes_written] {
                match (base.is_complete, result.is_complete) {
                    (false, _) => base.add(*byte, 7)?,
                    (true, false) => result.add(*byte, 7)?,
                    (true, true) => break,
                }
            }
        }
        Ok((done.bytes_consumed, ended))
    }

    fn end_entry(&mut self, entry: Entry) -> Result<(), Refusal> {
        let [base, result] = entry.sizes;
        if entry.is_delta && !result.is_complete {
            return Err(Refusal::Malformed("its pack has a delta without sizes"));
        }
        check_size(base.value)?;
        check_size(result.value)?;
        self.total += entry.size.max(result.value);
        if self.total > MAX_PACK_BYTES {
            let limit = MAX_PACK_BYTES >> 30;
            return Err(Refusal::TooLarge(format!(
                "its objects have more than {limit} GiB together, which is the limit"
            )));
        }
        self.next_entry();
        Ok(())
    }
}

fn check_size(size: u64) -> Result<(), Refusal> {
    if size <= MAX_FILE_BYTES {
        return Ok(());
    }
    let limit = MAX_FILE_BYTES >> 20;
    Err(Refusal::TooLarge(format!("it sends an object of {size} bytes, and the limit is {limit} MiB")))
}
