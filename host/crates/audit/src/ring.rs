//! The files of one ring: the current one and those that were rotated, each named by the number of its last line.

use crate::Entry;
use crate::chain::Line;
use crate::disk;
use crate::state::RingState;
use base::user_files::Key;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Entries are written by this program and bounded.
const MAX_LINE_BYTES: u64 = 256 << 10;

pub struct Ring {
    pub folder: PathBuf,
    pub name: &'static str,
    /// Size at which the current file is rotated.
    pub file_bytes: u64,
    /// Beyond this number, the oldest files are deleted.
    pub max_files: usize,
}

impl Ring {
    pub fn current(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.name))
    }

    pub fn rotated(&self, last: u64) -> PathBuf {
        self.folder.join(format!("{}-{last:012}.jsonl", self.name))
    }

    /// The numbers in the names of the rotated files, in order.
    pub fn rotated_numbers(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(self.name)?.strip_prefix('-'));
            numbers.extend(number.and_then(|number| number.strip_suffix(".jsonl")?.parse::<u64>().ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub fn has_lines(&self) -> io::Result<bool> {
        Ok(!self.rotated_numbers()?.is_empty() || self.length()? > 0)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(disk::existing(std::fs::metadata(self.current()))?.map_or(0, |metadata| metadata.len()))
    }

    /// Brings the state up to date with lines that were written right before a crash, or by a server of an earlier version,
    /// and removes a half-written line. Calls `adopt` with each line that the state did not know.
    ///
    /// Returns false, and changes nothing, if there are newer genuine lines that do not follow: then the state is too old.
    pub fn catch_up(&self, key: &Key, state: &mut RingState, mut adopt: impl FnMut(&Line)) -> io::Result<bool> {
        let length = self.length()?;
        if length == state.length && length < self.file_bytes {
            return Ok(true);
        }
        for number in self.rotated_numbers()? {
            // The current file became a rotated one, and the state was not written. Other files do not end with their number.
            if number >= state.last && !state.files.contains(&number) {
                let (mut ahead, mut lines) = (state.clone(), Vec::new());
                if !follow(&self.rotated(number), key, &mut ahead, |line| lines.push(line.clone()))? {
                    return Ok(false);
                }
                if ahead.last == number {
                    *state = ahead;
                    state.files.push(number);
                    state.length = 0;
                    lines.iter().for_each(&mut adopt);
                }
            }
        }
        if length > state.length && !follow(&self.current(), key, state, adopt)? {
            return Ok(false);
        }
        if length > state.length && ends_a_line(&self.current(), state.length)? {
            disk::truncate(&self.current(), state.length)?;
        } else if length != state.length {
            // Lines were cut off. What is left of the file is kept as it is, so that rotation finds the damage.
            disk::existing(disk::rename(&self.current(), &self.rotated(state.last)))?;
            state.files.push(state.last);
            state.length = 0;
        }
        Ok(true)
    }

    /// Begins a new file if the current one is full, and takes the oldest ones out of the state if there are too many.
    /// Returns whether there were; [`Ring::remove_forgotten`] deletes them once the state is written.
    pub fn rotate(&self, key: &Key, state: &mut RingState) -> io::Result<bool> {
        if state.length >= self.file_bytes {
            disk::rename(&self.current(), &self.rotated(state.last))?;
            state.files.push(state.last);
            state.length = 0;
        }
        let is_full = state.files.len() >= self.max_files;
        while state.files.len() >= self.max_files {
            self.forget_oldest(key, state)?;
        }
        Ok(is_full)
    }

    /// Moves the beginning of the record behind the oldest file. Unless that file has exactly the lines it should have, they
    /// are noted as lost: its removal must not hide what was done to it.
    fn forget_oldest(&self, key: &Key, state: &mut RingState) -> io::Result<()> {
        let number = state.files.remove(0);
        let before = (state.first > 1).then_some(state.before_first.as_str()).filter(|before| !before.is_empty());
        let text = disk::existing(read_lossy(&self.rotated(number)))?.unwrap_or_default();
        let last = intact_last(&text, key, state.first, before);
        if let Some(last) = last.filter(|last| last.number == number) {
            state.removed_until = last.text_in("time").to_owned();
            state.before_first = last.code;
        } else {
            state.lose(state.first, number);
            state.before_first.clear();
        }
        state.first = number + 1;
        Ok(())
    }

    /// Deletes files that are no longer part of the record. A failure does no harm: the next rotation tries again.
    pub fn remove_forgotten(&self, state: &RingState) {
        let numbers = self.rotated_numbers().unwrap_or_default();
        for number in numbers.into_iter().take_while(|number| *number < state.first) {
            drop(disk::remove(&self.rotated(number)));
        }
    }

    pub fn append(&self, key: &Key, state: &mut RingState, entries: Vec<Entry>) -> io::Result<()> {
        let mut text = String::new();
        for entry in entries {
            let line = Line::new(key, state.last + 1, &state.code, entry);
            text.push_str(&line.text);
            text.push('\n');
            (state.last, state.code) = (line.number, line.code);
        }
        disk::append(&self.current(), text.as_bytes())?;
        state.length += text.len() as u64;
        Ok(())
    }

    /// Returns every line from `first` on, oldest first, and whether a half-written one follows.
    pub fn lines(&self, first: u64) -> io::Result<(Vec<String>, bool)> {
        let numbers = self.rotated_numbers()?.into_iter().filter(|number| *number >= first);
        let files: Vec<PathBuf> = numbers.map(|number| self.rotated(number)).chain([self.current()]).collect();
        let (mut lines, mut is_torn) = (Vec::new(), false);
        for path in files {
            if let Some(text) = disk::existing(read_lossy(&path))? {
                lines.extend(text.split_terminator('\n').map(str::to_owned));
                is_torn = !text.is_empty() && !text.ends_with('\n');
            }
        }
        Ok((lines, is_torn))
    }
}

/// A file that was tampered with need not be text.
fn read_lossy(path: &Path) -> io::Result<String> {
    let bytes = std::fs::read(path)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Adds the lines of a file to the state, from its length on, as long as they follow. Returns whether no newer line is left.
fn follow(path: &Path, key: &Key, state: &mut RingState, mut adopt: impl FnMut(&Line)) -> io::Result<bool> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(state.length))?;
    let mut reader = BufReader::new(file);
    let mut is_following = true;
    loop {
        let mut text = Vec::new();
        if reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut text)? == 0 {
            return Ok(true);
        }
        let line = text.strip_suffix(b"\n").and_then(|text| Line::read(str::from_utf8(text).ok()?));
        let Some(line) = line.filter(|line| line.number > state.last && line.is_genuine(key)) else {
            is_following = false;
            continue;
        };
        if !is_following || line.number != state.last + 1 || line.before != state.code {
            return Ok(false);
        }
        state.length += text.len() as u64;
        adopt(&line);
        (state.last, state.code) = (line.number, line.code);
    }
}

/// Whether the part of a file up to this length ends with a line break.
fn ends_a_line(path: &Path, length: u64) -> io::Result<bool> {
    let Some(last) = length.checked_sub(1) else { return Ok(true) };
    let mut byte = [0];
    File::open(path)?.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

/// Returns the last line if all lines are genuine, follow each other and begin with this one.
fn intact_last(text: &str, key: &Key, first: u64, before: Option<&str>) -> Option<Line> {
    let mut last: Option<Line> = None;
    for text in text.split_terminator('\n') {
        let line = Line::read(text)?;
        let is_next = match (&last, before) {
            (Some(last), _) => line.follows(key, last.number, &last.code),
            (None, Some(before)) => line.follows(key, first - 1, before),
            (None, None) => line.number == first && line.is_genuine(key),
        };
        last = Some(line).filter(|_| is_next);
        last.as_ref()?;
    }
    last
}
