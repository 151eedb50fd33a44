//! From what is on disk to a new generation.

use super::Shared;
use super::looking::Look;
use super::pair::{Published, Seated, Sightings};
use crate::bindings::catalog::Change;
use crate::bindings::types::Location;
use crate::library::held::NotHeld;
use crate::library::scan::Scan;
use crate::library::snapshot::Snapshot;
use crate::runtime::call::Broken;
use crate::terminal::progress::{Progress, Reached};
use crate::worlds::engine::EngineInstance;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::sync::oneshot;

/// How often files are looked for that went away before they were read.
const MOST_SEARCHES: usize = 20;

/// What a look found that is not served yet.
pub struct Difference {
    /// What was served when the look began.
    pub before: Published,
    pub scan: Scan,
    /// When all of it was found on disk.
    pub seen: Sightings,
}

impl Shared {
    /// Makes what changed a new generation: first on one engine, then on the other. Looks at the disk, unless what a look
    /// found is still about the generation that is served. Says `done` when everything is served.
    pub(super) fn bring_in(&self, found: Option<Difference>, look: Look, done: oneshot::Sender<()>) {
        let started = Instant::now();
        self.building.store(true, Ordering::Release);
        let served = self.pair.published();
        let stays = self.frozen.load(Ordering::Acquire) && served.generation > 0;
        let listed = Arc::default();
        let mut reading = (served.generation == 0).then(|| reading(&listed));
        let found = found.filter(|found| Arc::ptr_eq(&found.before.snapshot, &served.snapshot));
        let found = if stays { None } else { found.or_else(|| self.look(look)) };
        let Some(Difference { before, scan: Scan { snapshot, changes, .. }, seen }) = found else {
            self.building.store(false, Ordering::Release);
            let _ = done.send(());
            return self.fill_empty_seats();
        };
        let frozen = self.frozen.load(Ordering::Acquire);
        let snapshot = if frozen { self.hold(snapshot) } else { Ok(snapshot) };
        let (mut snapshot, mut changes) = match snapshot {
            Ok(snapshot) => (Arc::new(snapshot), changes),
            Err(not_held) => return self.fail(&not_held.to_string()),
        };
        // Nobody else sets it.
        let _ = listed.set(Arc::clone(&snapshot));
        let generation = before.generation + 1;
        tracing::debug!("bringing in generation {generation}");
        let mut done = Some(done);
        for number in self.pair.order() {
            let taken = Instant::now();
            let seated = self.pair.take(number).filter(|seated| seated.generation == before.generation);
            let (built, scorer) = match seated {
                Some(seated) => (self.builder.update(seated.engine, &snapshot, &changes), seated.scorer),
                None => (self.builder.build(&snapshot), None),
            };
            let first = done.is_some();
            let built = if first && !frozen {
                built.and_then(|engine| self.find_lost_files(engine, &mut snapshot, &mut changes))
            } else {
                built
            };
            // Before anybody is answered from it, so that the same question always has the same answer.
            let followed = built.and_then(|engine| self.follow(number, engine, scorer, &snapshot));
            let (mut engine, scorer) = match followed {
                Ok(followed) => followed,
                Err(broken) => return self.fail(&broken.to_string()),
            };
            tracing::debug!("brought generation {generation} into engine {number} in {:?}", taken.elapsed());
            if first {
                drop(reading.take());
                self.remembered.keep_edits(generation, edits(&changes));
                self.builder.report(&mut engine, generation);
                let snapshot = Arc::clone(&snapshot);
                self.pair.publish(Published { generation, snapshot, seen, failure: None });
                self.building.store(false, Ordering::Release);
            }
            self.pair.seat(number, Seated { engine, scorer, generation });
            if let Some(done) = done.take() {
                let time = started.elapsed().as_micros();
                tracing::debug!("generation {generation} is served after {time} microseconds");
                self.tell(generation, &changes);
                let _ = done.send(());
            }
        }
    }

    /// Has everything in memory that was listed. What moved meanwhile is looked for where it is now.
    fn hold(&self, mut snapshot: Snapshot) -> Result<Snapshot, NotHeld> {
        let terms = &self.builder.terms;
        let mut searches = 0..MOST_SEARCHES;
        loop {
            snapshot.hold(&terms.roots, terms.file_limit)?;
            let again = searches.next().and_then(|_| self.scan(&snapshot).ok().flatten());
            match again.filter(|again| !again.changes.is_empty()) {
                Some(again) => snapshot = again.snapshot,
                None => return Ok(snapshot),
            }
        }
    }

    /// What moved between being listed and being read is looked for where it is now, so that no generation is without it.
    fn find_lost_files(
        &self,
        mut engine: EngineInstance,
        snapshot: &mut Arc<Snapshot>,
        changes: &mut Vec<Change>,
    ) -> Result<EngineInstance, Broken> {
        for _ in 0..MOST_SEARCHES {
            let again = snapshot.has_lost_files().then(|| self.scan(snapshot).ok()).flatten();
            let Some(again) = again.flatten().filter(|again| !again.changes.is_empty()) else { break };
            *snapshot = Arc::new(again.snapshot);
            engine = self.builder.update(engine, snapshot, &again.changes)?;
            changes.extend(again.changes);
        }
        Ok(engine)
    }

    fn tell(&self, generation: u64, changes: &[Change]) {
        // A folder that comes, goes or has other entries may have gained or lost one.
        let may_be_skill_file = |change: &&Change| match change {
            Change::File(file) => file.path.rsplit('/').next() == Some("SKILL.md"),
            Change::Folder(listing) => listing.files.iter().any(|file| file == "SKILL.md"),
            Change::FolderGone(_) => true,
        };
        let skill_files = changes.iter().filter(may_be_skill_file).count() as u64;
        self.news.send_modify(|news| {
            news.generation = generation;
            news.changes += changes.len() as u64;
            news.skill_files += skill_files;
        });
    }

    pub(super) fn fill_empty_seats(&self) {
        let published = self.pair.published();
        for number in self.pair.empty_seats() {
            let Published { generation, snapshot, .. } = &published;
            let built = self.builder.build(snapshot);
            match built.and_then(|engine| self.follow(number, engine, None, snapshot)) {
                Ok((engine, scorer)) => self.pair.seat(number, Seated { engine, scorer, generation: *generation }),
                Err(broken) => self.fail(&broken.to_string()),
            }
        }
    }

    /// Nothing new can be served. Requests are answered by the engine that is left, or told why there is none.
    pub(super) fn fail(&self, reason: &str) {
        tracing::error!("{reason}; the catalog stays as it was");
        self.building.store(false, Ordering::Release);
        self.pair.publish(Published { failure: Some(reason.into()), ..self.pair.published() });
        self.pair.wake();
    }
}

/// Shows how many of the files that were listed the first engine has read.
fn reading(listed: &Arc<OnceLock<Arc<Snapshot>>>) -> Progress {
    let listed = Arc::clone(listed);
    Progress::begin("reading skills", move || {
        let (done, all) = listed.get().map(|snapshot| snapshot.files_read()).unwrap_or_default();
        Reached { done, all, told: format!("{done}/{all} files") }
    })
}

/// The files that have another text, if nothing else changed.
fn edits(changes: &[Change]) -> Option<Vec<Location>> {
    let edited = |change: &Change| match change {
        Change::File(file) => Some(file.clone()),
        Change::Folder(_) | Change::FolderGone(_) => None,
    };
    changes.iter().map(edited).collect()
}
