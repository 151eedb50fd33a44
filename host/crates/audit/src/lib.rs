//! The audit record: what ran and what was refused, JSON lines in chains that reveal later changes.
//!
//! There are two rings of files. Runs and questions to services have two lines each, one before anything happens and one after
//! it. Calls that reach nothing, above all refusals, have a ring of their own, so that they cannot push runs out; their lines are
//! short, and repetitions are only counted. Each line carries the code of the previous line of its ring and a code of its own,
//! both made with a key that only the user has. [`state`] is a file beside the key that says which lines there must be and
//! what rotation removed, so that lines cut off at either end and deleted files are noticed too.
//!
//! Owns the files of the record, their rotation and their verification. Must not know what an entry means: callers pass
//! JSON objects. Only `scripts` and `integrations` write (the table in `tests/it/tidy.rs`). Without a home folder the record is
//! [`Record::Disabled`] and entries are discarded; while it is [`Record::Broken`], nothing may run.
//!
//! Start reading with [`Audit::begin`] and `Audit::add`, then `verify`, which lists every kind of tampering that is detected, and
//! `model`, which tests all of it under crashes. [`Record`] is what callers hold.

mod chain;
mod disk;
mod head;
mod ring;
mod shorten;
mod state;
mod verify;

pub use verify::{Fault, Found, Removed, Verdict};

use base::digest::hex;
use base::place::LocalReason;
use base::timestamp::since_epoch;
use base::user_files::{self, Key, Untrusted};
use chain::{Line, text_of};
use head::Head;
use ring::Ring;
use serde_json::{Map, Value, json};
use state::{MAX_REPEATS, Repeat, RingState, State};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A JSON object without the fields of the chain.
pub type Entry = Map<String, Value>;

/// Size at which a file is rotated.
const FILE_BYTES: u64 = 4 << 20;

/// Beyond this number, the oldest files are deleted.
const MAX_RUN_FILES: usize = 16;
const MAX_REFUSAL_FILES: usize = 4;

/// Entries are cut to this size. Any call can cause a refusal, so there is less for one.
const MAX_RUN_BYTES: usize = 32 << 10;
const MAX_REFUSAL_BYTES: usize = 2 << 10;

/// Repetitions of a refusal are counted for this long. Then it gets a line again.
const REPEAT_WINDOW: Duration = Duration::from_mins(10);

/// The end of `kind` in the first of two lines.
const BEGIN: &str = "-begin";

/// The destination of audit entries.
pub enum Record {
    Writable(Audit),
    /// The home folder is unknown, so entries are discarded.
    Disabled,
    /// The folder cannot be used.
    Broken(LocalReason),
}

/// Something that began, and has to be ended with [`Record::end`].
#[must_use]
pub struct Began(Option<u64>);

impl Record {
    /// Records what is about to happen. The line is handed to the operating system when this returns.
    pub async fn begin(self: &Arc<Self>, entry: Entry) -> Result<Began, AuditError> {
        self.write(move |audit| audit.begin(entry)).await.map(Began)
    }

    /// Records how it ended.
    pub async fn end(self: &Arc<Self>, began: Began, entry: Entry) -> Result<(), AuditError> {
        let Some(began) = began.0 else { return Ok(()) };
        self.write(move |audit| audit.end(began, entry)).await.map(drop)
    }

    /// Records a call that reached nothing. Repetitions are counted.
    pub async fn count(self: &Arc<Self>, entry: Entry) -> Result<(), AuditError> {
        self.write(move |audit| audit.count(entry, since_epoch())).await.map(drop)
    }

    async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        write: impl FnOnce(&Audit) -> Result<T, AuditError> + Send + 'static,
    ) -> Result<Option<T>, AuditError> {
        let record = Arc::clone(self);
        let written = tokio::task::spawn_blocking(move || match &*record {
            Self::Writable(audit) => write(audit).map(Some),
            Self::Disabled | Self::Broken(_) => Ok(None),
        });
        let aborted = |_| AuditError::Unwritable {
            folder: PathBuf::new(),
            reason: io::Error::other("the server is shutting down"),
        };
        written.await.map_err(aborted)?
    }
}

/// The files of the record, shared by all servers of this user.
pub struct Audit {
    folder: PathBuf,
    key_path: PathBuf,
    key: Key,
    runs: Ring,
    refusals: Ring,
}

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    #[error("the audit record in {folder} cannot be written: {reason}", folder = folder.display())]
    Unwritable { folder: PathBuf, reason: io::Error },
}

/// A line as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub text: String,
    pub stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The beginning of something whose end is recorded too.
    Ended,
    /// The beginning of something that has not ended, or whose server was killed.
    Unfinished,
    /// Everything else.
    Complete,
}

impl Audit {
    /// Opens the record. Creates it if there is neither a key nor a line.
    pub fn open(folder: &Path, key_path: &Path) -> Result<Self, AuditError> {
        user_files::ensure_folder(folder)?;
        let unwritable = |reason| AuditError::Unwritable { folder: folder.to_owned(), reason };
        let _lock = lock(folder).map_err(unwritable)?;
        let ring = |name, max_files| Ring { folder: folder.to_owned(), name, file_bytes: FILE_BYTES, max_files };
        let [runs, refusals] = [ring("audit", MAX_RUN_FILES), ring("refusals", MAX_REFUSAL_FILES)];
        let is_empty = || Ok(!runs.has_lines()? && !refusals.has_lines()?);
        let is_new = !key_path.exists() && is_empty().map_err(unwritable)?;
        let key = if is_new { Key::random().map_err(unwritable)? } else { Key::in_file(key_path)? };
        let audit = Self { folder: folder.to_owned(), key_path: key_path.to_owned(), key, runs, refusals };
        if is_new {
            // The key comes last: once there is one, a missing state means tampering.
            audit.create(&State::default()).map_err(unwritable)?;
            audit.key.store(key_path)?;
        } else {
            audit.take_over().map_err(unwritable)?;
        }
        Ok(audit)
    }

    fn create(&self, state: &State) -> io::Result<()> {
        user_files::create_parent(&self.key_path)?;
        Head::of(&state.runs).write(&self.head_path(), &self.key)?;
        state.create(&self.state_path(), &self.key)
    }

    /// Creates the state of a record of an earlier version, which had a genuine head and no line of this version.
    fn take_over(&self) -> io::Result<()> {
        if disk::existing(std::fs::symlink_metadata(self.state_path()))?.is_some() || self.refusals.has_lines()? {
            return Ok(());
        }
        let Some(head) = Head::read(&self.head_path(), &self.key)? else { return Ok(()) };
        let (lines, _) = self.runs.lines(0)?;
        if lines.iter().any(|text| Line::read(text).is_some_and(|line| line.number_in("turn").is_some())) {
            return Ok(());
        }
        let Head { first, before_first, last, code, length } = head;
        let first = first.max(1);
        let numbers = self.runs.rotated_numbers()?.into_iter();
        let files = numbers.filter(|number| (first..last).contains(number)).collect();
        let runs = RingState { first, before_first, last, code, length, files, ..RingState::default() };
        State { runs, ..State::default() }.create(&self.state_path(), &self.key)
    }

    /// Appends the line of something that is about to happen, and returns its number.
    pub fn begin(&self, mut entry: Entry) -> Result<u64, AuditError> {
        let kind = entry.get("kind").and_then(Value::as_str).unwrap_or_default();
        entry.insert("kind".to_owned(), json!(format!("{kind}{BEGIN}")));
        self.add(entry).map_err(|reason| self.unwritable(reason))
    }

    /// Appends the line of how it ended.
    pub fn end(&self, began: u64, mut entry: Entry) -> Result<u64, AuditError> {
        entry.insert("began".to_owned(), json!(began));
        self.add(entry).map_err(|reason| self.unwritable(reason))
    }

    /// Records a call that reached nothing: a line, or one more repetition of a line.
    pub fn count(&self, entry: Entry, now: Duration) -> Result<(), AuditError> {
        self.try_count(entry, now.as_secs()).map_err(|reason| self.unwritable(reason))
    }

    fn unwritable(&self, reason: io::Error) -> AuditError {
        AuditError::Unwritable { folder: self.folder.clone(), reason }
    }

    /// Appends a line to the runs. Other servers wait meanwhile.
    fn add(&self, mut entry: Entry) -> io::Result<u64> {
        let _lock = lock(&self.folder)?;
        let mut state = self.current_state()?;
        let forgets = self.runs.rotate(&self.key, &mut state.runs)?;
        shorten::shorten(&mut entry, MAX_RUN_BYTES);
        entry.insert("turn".to_owned(), json!(state.turn + 1));
        self.runs.append(&self.key, &mut state.runs, vec![entry])?;
        Head::of(&state.runs).write(&self.head_path(), &self.key)?;
        state.write(&self.state_path(), &self.key)?;
        if forgets {
            self.runs.remove_forgotten(&state.runs);
        }
        Ok(state.runs.last)
    }

    fn try_count(&self, mut entry: Entry, now: u64) -> io::Result<()> {
        shorten::shorten(&mut entry, MAX_REFUSAL_BYTES);
        let time = entry.remove("time").unwrap_or_default();
        let mark = hex(&self.key.sign(&[b"repeat", text_of(&entry).as_bytes()])[..8]);
        entry.insert("time".to_owned(), time.clone());
        let _lock = lock(&self.folder)?;
        let mut state = self.current_state()?;
        let forgets = self.refusals.rotate(&self.key, &mut state.refusals)?;
        let first = state.refusals.first;
        let is_counted =
            |repeat: &Repeat| repeat.number >= first && now.abs_diff(repeat.since) < REPEAT_WINDOW.as_secs();
        let known = state.repeats.iter().position(|repeat| repeat.mark == mark);
        match known.map(|position| state.repeats.remove(position)) {
            Some(mut repeat) if is_counted(&repeat) => {
                repeat.count += 1;
                time.as_str().unwrap_or_default().clone_into(&mut repeat.until);
                state.repeats.push(repeat);
            }
            known => {
                // Counts that are no longer continued become lines.
                let mut done: Vec<Repeat> = known.into_iter().collect();
                done.extend(state.repeats.extract_if(.., |repeat| repeat.number < first));
                if state.repeats.len() == MAX_REPEATS {
                    done.push(state.repeats.remove(0));
                }
                let done = done.iter().filter(|repeat| repeat.count > 0).map(repeated);
                let mut entries: Vec<Entry> = done.chain([entry]).collect();
                for entry in &mut entries {
                    entry.insert("turn".to_owned(), json!(state.turn + 1));
                    entry.insert("after".to_owned(), json!(state.runs.last));
                }
                self.refusals.append(&self.key, &mut state.refusals, entries)?;
                let number = state.refusals.last;
                state.repeats.push(Repeat { mark, number, count: 0, since: now, until: String::new() });
            }
        }
        state.write(&self.state_path(), &self.key)?;
        if forgets {
            self.refusals.remove_forgotten(&state.refusals);
        }
        Ok(())
    }

    /// Reads the state and brings it up to date with the files.
    fn current_state(&self) -> io::Result<State> {
        let mut state = State::read(&self.state_path(), &self.key)?.ok_or_else(|| self.tampered())?;
        let is_used = state.runs.last + state.refusals.last > 0;
        if is_used && !self.head_path().exists() && !self.runs.has_lines()? && !self.refusals.has_lines()? {
            // The folder was removed, or this is not the one that the state belongs to.
            return Err(self.tampered());
        }
        let (mut newest_turn, mut counted) = (0, HashSet::new());
        let mut adopt = |line: &Line| {
            newest_turn = newest_turn.max(line.number_in("turn").unwrap_or(0));
            counted.extend(line.number_in("of"));
        };
        let is_newest = self.runs.catch_up(&self.key, &mut state.runs, &mut adopt)?
            && self.refusals.catch_up(&self.key, &mut state.refusals, &mut adopt)?;
        // A crash leaves lines of one turn.
        if !is_newest || newest_turn > state.turn + 1 {
            return Err(self.tampered());
        }
        state.repeats.retain(|repeat| !counted.contains(&repeat.number));
        Ok(state)
    }

    /// Nothing is added to a record whose state is unknown: the next line would hide what was done to it.
    fn tampered(&self) -> io::Error {
        io::Error::other(format!(
            "the record or its state in {} was changed or removed; check it with `skillcell audit verify`, then move {} and {} away together",
            self.state_path().display(),
            self.folder.display(),
            self.key_path.display()
        ))
    }

    /// Returns every line, oldest first. Repetitions that are still being counted follow the line they repeat.
    pub fn lines(&self) -> io::Result<Vec<Shown>> {
        let _lock = lock(&self.folder)?;
        let state = State::read(&self.state_path(), &self.key)?.unwrap_or_default();
        let (runs, _) = self.runs.lines(state.runs.first)?;
        let (refusals, _) = self.refusals.lines(state.refusals.first)?;
        Ok(merged(runs, refusals, &state))
    }

    /// Checks both chains.
    pub fn verify(&self) -> io::Result<Verdict> {
        let _lock = lock(&self.folder)?;
        let state = State::read(&self.state_path(), &self.key)?;
        let first = |ring: fn(&State) -> u64| state.as_ref().map_or(1, ring);
        let runs = self.runs.lines(first(|state| state.runs.first))?;
        let refusals = self.refusals.lines(first(|state| state.refusals.first))?;
        Ok(verify::verify(&self.key, runs, refusals, state.as_ref()))
    }

    /// Where the state is: beside the key.
    fn state_path(&self) -> PathBuf {
        self.key_path.with_extension("state")
    }

    fn head_path(&self) -> PathBuf {
        self.folder.join("head.json")
    }
}

/// The entry of the repetitions of a refusal.
fn repeated(repeat: &Repeat) -> Entry {
    let entry = json!({"kind": "repeats", "of": repeat.number, "count": repeat.count, "time": repeat.until});
    if let Value::Object(entry) = entry { entry } else { Entry::new() }
}

/// Puts each refusal after the runs that it came after.
fn merged(runs: Vec<String>, refusals: Vec<String>, state: &State) -> Vec<Shown> {
    let stages = stages(&runs);
    let mut all = Vec::with_capacity(runs.len() + refusals.len());
    let mut position = 0;
    for (text, stage) in runs.into_iter().zip(stages) {
        position = Line::read(&text).map_or(position, |line| line.number.max(position));
        all.push(((position, 0), Shown { text, stage }));
    }
    let refusals: Vec<(Option<Line>, String)> = refusals.into_iter().map(|text| (Line::read(&text), text)).collect();
    // Before a crash, a count may have become a line.
    let counted: HashSet<u64> = refusals.iter().filter_map(|(line, _)| line.as_ref()?.number_in("of")).collect();
    let counts = state.repeats.iter().filter(|repeat| repeat.count > 0 && !counted.contains(&repeat.number));
    let counts: HashMap<u64, &Repeat> = counts.map(|repeat| (repeat.number, repeat)).collect();
    let complete = |text: String| Shown { text, stage: Stage::Complete };
    position = 0;
    for (line, text) in refusals {
        position = line.as_ref().and_then(|line| line.number_in("after")).map_or(position, |after| after.max(position));
        all.push(((position, 1), complete(text)));
        let repeat = line.and_then(|line| counts.get(&line.number));
        all.extend(repeat.map(|repeat| ((position, 1), complete(text_of(&repeated(repeat))))));
    }
    all.sort_by_key(|(position, _)| *position);
    all.into_iter().map(|(_, shown)| shown).collect()
}

fn stages(runs: &[String]) -> Vec<Stage> {
    let lines: Vec<Option<Line>> = runs.iter().map(|text| Line::read(text)).collect();
    let ended: HashSet<u64> = lines.iter().flatten().filter_map(|line| line.number_in("began")).collect();
    let stage = |line: &Option<Line>| match line {
        Some(line) if !line.text_in("kind").ends_with(BEGIN) => Stage::Complete,
        Some(line) if ended.contains(&line.number) => Stage::Ended,
        Some(_) => Stage::Unfinished,
        None => Stage::Complete,
    };
    lines.iter().map(stage).collect()
}

/// Excludes other threads and servers while the record is read or written.
fn lock(folder: &Path) -> io::Result<File> {
    user_files::lock(&folder.join("lock"))
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
