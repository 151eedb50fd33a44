//! Inspects all files: the engine's review of each, and the tools that skills mention.

use super::report::Folders;
use crate::cli::mentions::{self, MAX_MENTIONS};
use crate::compose::App;
use bindings::catalog::{Mention, ReviewRequest, ReviewedFile};
use cap_std::fs::Dir;
use library::snapshot::Snapshot;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use terminal::progress::{Completed, Progress};

pub struct Inspection {
    /// The number of served skills.
    pub skills: u32,
    pub files: Vec<InspectedFile>,
    pub mentions: Vec<Mention>,
}

/// A reviewed file.
pub struct InspectedFile {
    pub reviewed: ReviewedFile,
    /// Its text and the folder of its root, if there is something to fix.
    pub source: Option<Source>,
}

pub struct Source {
    pub text: Arc<str>,
    pub root: Arc<Dir>,
}

impl Inspection {
    /// Inspects all files; `allow` has the codes to silence.
    pub async fn run(app: &App, folders: &Folders, allow: &[String]) -> anyhow::Result<Self> {
        let runnable = app.config.scripts.runners.keys().cloned().collect();
        let other_codes = mentions::codes().into_iter().map(|info| info.code).collect();
        let folders = folders.all();
        let request = ReviewRequest { start: 0, allow: allow.to_vec(), other_codes, runnable, folders };
        let limit = app.terms.file_limit;
        let inspected = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let shared = Arc::clone(&inspected);
        let _progress = Progress::start("checking files", move || {
            let (done, total) = (shared.0.load(Ordering::Relaxed), shared.1.load(Ordering::Relaxed));
            Completed { done, total, text: format!("{done}/{total}") }
        });
        let inspection = app.catalog.ask_all(move |engine, snapshot| {
            let (mut request, mut files) = (request.clone(), Vec::new());
            loop {
                let page = engine.review(&request)?;
                files.extend(page.files.into_iter().map(|reviewed| InspectedFile::new(reviewed, snapshot, limit)));
                inspected.1.store(page.total as usize, Ordering::Relaxed);
                inspected.0.store(page.next.unwrap_or(page.total) as usize, Ordering::Relaxed);
                match page.next.filter(|next| *next > request.start) {
                    Some(next) => request.start = next,
                    None => break,
                }
            }
            Ok(Self { skills: engine.skills(None, None, 0, 0)?.total, files, mentions: engine.mentions(MAX_MENTIONS)? })
        });
        Ok(inspection.await?)
    }
}

impl InspectedFile {
    fn new(reviewed: ReviewedFile, snapshot: &Snapshot, limit: u64) -> Self {
        let is_mechanical = reviewed.remarks.iter().any(|remark| !remark.edits.is_empty());
        // The text that the engine reviewed, to which its edits apply.
        let source = || {
            let root = snapshot.root(reviewed.file.root)?;
            let text = root.file(&reviewed.file.path, limit).text.as_ref().ok().cloned()?;
            Some(Source { text, root: root.folder.clone()? })
        };
        Self { source: is_mechanical.then(source).flatten(), reviewed }
    }
}
