//! The engine without its sandbox, to measure what the sandbox costs.

use skillcell_engine::bindings::exports::skillcell::plugin::catalog::{
    Change, Duplicates, Listing, Location, OperatorSettings,
};
use skillcell_engine::bindings::skillcell::plugin::library::ReadError;
use skillcell_engine::catalog::{Catalog, Root};
use std::path::{Path, PathBuf};

struct NativeRoot(PathBuf);

impl Root for NativeRoot {
    fn label(&self) -> String {
        "native".to_owned()
    }
    fn is_plugin(&self) -> bool {
        false
    }
    fn folder_name(&self) -> String {
        "native".to_owned()
    }
    fn inside(&self) -> Vec<u32> {
        Vec::new()
    }
    fn read_text(&self, path: &str) -> Result<String, ReadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|error| ReadError::Failed(error.to_string()))
    }
    fn has_file(&self, path: &str) -> bool {
        self.0.join(path).is_file()
    }
    fn list_files(&self, _folder: &str) -> Vec<String> {
        Vec::new()
    }
}

/// Builds the catalog of a folder in this process.
pub fn native_catalog(folder: &Path) -> Catalog {
    let root = Box::new(NativeRoot(folder.to_owned()));
    let mut catalog = Catalog::new(vec![root], OperatorSettings::default(), Duplicates::Refuse);
    let mut changes = Vec::new();
    let mut waiting = vec![String::new()];
    while let Some(path) = waiting.pop() {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(folder.join(&path)).expect("a readable folder").flatten() {
            let name = entry.file_name().into_string().expect("a name in UTF-8");
            if entry.path().is_dir() { folders.push(name) } else { files.push(name) }
        }
        waiting
            .extend(folders.iter().map(|name| if path.is_empty() { name.clone() } else { format!("{path}/{name}") }));
        changes.push(Change::Folder(Listing {
            folder: Location { root: 0, path },
            files,
            folders,
            skipped: Vec::new(),
        }));
    }
    catalog.update(changes);
    catalog.arrange();
    catalog
}
