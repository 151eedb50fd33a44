//! Loading snapshots into engines, even if a file is malformed.

use base::printable::{counted, printable};
use bindings::catalog::{Change, Listing};
use bindings::library::QuarantineReason;
use bindings::types::{Location, Problem, Severity};
use guests::call::{Broken, Limit};
use guests::engine::{BrokenUpdate, EngineInstance, EngineWorld, Terms};
use library::scan;
use library::snapshot::{Folder, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How often all files together are tried, after each was tried alone.
const BUILD_TRIES: usize = 4;

/// Folders per trial engine. A file that breaks one costs only these folders a second trial.
const TRIED_TOGETHER: usize = 16;

const MAX_LOGGED_PROBLEMS: u32 = 100;

pub struct Builder {
    pub world: EngineWorld,
    pub terms: Terms,
}

impl Builder {
    /// Applies changes to an engine, or builds a new one if it breaks.
    pub fn update(
        &self,
        mut engine: EngineInstance,
        snapshot: &Arc<Snapshot>,
        changes: &[Change],
    ) -> Result<EngineInstance, Broken> {
        match engine.update(Arc::clone(snapshot), changes) {
            Ok(()) => Ok(engine),
            Err(broken) => {
                self.blame(snapshot, &broken);
                self.build(snapshot)
            }
        }
    }

    /// Builds an engine from a snapshot. Files that break an engine are quarantined.
    pub fn build(&self, snapshot: &Arc<Snapshot>) -> Result<EngineInstance, Broken> {
        let everything = scan::all_folders(snapshot);
        let mut tried_alone = false;
        let mut last = None;
        for _ in 0..BUILD_TRIES {
            let mut engine = self.world.instantiate(&self.terms)?;
            match engine.update(Arc::clone(snapshot), &everything) {
                Ok(()) => return Ok(engine),
                Err(broken) => {
                    self.blame(snapshot, &broken);
                    last = Some(broken.broken);
                }
            }
            if !std::mem::replace(&mut tried_alone, true) {
                self.try_alone(snapshot)?;
            }
        }
        Err(last.expect("at least one try"))
    }

    /// Finds every file that breaks an engine, with small engines instead of a large one per file.
    fn try_alone(&self, snapshot: &Arc<Snapshot>) -> Result<(), Broken> {
        for (number, root) in (0..).zip(&snapshot.roots) {
            let folders: Vec<(&Arc<str>, &Arc<Folder>)> = root.folders.iter().collect();
            for together in folders.chunks(TRIED_TOGETHER) {
                let files = together.iter().map(|(path, folder)| (path.as_ref(), folder.files.clone()));
                let changes = listings(number, files);
                let mut engine = self.world.instantiate(&self.terms)?;
                while let Err(broken) = engine.update(Arc::clone(snapshot), &changes) {
                    if !self.blame(snapshot, &broken) {
                        break;
                    }
                    engine = self.world.instantiate(&self.terms)?;
                }
            }
        }
        Ok(())
    }

    /// Quarantines the file that an engine broke on. False if it is unknown, or quarantined already.
    pub fn blame(&self, snapshot: &Snapshot, broken: &BrokenUpdate) -> bool {
        tracing::warn!("{}", broken.broken);
        let reason = match &broken.broken {
            Broken::Crashed { .. } => QuarantineReason::Crashed,
            Broken::Stopped { limit: Limit::FileTime(_), .. } => QuarantineReason::TimedOut,
            Broken::Stopped { limit: Limit::FileMemory(_), .. } => QuarantineReason::OutOfMemory,
            Broken::Stopped { limit: Limit::Time(_) | Limit::Memory(_), .. } => return false,
        };
        let Some(Location { root, path }) = &broken.file else { return false };
        let Some(root) = snapshot.root(*root) else { return false };
        match &root.file(path, self.terms.file_limit).text {
            Ok(text) => self.terms.quarantine.add(text, reason),
            Err(_) => false,
        }
    }

    /// Logs what a new generation holds.
    pub fn report(&self, engine: &mut EngineInstance, generation: u64) {
        let (Ok(page), Ok(problems)) = (engine.skills(None, None, 0, 0), engine.problems(MAX_LOGGED_PROBLEMS)) else {
            return;
        };
        for problem in &problems {
            log_problem(&self.terms, problem);
        }
        tracing::info!("generation {generation}: {}", counted(page.total as usize, "skill"));
    }
}

fn log_problem(terms: &Terms, problem: &Problem) {
    let label = terms.roots.get(problem.location.root as usize).map_or("?", |root| root.label.as_str());
    let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
    let file = printable(&problem.location.path);
    let (message, advice) = (printable(&problem.message), printable(&problem.advice));
    match problem.severity {
        Severity::Error => tracing::warn!("{label}: {file}{line}: {message} ({advice})"),
        Severity::Warning => tracing::info!("{label}: {file}{line}: {message} ({advice})"),
    }
}

/// Listings of these folders, with otherwise empty parents so that they can be reached.
pub fn listings<'a>(root: u32, wanted: impl IntoIterator<Item = (&'a str, Vec<String>)>) -> Vec<Change> {
    let mut listings: BTreeMap<&str, Listing> = BTreeMap::new();
    let listing = |path: &str| Listing {
        folder: Location { root, path: path.to_owned() },
        files: Vec::new(),
        folders: Vec::new(),
        skipped: Vec::new(),
    };
    for (path, files) in wanted {
        listings.entry(path).or_insert_with(|| listing(path)).files = files;
        let mut below: &str = path;
        while !below.is_empty() {
            let (above, name) = below.rsplit_once('/').unwrap_or(("", below));
            listings.entry(above).or_insert_with(|| listing(above)).folders.push(name.to_owned());
            below = above;
        }
    }
    let distinct = |mut listing: Listing| {
        listing.folders = listing.folders.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        Change::Folder(listing)
    };
    listings.into_values().map(distinct).collect()
}
