//! One look at everything: what the engine says about each file, and which tools skills mention.

use super::report::Folders;
use crate::bindings::catalog::{Mention, ReviewRequest, ReviewedFile};
use crate::catalog::Catalog;
use crate::cli::mentions::{self, MOST};
use crate::cli::open::Opened;
use crate::library::snapshot::Snapshot;
use crate::terminal::progress::{Progress, Reached};
use crate::worlds::engine::EngineInstance;
use cap_std::fs::Dir;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct Look {
    /// How many skills are served.
    pub skills: u32,
    pub files: Vec<Looked>,
    pub mentions: Vec<Mention>,
}

/// A file, and what can be done about it.
pub struct Looked {
    pub reviewed: ReviewedFile,
    /// What it holds and the folder of its root, if there is something to mend.
    pub source: Option<Source>,
}

pub struct Source {
    pub text: Arc<str>,
    pub root: Arc<Dir>,
}

/// How many files were looked at, and how many there are.
#[derive(Default)]
struct Counted {
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Look {
    /// Silences these codes.
    pub async fn at(opened: &Opened, folders: &Folders, allow: &[String]) -> anyhow::Result<Self> {
        let runnable = opened.config.scripts.runners.keys().cloned().collect();
        let other_codes = mentions::codes().into_iter().map(|known| known.code).collect();
        let folders = folders.all();
        let request = ReviewRequest { start: 0, allow: allow.to_vec(), other_codes, runnable, folders };
        let counted = Arc::new(Counted::default());
        let shown = Arc::clone(&counted);
        let progress = Progress::begin("checking files", move || shown.reached());
        let look = Self::ask(&opened.catalog, request, opened.terms.file_limit, counted).await;
        drop(progress);
        look
    }

    async fn ask(catalog: &Catalog, request: ReviewRequest, limit: u64, counted: Arc<Counted>) -> anyhow::Result<Self> {
        let asked = catalog.ask_all(move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| {
            let (mut request, mut files) = (request.clone(), Vec::new());
            loop {
                let page = engine.review(&request)?;
                files.extend(page.files.into_iter().map(|reviewed| Looked::of(reviewed, snapshot, limit)));
                counted.all.store(page.total as usize, Ordering::Relaxed);
                counted.done.store(page.next.unwrap_or(page.total) as usize, Ordering::Relaxed);
                match page.next.filter(|next| *next > request.start) {
                    Some(next) => request.start = next,
                    None => break,
                }
            }
            Ok(Self { skills: engine.skills(None, None, 0, 0)?.total, files, mentions: engine.mentions(MOST)? })
        });
        Ok(asked.await?)
    }
}

impl Looked {
    fn of(reviewed: ReviewedFile, snapshot: &Snapshot, limit: u64) -> Self {
        let is_mechanical = reviewed.remarks.iter().any(|remark| !remark.edits.is_empty());
        let source = is_mechanical.then(|| Source::of(&reviewed, snapshot, limit)).flatten();
        Self { reviewed, source }
    }
}

impl Source {
    /// The text that the engine was given, which its edits are for.
    fn of(reviewed: &ReviewedFile, snapshot: &Snapshot, limit: u64) -> Option<Self> {
        let root = snapshot.root(reviewed.file.root)?;
        let text = root.file(&reviewed.file.path, limit).text.as_ref().ok().cloned()?;
        Some(Self { text, root: root.folder.clone()? })
    }
}

impl Counted {
    fn reached(&self) -> Reached {
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        Reached { done, all, told: format!("{done}/{all}") }
    }
}
