//! The unsent events of an endpoint: a folder of files, shared by all servers of this user.

use super::segment::{self, FinishedSegment, Segment};
use base::printable::counted;
use base::user_files;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const MAX_BATCH_EVENTS: usize = 500;
const MAX_BATCH_BYTES: usize = 1 << 20;

/// Each file of a batch is open while the batch is sent.
const MAX_BATCH_FILES: usize = 200;

/// Size at which a new file is started.
const SEGMENT_BYTES: u64 = 256 << 10;

/// A full buffer has at least this many files, so that only a small part of it is dropped at once.
const MIN_SEGMENTS: u64 = 8;

/// The buffer, and the file in it to which this server writes.
pub struct Buffer {
    folder: PathBuf,
    max_bytes: u64,
    current: Mutex<Option<Segment>>,
}

/// The number of events dropped because the buffer was full or an event was too large for the endpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Dropped {
    events: u64,
    /// The file that was counted last. If it still exists, a crash prevented its removal.
    last: String,
}

impl Dropped {
    const FILE: &str = "dropped.json";

    fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join(Self::FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        user_files::write(&folder.join(Self::FILE), &serde_json::to_vec(self)?)
    }
}

/// Events that are sent together. Their files are locked meanwhile.
pub struct Batch {
    pub events: Vec<String>,
    /// Each with its number of events, in the order of `events`.
    files: Vec<(FinishedSegment, usize)>,
}

impl Buffer {
    /// Creates no files; the folder is created when events are added.
    pub fn new(folder: &Path, max_bytes: u64) -> Self {
        Self { folder: folder.to_owned(), max_bytes, current: Mutex::default() }
    }

    /// Creates the folder if it is missing, along with its parents.
    pub fn prepare(&self) -> io::Result<()> {
        user_files::ensure_folder(&self.folder).map_err(io::Error::other)
    }

    /// Adds lines, one for each event. They are on disk when this returns.
    pub fn add(&self, lines: &str, events: usize) -> io::Result<()> {
        let mut current = self.current();
        let is_full = |segment: &Segment| segment.length >= self.segment_bytes() || segment.events >= MAX_BATCH_EVENTS;
        if current.as_ref().is_none_or(|segment| is_full(segment) || segment.is_deleted()) {
            // Closed first, so that it can be dropped too if room is needed.
            *current = None;
            self.prepare()?;
            self.make_room()?;
            *current = Some(Segment::create(&self.folder)?);
        }
        let added = current.as_mut().map_or(Ok(()), |segment| segment.add(lines, events));
        if added.is_err() {
            *current = None;
        }
        added
    }

    /// Adds many lines at once, in files of their own.
    pub fn import(&self, lines: &[String]) -> io::Result<()> {
        self.prepare()?;
        for chunk in lines.chunks(MAX_BATCH_EVENTS) {
            self.make_room()?;
            Segment::create(&self.folder)?.add(&chunk.concat(), chunk.len())?;
        }
        Ok(())
    }

    /// Closes the file to which this server writes, so that it can be sent. Returns `false` if it has no events.
    pub fn close(&self) -> bool {
        self.current().take_if(|segment| segment.events > 0).is_some()
    }

    /// Returns the oldest events that can be sent. Files to which servers still write are skipped.
    pub fn batch(&self) -> io::Result<Batch> {
        let own = self.current().as_ref().map(|segment| self.folder.join(&segment.name));
        let counted_file = Dropped::read(&self.folder).last;
        let mut batch = Batch { events: Vec::new(), files: Vec::new() };
        let mut bytes = 0;
        for path in segment::list(&self.folder)?.iter().filter(|path| Some(*path) != own.as_ref()) {
            let Some(mut file) = FinishedSegment::lock(path) else { continue };
            let events = file.events()?;
            if events.is_empty() || file.name() == Some(&counted_file) {
                file.remove()?;
                continue;
            }
            bytes += events.iter().map(String::len).sum::<usize>();
            let fits = batch.events.len() + events.len() <= MAX_BATCH_EVENTS && bytes <= MAX_BATCH_BYTES;
            if !batch.files.is_empty() && !fits {
                break;
            }
            let count = events.len();
            batch.events.extend(events);
            batch.files.push((file, count));
            if batch.files.len() == MAX_BATCH_FILES {
                break;
            }
        }
        Ok(batch)
    }

    /// Removes a batch that has been sent, and counts the events with the indices `too_large` as dropped.
    pub fn remove(&self, batch: Batch, too_large: &[usize]) -> io::Result<()> {
        let _lock = if too_large.is_empty() { None } else { Some(user_files::lock(&self.dropping_lock())?) };
        let mut first = 0;
        for (file, events) in batch.files {
            let indices = first..first + events;
            first = indices.end;
            let dropped = too_large.iter().filter(|index| indices.contains(index)).count();
            if dropped > 0 {
                self.count_dropped(&file, dropped)?;
            }
            file.remove()?;
        }
        Ok(())
    }

    /// The name of the folder, which is unique to the endpoint.
    pub fn name(&self) -> &str {
        self.folder.file_name().and_then(OsStr::to_str).unwrap_or_default()
    }

    /// Takes the lock of the one server that sends. Returns `None` while another server has it, or while the folder cannot
    /// be created, which is logged when events are added.
    pub fn lock_for_sending(&self) -> io::Result<Option<File>> {
        if self.prepare().is_err() { Ok(None) } else { user_files::try_lock(&self.folder.join("sending.lock")) }
    }

    /// Drops the oldest files until there is room for one more, except those that are being sent or written.
    fn make_room(&self) -> io::Result<()> {
        let Some(_lock) = user_files::try_lock(&self.dropping_lock())? else { return Ok(()) };
        let paths = segment::list(&self.folder)?;
        let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let mut total: u64 = paths.iter().map(length).sum();
        let limit = self.max_bytes - self.segment_bytes();
        let mut dropped = 0;
        for path in paths {
            if total <= limit {
                break;
            }
            let length = length(&path);
            let Some(mut file) = FinishedSegment::lock(&path) else { continue };
            let events = file.events()?.len();
            dropped += self.count_dropped(&file, events)?;
            file.remove()?;
            total -= length;
        }
        if dropped > 0 {
            tracing::warn!(
                "dropped the oldest {}: more than {} bytes are waiting for the analytics endpoint; raise \
                 `analytics.buffer_max_bytes` or check why the endpoint accepts none",
                counted(dropped, "event"),
                self.max_bytes
            );
        }
        Ok(())
    }

    /// Counts the dropped events of a file before it is removed, so that even after a crash each is counted exactly once.
    fn count_dropped(&self, file: &FinishedSegment, events: usize) -> io::Result<usize> {
        let mut dropped = Dropped::read(&self.folder);
        if file.name() == Some(&dropped.last) {
            return Ok(0);
        }
        dropped.events += events as u64;
        file.name().unwrap_or_default().clone_into(&mut dropped.last);
        dropped.write(&self.folder)?;
        Ok(events)
    }

    fn dropping_lock(&self) -> PathBuf {
        self.folder.join("dropping.lock")
    }

    /// The number of events ever dropped on this machine for this endpoint.
    pub fn dropped(&self) -> u64 {
        Dropped::read(&self.folder).events
    }

    fn segment_bytes(&self) -> u64 {
        SEGMENT_BYTES.min(self.max_bytes / MIN_SEGMENTS)
    }

    fn current(&self) -> MutexGuard<'_, Option<Segment>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the unsent and the dropped events of a buffer, without creating or locking anything.
pub fn count(folder: &Path) -> (usize, u64) {
    let lines = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).count()
    };
    let unsent = segment::list(folder).unwrap_or_default().iter().map(lines).sum();
    (unsent, Dropped::read(folder).events)
}

#[cfg(test)]
mod tests;
