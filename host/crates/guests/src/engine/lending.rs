//! The `library` and `log` imports: the functions of the host that an engine can call.

use super::{EngineState, MAX_FILE_MEMORY, MAX_FILE_TIME, Terms};
use crate::budget::Budget;
use crate::imports::{log_guest, log_line};
use ::library::roots::{self, RootKind};
use ::library::snapshot::{RootSnapshot, Snapshot};
use bindings::LentRoot;
use bindings::library::{self, ReadError};
use bindings::log::{self, Level};
use bindings::types::Location;
use std::sync::Arc;
use wasmtime::component::{HasData, Resource, ResourceTable};

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
        let numbers = (0..).zip(self.terms.roots.iter()).map(|(number, _)| number);
        numbers.map(|number| Ok(handles.push(LentRoot(number))?)).collect()
    }

    pub fn start_update(&mut self, snapshot: Arc<Snapshot>) {
        self.snapshot = snapshot;
        self.updating = true;
        self.last = None;
    }

    /// Returns the last file that was read.
    pub fn end_update(&mut self) -> Option<Location> {
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

/// Everything that the `library` import can reach.
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
        Ok(roots::enclosing(&self.lender.terms.roots, number))
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

/// The `log` import reaches only the log.
pub struct Log;

impl HasData for Log {
    type Data<'state> = Self;
}

impl log::Host for Log {
    fn write(&mut self, level: Level, line: String) -> wasmtime::Result<()> {
        log_guest!("engine", level, "{}", log_line(&line));
        Ok(())
    }
}
