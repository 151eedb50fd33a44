//! The `library` and `log` imports: what an engine may ask of the host.

use super::{EngineState, FILE_MEMORY, FILE_TIME, Terms};
use crate::bindings::library::{self, ReadError};
use crate::bindings::log::{self, Level};
use crate::bindings::types::Location;
use crate::library::roots::{self, RootKind};
use crate::library::snapshot::{RootSnapshot, Snapshot};
use crate::runtime::budget::Budget;
use crate::worlds::imports::log_line;
use std::sync::Arc;
use wasmtime::component::{HasData, Resource, ResourceTable};

/// The handle of a root inside the engine: its position in the list of roots.
pub struct LentRoot(u32);

/// Hands out the files of one snapshot, and remembers which was asked for last.
pub struct Lender {
    terms: Terms,
    snapshot: Arc<Snapshot>,
    /// Whether the engine takes in changes, so that each file has its own budget.
    updating: bool,
    last: Option<Location>,
}

impl Lender {
    pub fn new(terms: Terms) -> Self {
        Self { terms, snapshot: Arc::default(), updating: false, last: None }
    }

    pub fn lend_all(&self, handles: &mut ResourceTable) -> wasmtime::Result<Vec<Resource<LentRoot>>> {
        let numbers = (0..).zip(self.terms.roots.iter()).map(|(number, _)| number);
        numbers.map(|number| Ok(handles.push(LentRoot(number))?)).collect()
    }

    /// From now on files of this snapshot are handed out, each with a budget of its own.
    pub fn start(&mut self, snapshot: Arc<Snapshot>) {
        self.snapshot = snapshot;
        self.updating = true;
        self.last = None;
    }

    /// Ends an update and tells which file was asked for last.
    pub fn stop(&mut self) -> Option<Location> {
        self.updating = false;
        self.last.take()
    }

    fn read(&mut self, root: u32, path: &str, budget: &mut Budget) -> Result<String, ReadError> {
        let place = self.snapshot.root(root).ok_or(ReadError::NotFound)?;
        let file = place.file(path, self.terms.file_limit);
        let text = file.text.as_ref().map_err(Clone::clone)?;
        if self.updating {
            budget.begin_file(FILE_TIME, FILE_MEMORY);
            self.last = Some(Location { root, path: path.to_owned() });
        }
        self.terms.set_aside.check(text)?;
        Ok(text.as_ref().to_owned())
    }
}

/// Everything the `library` import can reach.
pub struct LibraryView<'state> {
    handles: &'state mut ResourceTable,
    lender: &'state mut Lender,
    budget: &'state mut Budget,
}

impl EngineState {
    pub fn library(&mut self) -> LibraryView<'_> {
        LibraryView { handles: &mut self.handles, lender: &mut self.lender, budget: &mut self.budget }
    }
}

/// Marks the data of the `library` import for the linker.
pub struct Library;

impl HasData for Library {
    type Data<'state> = LibraryView<'state>;
}

impl library::Host for LibraryView<'_> {}

impl library::HostSkillRoot for LibraryView<'_> {
    fn label(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<String> {
        let number = self.handles.get(&root)?.0;
        Ok(self.lender.terms.roots[number as usize].label.clone())
    }

    fn is_plugin(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<bool> {
        let number = self.handles.get(&root)?.0;
        Ok(self.lender.terms.roots[number as usize].kind == RootKind::Plugin)
    }

    fn folder_name(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<String> {
        let number = self.handles.get(&root)?.0;
        Ok(self.lender.terms.roots[number as usize].folder_name())
    }

    fn inside(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<Vec<u32>> {
        let number = self.handles.get(&root)?.0;
        Ok(roots::around(&self.lender.terms.roots, number))
    }

    fn read_text(&mut self, root: Resource<LentRoot>, path: String) -> wasmtime::Result<Result<String, ReadError>> {
        let number = self.handles.get(&root)?.0;
        Ok(self.lender.read(number, &path, self.budget))
    }

    fn has_file(&mut self, root: Resource<LentRoot>, path: String) -> wasmtime::Result<bool> {
        let number = self.handles.get(&root)?.0;
        let folder = self.lender.snapshot.root(number).and_then(RootSnapshot::top);
        Ok(folder.is_some_and(|folder| folder.has_file(&path)))
    }

    fn list_files(&mut self, root: Resource<LentRoot>, path: String) -> wasmtime::Result<Vec<String>> {
        let number = self.handles.get(&root)?.0;
        let folder = self.lender.snapshot.root(number).and_then(RootSnapshot::top);
        Ok(folder.map(|folder| folder.list_files(&path)).unwrap_or_default())
    }

    fn drop(&mut self, root: Resource<LentRoot>) -> wasmtime::Result<()> {
        self.handles.delete(root)?;
        Ok(())
    }
}

/// The `log` import reaches nothing but the log.
pub struct Log;

impl HasData for Log {
    type Data<'state> = Self;
}

impl log::Host for Log {
    fn write(&mut self, level: Level, line: String) -> wasmtime::Result<()> {
        let line = log_line(&line);
        match level {
            Level::Debug => tracing::debug!(target: "engine", "{line}"),
            Level::Info => tracing::info!(target: "engine", "{line}"),
            Level::Warn => tracing::warn!(target: "engine", "{line}"),
        }
        Ok(())
    }
}
