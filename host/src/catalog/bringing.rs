//! From what is on disk to a new generation.

use super::Shared;
use super::pair::{Published, Seated};
use crate::bindings::catalog::Change;
use crate::bindings::types::Location;
use crate::library::scan::{self, Scan};
use crate::library::snapshot::Snapshot;
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::sync::oneshot;

/// How often files are looked for that went away before they were read.
const MOST_SEARCHES: usize = 20;

impl Shared {
    /// What changed on disk since the published generation. The same bytes with other times are no change; they are only
    /// noted, so that the next look need not read them.
    pub(super) fn look(&self) -> Option<(Published, Scan)> {
        let before = self.pair.published();
        let started = Instant::now();
        let terms = &self.builder.terms;
        let scan = scan::scan(&terms.roots, &before.snapshot, terms.file_limit)?;
        tracing::debug!("looked at the disk in {:?}: {} changes", started.elapsed(), scan.changes.len());
        if scan.changes.is_empty() && before.generation > 0 {
            self.pair.renew_snapshot(&before.snapshot, scan.snapshot);
            return None;
        }
        Some((before, scan))
    }

    /// Makes what changed a new generation: first on one engine, then on the other. Looks at the disk, unless what a look
    /// found is still about the generation that is served.
    pub(super) fn bring_in(&self, found: Option<(Published, Scan)>, done: oneshot::Sender<()>) {
        let began = Instant::now();
        self.building.store(true, Ordering::Release);
        let served = self.pair.published();
        if self.frozen.load(Ordering::Acquire) && served.generation > 0 {
            self.building.store(false, Ordering::Release);
            return self.fill_empty_seats();
        }
        let found = found.filter(|(before, _)| Arc::ptr_eq(&before.snapshot, &served.snapshot));
        let Some((before, Scan { snapshot, changes })) = found.or_else(|| self.look()) else {
            self.building.store(false, Ordering::Release);
            return self.fill_empty_seats();
        };
        let (mut snapshot, mut changes) = (Arc::new(snapshot), changes);
        let generation = before.generation + 1;
        tracing::debug!("bringing in generation {generation}");
        let mut done = Some(done);
        for number in self.pair.order() {
            let started = Instant::now();
            let seated = self.pair.take(number).filter(|seated| seated.generation == before.generation);
            let (built, scorer) = match seated {
                Some(seated) => (self.builder.update(seated.engine, &snapshot, &changes), seated.scorer),
                None => (self.builder.build(&snapshot), None),
            };
            let first = done.is_some();
            let built = if first {
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
            tracing::debug!("brought generation {generation} into engine {number} in {:?}", started.elapsed());
            if first {
                self.remembered.keep_edits(generation, edits(&changes));
                self.builder.report(&mut engine, generation);
                self.pair.publish(Published { generation, snapshot: Arc::clone(&snapshot), failure: None });
                self.building.store(false, Ordering::Release);
            }
            self.pair.seat(number, Seated { engine, scorer, generation });
            if first {
                tracing::debug!("generation {generation} is served after {} microseconds", began.elapsed().as_micros());
                self.tell(generation, &changes);
            }
            drop(done.take());
        }
    }

    /// What moved between being listed and being read is looked for where it is now, so that no generation is without it.
    fn find_lost_files(
        &self,
        mut engine: EngineInstance,
        snapshot: &mut Arc<Snapshot>,
        changes: &mut Vec<Change>,
    ) -> Result<EngineInstance, Broken> {
        let terms = &self.builder.terms;
        for _ in 0..MOST_SEARCHES {
            let again = snapshot.has_lost_files().then(|| scan::scan(&terms.roots, snapshot, terms.file_limit));
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

/// The files that have another text, if nothing else changed.
fn edits(changes: &[Change]) -> Option<Vec<Location>> {
    let edited = |change: &Change| match change {
        Change::File(file) => Some(file.clone()),
        Change::Folder(_) | Change::FolderGone(_) => None,
    };
    changes.iter().map(edited).collect()
}
