//! The events that an endpoint does not have yet: a folder of files, shared by all servers of this user that send there.

use super::segment::{self, Finished, Segment};
use crate::private;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most events that are sent at once, in number and in bytes.
const BATCH_EVENTS: usize = 500;
const BATCH_BYTES: usize = 1 << 20;

/// Most files that are sent at once. Each is open meanwhile.
const BATCH_FILES: usize = 200;

/// A file that is longer than this is closed, in bytes.
const SEGMENT_BYTES: u64 = 256 << 10;

/// A full buffer is so many files at least, so that little is dropped at once.
const SHARES: u64 = 8;

/// The buffer, and the file in it that this server writes.
pub struct Waiting {
    folder: PathBuf,
    most_bytes: u64,
    current: Mutex<Option<Segment>>,
}

/// How many events were dropped, because there was no room or an endpoint never takes them.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Dropped {
    events: u64,
    /// The file that was counted last. If it is still there, it was counted and not yet removed.
    last: String,
}

impl Dropped {
    fn path(folder: &Path) -> PathBuf {
        folder.join("dropped.json")
    }

    fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(Self::path(folder)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        private::write(&Self::path(folder), &serde_json::to_vec(self)?)
    }
}

/// Events that are sent together, out of files that nobody else has meanwhile.
pub struct Batch {
    pub events: Vec<String>,
    /// Each with the number of events in it, in the same order.
    files: Vec<(Finished, usize)>,
}

impl Waiting {
    /// The buffer in a folder, which is made when something is added.
    pub fn new(folder: &Path, most_bytes: u64) -> Self {
        Self { folder: folder.to_owned(), most_bytes, current: Mutex::default() }
    }

    /// Makes the folder if it is missing, with everything above it.
    pub fn prepare(&self) -> io::Result<()> {
        private::folder(&self.folder).map_err(io::Error::other)
    }

    /// Adds lines, one for each event. They are on disk when this returns.
    pub fn add(&self, lines: &str, events: usize) -> io::Result<()> {
        let mut current = self.current();
        let is_full = |segment: &Segment| segment.length >= self.segment_bytes() || segment.events >= BATCH_EVENTS;
        if current.as_ref().is_none_or(|segment| is_full(segment) || segment.is_gone()) {
            // First it is closed, so that it is among those that may have to go.
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

    /// Takes in many lines at once, in files of their own.
    pub fn take_in(&self, lines: &[String]) -> io::Result<()> {
        self.prepare()?;
        for some in lines.chunks(BATCH_EVENTS) {
            self.make_room()?;
            Segment::create(&self.folder)?.add(&some.concat(), some.len())?;
        }
        Ok(())
    }

    /// Closes the file that this server writes, so that it can be sent. False if there is nothing in it.
    pub fn close(&self) -> bool {
        self.current().take_if(|segment| segment.events > 0).is_some()
    }

    /// Events that can be sent now, the oldest first. Files that servers still write to are left alone.
    pub fn batch(&self) -> io::Result<Batch> {
        let own = self.current().as_ref().map(|segment| self.folder.join(&segment.name));
        let counted = Dropped::read(&self.folder).last;
        let mut batch = Batch { events: Vec::new(), files: Vec::new() };
        let mut bytes = 0;
        for path in segment::list(&self.folder)?.iter().filter(|path| Some(*path) != own.as_ref()) {
            let Some(mut file) = Finished::take(path) else { continue };
            let events = file.events()?;
            if events.is_empty() || file.name() == Some(&counted) {
                file.remove()?;
                continue;
            }
            bytes += events.iter().map(String::len).sum::<usize>();
            let fits = batch.events.len() + events.len() <= BATCH_EVENTS && bytes <= BATCH_BYTES;
            if !batch.files.is_empty() && !fits {
                break;
            }
            let count = events.len();
            batch.events.extend(events);
            batch.files.push((file, count));
            if batch.files.len() == BATCH_FILES {
                break;
            }
        }
        Ok(batch)
    }

    /// Forgets the events of a batch, because an endpoint has them, except those at these places, which it never takes.
    /// They are counted.
    pub fn forget(&self, batch: Batch, refused: &[usize]) -> io::Result<()> {
        let _alone = if refused.is_empty() { None } else { Some(private::lock(&self.dropping_lock())?) };
        let mut first = 0;
        for (file, events) in batch.files {
            let places = first..first + events;
            first = places.end;
            let dropped = refused.iter().filter(|place| places.contains(place)).count();
            if dropped > 0 {
                self.count_dropped(&file, dropped)?;
            }
            file.remove()?;
        }
        Ok(())
    }

    /// The name of the folder, which no other endpoint has.
    pub fn name(&self) -> &str {
        self.folder.file_name().and_then(OsStr::to_str).unwrap_or_default()
    }

    /// Held by the one server that sends. Nothing while another has it, or while the folder cannot be made: that is told by
    /// whoever writes.
    pub fn only_sender(&self) -> io::Result<Option<File>> {
        if self.prepare().is_err() { Ok(None) } else { private::try_lock(&self.folder.join("sending.lock")) }
    }

    /// Drops the oldest files until there is room for one more. What is being sent stays, and so do the files that other servers
    /// write now: with those there may be more than the limit.
    fn make_room(&self) -> io::Result<()> {
        let Some(_alone) = private::try_lock(&self.dropping_lock())? else { return Ok(()) };
        let paths = segment::list(&self.folder)?;
        let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let mut total: u64 = paths.iter().map(length).sum();
        let room = self.most_bytes - self.segment_bytes();
        let mut dropped = 0;
        for path in paths {
            if total <= room {
                break;
            }
            let length = length(&path);
            let Some(file) = Finished::take(&path) else { continue };
            dropped += self.drop_file(file)?;
            total -= length;
        }
        if dropped > 0 {
            tracing::warn!(
                "{} dropped, the oldest: more than {} bytes wait for the analytics endpoint; raise \
                 `analytics.buffer_max_bytes` or see why it takes none",
                if dropped == 1 { "1 event was".to_owned() } else { format!("{dropped} events were") },
                self.most_bytes
            );
        }
        Ok(())
    }

    fn drop_file(&self, mut file: Finished) -> io::Result<usize> {
        let events = file.events()?.len();
        let counted = self.count_dropped(&file, events)?;
        file.remove()?;
        Ok(counted)
    }

    /// Counts events of a file that goes next, so that what is gone was counted, and once, also after a crash in between.
    fn count_dropped(&self, file: &Finished, events: usize) -> io::Result<usize> {
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

    /// How many events for this endpoint were dropped on this machine, ever.
    pub fn dropped(&self) -> u64 {
        Dropped::read(&self.folder).events
    }

    fn segment_bytes(&self) -> u64 {
        SEGMENT_BYTES.min(self.most_bytes / SHARES)
    }

    fn current(&self) -> MutexGuard<'_, Option<Segment>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many events wait in a folder, and how many were dropped there. Nothing is made or locked.
pub fn count(folder: &Path) -> (usize, u64) {
    let lines = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")).count()
    };
    let waiting = segment::list(folder).unwrap_or_default().iter().map(lines).sum();
    (waiting, Dropped::read(folder).events)
}

#[cfg(test)]
mod tests;
