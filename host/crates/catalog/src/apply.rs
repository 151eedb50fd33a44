//! Making a generation of what a scan found.

use crate::Inner;
use crate::cache::Rearranged;
use crate::left_right::{Loaded, Published, ScanTimes};
use bindings::catalog::Change;
use guests::call::Broken;
use guests::engine::EngineInstance;
use library::scan::Scan;
use library::snapshot::Snapshot;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use terminal::progress::{Completed, Progress};
use tokio::sync::oneshot;

/// How often files are looked for that moved away before they were read.
const MAX_SEARCHES: usize = 20;

/// Of more changes than this, all are taken for changes of skills: asking about each would delay the generation.
const MAX_COUNTED: usize = 500;

/// What a scan found that is not served yet.
pub struct Difference {
    /// What was served when the scan began.
    pub before: Published,
    pub scan: Scan,
    pub scanned: ScanTimes,
}

impl Inner {
    /// Loads changes into one slot, publishes them as the next generation, signals `served`, and loads them into the other.
    pub fn apply(&self, difference: Difference, served: oneshot::Sender<()>) {
        let _turn = self.changing_slots.blocking_lock();
        let started = Instant::now();
        let Difference { before, scan: Scan { snapshot, changes, .. }, scanned } = difference;
        let listed = Arc::default();
        let mut reading = (before.generation == 0).then(|| reading(&listed));
        let (mut snapshot, mut changes) = (Arc::new(snapshot), changes);
        let _ = listed.set(Arc::clone(&snapshot));
        let generation = before.generation + 1;
        tracing::debug!("applying generation {generation}");
        let mut served = Some(served);
        for number in self.slots.order() {
            let loaded = self.slots.take(number).filter(|loaded| loaded.generation == before.generation);
            let (built, scorer) = match loaded {
                Some(loaded) => (self.builder.update(loaded.engine, &snapshot, &changes), loaded.scorer),
                None => (self.builder.build(&snapshot), None),
            };
            let is_first = served.is_some();
            let mut rearranged = Some(Vec::new());
            let built = match built {
                Ok(engine) if is_first => self.complete(engine, &mut snapshot, &mut changes, &mut rearranged),
                built => built.map_err(|broken| broken.to_string()),
            };
            // Before the slot serves, so that both slots always rank alike.
            let follow = |engine| self.follow(number, engine, scorer, &snapshot).map_err(|broken| broken.to_string());
            let (mut engine, scorer) = match built.and_then(follow) {
                Ok(followed) => followed,
                Err(reason) => return self.fail(&reason),
            };
            let skill_files = if is_first { skill_files(&mut engine, &changes) } else { 0 };
            if is_first {
                drop(reading.take());
                self.cache.keep_rearranged(generation, rearranged);
                self.builder.report(&mut engine, generation);
                let snapshot = Arc::clone(&snapshot);
                self.slots.publish(Published { generation, snapshot, scanned, failure: None });
            }
            self.slots.put(number, Loaded::new(engine, scorer, generation));
            tracing::debug!("generation {generation} is in slot {number}");
            if let Some(served) = served.take() {
                let time = started.elapsed().as_micros();
                tracing::debug!("generation {generation} is served after {time} microseconds");
                self.announce(generation, &changes, skill_files);
                let _ = served.send(());
            }
        }
    }

    /// Looks for files that moved between being listed and being read, so that no generation is without them. A frozen catalog
    /// also reads the files of its skills, until nothing moved meanwhile.
    fn complete(
        &self,
        mut engine: EngineInstance,
        snapshot: &mut Arc<Snapshot>,
        changes: &mut Vec<Change>,
        rearranged: &mut Rearranged,
    ) -> Result<EngineInstance, String> {
        let broken = |broken: Broken| broken.to_string();
        let mut note = |engine: &mut EngineInstance| -> Result<(), String> {
            let more = engine.rearranged().map_err(broken)?;
            *rearranged = rearranged.take().zip(more).map(|(files, more)| [files, more].concat());
            Ok(())
        };
        note(&mut engine)?;
        for search in 0.. {
            let mut frozen = None;
            if self.frozen {
                let folders = engine.resource_folders().map_err(broken)?;
                frozen = Some(snapshot.freeze(&folders).map_err(|not_frozen| not_frozen.to_string())?);
            }
            let is_suspect = search < MAX_SEARCHES && (self.frozen || snapshot.has_missing_files());
            let again = is_suspect.then(|| self.scan(snapshot).ok()).flatten().flatten();
            let Some(again) = again.filter(|again| !again.changes.is_empty()) else {
                if let Some(frozen) = frozen {
                    *snapshot = Arc::new(frozen);
                    engine = self.builder.update(engine, snapshot, &[]).map_err(broken)?;
                }
                break;
            };
            *snapshot = Arc::new(again.snapshot);
            engine = self.builder.update(engine, snapshot, &again.changes).map_err(broken)?;
            note(&mut engine)?;
            changes.extend(again.changes);
        }
        Ok(engine)
    }

    fn announce(&self, generation: u64, changes: &[Change], skill_files: u64) {
        self.news.send_modify(|news| {
            news.generation = generation;
            news.changes += changes.len() as u64;
            news.skill_files += skill_files;
        });
    }

    /// Builds engines for slots that have none.
    pub fn fill_empty_slots(&self) {
        let published = self.slots.published();
        for number in self.slots.which(|loaded| loaded.is_none()) {
            let Published { generation, snapshot, .. } = &published;
            let built = self.builder.build(snapshot);
            match built.and_then(|engine| self.follow(number, engine, None, snapshot)) {
                Ok((engine, scorer)) => self.slots.put(number, Loaded::new(engine, scorer, *generation)),
                Err(broken) => self.fail(&broken.to_string()),
            }
        }
    }

    /// Gives engines that could not be built another try, unless slots are being changed.
    pub fn fill_empty_slots_if_possible(&self) {
        if let Ok(_turn) = self.changing_slots.try_lock() {
            self.fill_empty_slots();
        }
    }

    /// Notes that nothing new can be served. Requests are answered from the slot that is left, or fail with this reason.
    pub fn fail(&self, reason: &str) {
        tracing::error!("{reason}; the catalog stays as it was");
        self.slots.publish(Published { failure: Some(reason.into()), ..self.slots.published() });
        self.slots.wake();
    }
}

/// Shows how many of the listed files the first engine has read.
fn reading(listed: &Arc<OnceLock<Arc<Snapshot>>>) -> Progress {
    let listed = Arc::clone(listed);
    Progress::start("reading skills", move || {
        let (done, total) = listed.get().map(|snapshot| snapshot.files_read()).unwrap_or_default();
        Completed { done, total, text: format!("{done}/{total} files") }
    })
}

/// How many changes are in the document of a folder skill, or in a folder with one. A folder that went away may have had one.
fn skill_files(engine: &mut EngineInstance, changes: &[Change]) -> u64 {
    if changes.len() > MAX_COUNTED {
        return changes.len() as u64;
    }
    let mut is_skill = |path: &str| engine.is_skill_document(path).unwrap_or(true);
    let mut concerns_skill = |change: &&Change| match change {
        Change::File(file) => is_skill(&file.path),
        Change::Folder(listing) => listing.files.iter().any(|file| is_skill(file)),
        Change::FolderRemoved(_) => true,
    };
    changes.iter().filter(|change| concerns_skill(change)).count() as u64
}
