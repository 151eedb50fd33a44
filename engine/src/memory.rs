//! In-memory roots for tests.

use crate::bindings::exports::skillcell::plugin::catalog::{
    Change, Duplicates, Listing, Location, OperatorSettings, ScriptLimits, Summary,
};
use crate::bindings::skillcell::plugin::library::ReadError;
use crate::catalog::{Catalog, Root};
use crate::paths;
use std::collections::{BTreeMap, BTreeSet};

/// Files by path.
#[derive(Clone, Default)]
pub struct MemoryRoot {
    label: String,
    is_plugin: bool,
    inside: Vec<u32>,
    files: BTreeMap<String, String>,
}

impl MemoryRoot {
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), ..Self::default() }
    }

    pub fn plugin(label: &str) -> Self {
        Self { is_plugin: true, ..Self::new(label) }
    }

    /// Places the root inside other roots.
    pub fn inside(self, roots: &[u32]) -> Self {
        Self { inside: roots.to_vec(), ..self }
    }

    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// Adds a minimal skill.
    pub fn folder_skill(self, folder: &str, name: &str) -> Self {
        let text = format!("---\nname: {name}\ndescription: d\n---\n# {name}\n");
        self.file(&paths::join(folder, "SKILL.md"), &text)
    }

    pub fn tree_skill(self, path: &str) -> Self {
        self.file(&format!("{path}.md"), &format!("---\nkeywords: [word]\ndescription: d\n---\n# {path}\n"))
    }

    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    pub fn without(mut self, path: &str) -> Self {
        self.files.remove(path);
        self
    }

    pub fn listings(&self, root: u32) -> Vec<Change> {
        let mut folders: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::from([("", Default::default())]);
        for path in self.files.keys() {
            let mut below = path.as_str();
            while let Some(folder) = paths::folder_of(below) {
                let (files, inner) = folders.entry(folder).or_default();
                if below == path { files } else { inner }.insert(paths::last_segment(below));
                below = folder;
            }
        }
        let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        let listing = |(folder, (files, folders)): (&str, (BTreeSet<&str>, BTreeSet<&str>))| {
            let folder = Location { root, path: folder.to_owned() };
            Change::Folder(Listing { folder, files: owned(files), folders: owned(folders), skipped: Vec::new() })
        };
        folders.into_iter().map(listing).collect()
    }
}

impl Root for MemoryRoot {
    fn label(&self) -> String {
        self.label.clone()
    }
    fn is_plugin(&self) -> bool {
        self.is_plugin
    }
    fn folder_name(&self) -> String {
        "skills".to_owned()
    }
    fn inside(&self) -> Vec<u32> {
        self.inside.clone()
    }
    fn read_text(&self, path: &str) -> Result<String, ReadError> {
        self.files.get(path).cloned().ok_or(ReadError::NotFound)
    }
    fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }
    fn list_files(&self, folder: &str) -> Vec<String> {
        let inside = self.files.keys().filter(|path| paths::folder_of(path) == Some(folder));
        inside.map(|path| paths::last_segment(path).to_owned()).filter(|name| !name.starts_with('.')).collect()
    }
}

/// Settings with low script limits and nothing else set.
pub fn operator() -> OperatorSettings {
    OperatorSettings {
        scripts: ScriptLimits {
            enabled: true,
            timeout_seconds: 60,
            max_output_bytes: 1000,
            memory_bytes: 1000,
            fuel: 1000,
            scratch_bytes: 1000,
            scratch_files: 10,
            undeclared: false,
            allowed_extensions: [".py", ".js", ".sh", ".ts"].map(str::to_owned).to_vec(),
        },
        max_size_bytes: 1 << 20,
        ..OperatorSettings::default()
    }
}

pub fn catalog(roots: Vec<MemoryRoot>, duplicates: Duplicates) -> Catalog {
    let changes = (0..).zip(&roots).flat_map(|(number, root)| root.listings(number)).collect();
    let roots = roots.into_iter().map(|root| Box::new(root) as Box<dyn Root>).collect();
    let mut catalog = Catalog::new(roots, operator(), duplicates);
    catalog.update(changes);
    catalog.arrange();
    catalog
}

/// Maps each skill to a value, by root and file.
pub fn by_file<T>(catalog: &Catalog, value: impl Fn(Summary) -> T) -> BTreeMap<(u32, String), T> {
    let skills = catalog.skills(None, None, 0, u32::MAX).skills;
    skills.into_iter().map(|skill| ((skill.file.root, skill.file.path.clone()), value(skill))).collect()
}
