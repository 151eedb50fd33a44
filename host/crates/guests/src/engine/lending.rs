//! The `library` and `log` imports: the functions of the host that an engine can call, and the files they withhold.

use super::{EngineState, MAX_FILE_MEMORY, MAX_FILE_TIME, Terms};
use crate::call::Budget;
use crate::imports::{log_guest, log_line};
use ::library::resources::ResourceFolder;
use ::library::roots::{self, RootKind, SkillRoot};
use ::library::snapshot::{RootSnapshot, Snapshot};
use base::digest::Sha256;
use bindings::LentRoot;
use bindings::library::{self, QuarantineReason, ReadError};
use bindings::log::{self, Level};
use bindings::types::Location;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use wasmtime::component::{Resource, ResourceTable};

/// Reads files of one snapshot for an engine, and records the last one.
pub struct Lender {
    terms: Terms,
    snapshot: Arc<Snapshot>,
    /// During an update, each file has its own budget.
    updating: bool,
    last: Option<Location>,
}

impl Lender {
    pub fn new(terms: Terms) -> Self {
        Self { terms, snapshot: Arc::default(), updating: false, last: None }
    }

    pub fn lend_all(&self, handles: &mut ResourceTable) -> wasmtime::Result<Vec<Resource<LentRoot>>> {
        (0..).zip(self.terms.roots.iter()).map(|(number, _)| Ok(handles.push(LentRoot(number))?)).collect()
    }

    pub fn start_update(&mut self, snapshot: Arc<Snapshot>) {
        self.snapshot = snapshot;
        self.updating = true;
        self.last = None;
    }

    /// Returns the last file that was read.
    pub fn end_update(&mut self) -> Option<Location> {
        for root in &self.snapshot.roots {
            root.end_read_ahead();
        }
        self.updating = false;
        self.last.take()
    }

    fn read(&mut self, root: u32, path: &str, budget: &mut Budget) -> Result<String, ReadError> {
        let snapshot = self.snapshot.root(root).ok_or(ReadError::NotFound)?;
        let file = snapshot.file(path, self.terms.file_limit);
        let text = file.text.as_ref().map_err(Clone::clone)?;
        if self.updating {
            budget.start_file(MAX_FILE_TIME, MAX_FILE_MEMORY);
            self.last = Some(Location { root, path: path.to_owned() });
        }
        self.terms.quarantine.check(text)?;
        Ok(text.as_ref().to_owned())
    }
}

/// Files that broke an engine, by the digest of their text. Shared by all engines of a server, so that none reads such a
/// file again. A changed file has another digest and is tried.
#[derive(Default)]
pub struct Quarantine {
    reasons: RwLock<BTreeMap<Sha256, QuarantineReason>>,
}

impl Quarantine {
    /// Adds a text. Returns whether it is new.
    pub fn add(&self, text: &str, reason: QuarantineReason) -> bool {
        let mut reasons = self.reasons.write().unwrap_or_else(PoisonError::into_inner);
        reasons.insert(Sha256::of(text.as_bytes()), reason).is_none()
    }

    pub fn check(&self, text: &str) -> Result<(), ReadError> {
        let reasons = self.reasons.read().unwrap_or_else(PoisonError::into_inner);
        // Digests cost more than reading, and the quarantine is nearly always empty.
        if reasons.is_empty() {
            return Ok(());
        }
        reasons.get(&Sha256::of(text.as_bytes())).map_or(Ok(()), |reason| Err(ReadError::Quarantined(*reason)))
    }
}

impl EngineState {
    fn root(&self, handle: &Resource<LentRoot>) -> wasmtime::Result<&SkillRoot> {
        Ok(&self.lender.terms.roots[self.handles.get(handle)?.0 as usize])
    }

    fn folder(&self, handle: &Resource<LentRoot>) -> wasmtime::Result<Option<ResourceFolder>> {
        Ok(self.lender.snapshot.root(self.handles.get(handle)?.0).and_then(RootSnapshot::top))
    }
}

impl library::Host for EngineState {}

impl library::HostSkillRoot for EngineState {
    fn label(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<String> {
        Ok(self.root(&root)?.label.clone())
    }

    fn is_plugin(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<bool> {
        Ok(self.root(&root)?.kind == RootKind::Plugin)
    }

    fn folder_name(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<String> {
        Ok(self.root(&root)?.folder_name())
    }

    fn inside(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<Vec<u32>> {
        let number = self.handles.get(&root)?.0;
        Ok(roots::enclosing(&self.lender.terms.roots, number))
    }

    fn expect(&mut self, root: Resource<LentRoot>, paths: Vec<String>) -> wasmtime::Result<()> {
        let number = self.handles.get(&root)?.0;
        if let Some(root) = self.lender.snapshot.roots.get(number as usize).filter(|_| self.lender.updating) {
            root.read_ahead(paths, self.lender.terms.file_limit);
        }
        Ok(())
    }

    fn read_text(&mut self, root: Resource<LentRoot>, path: String) -> wasmtime::Result<Result<String, ReadError>> {
        let number = self.handles.get(&root)?.0;
        Ok(self.lender.read(number, &path, &mut self.budget))
    }

    fn has_file(&mut self, root: Resource<LentRoot>, path: String) -> wasmtime::Result<bool> {
        Ok(self.folder(&root)?.is_some_and(|folder| folder.has_file(&path)))
    }

    fn list_files(&mut self, root: Resource<LentRoot>, path: String) -> wasmtime::Result<Vec<String>> {
        Ok(self.folder(&root)?.map(|folder| folder.list_files(&path)).unwrap_or_default())
    }

    fn drop(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<()> {
        self.handles.delete(root)?;
        Ok(())
    }
}

impl log::Host for EngineState {
    fn write(&mut self, level: Level, line: String) -> wasmtime::Result<()> {
        log_guest!("engine", level, "{}", log_line(&line));
        Ok(())
    }
}
