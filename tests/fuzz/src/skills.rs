//! The engine on a library of arbitrary files.
//!
//! A line `=> PATH` starts a file; `=> 1:PATH` one of the second root, a plugin.

use skillcell_engine::bindings::exports::skillcell::plugin::catalog::{
    AssetError, Change, Duplicates, Listing, Location, LookupKind, OperatorSettings, Request, ReviewRequest,
    ScriptLimits,
};
use skillcell_engine::bindings::skillcell::plugin::library::ReadError;
use skillcell_engine::catalog::{Catalog, Root};
use skillcell_engine::paths;
use std::collections::{BTreeMap, BTreeSet};

const MAX_FILES: usize = 24;

pub fn skills(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let roots = roots(&text);
    let mut catalog = open(roots.clone());
    let before = answers(&catalog, &roots);
    let files = (0..).zip(&roots).flat_map(|(root, files)| files.files.keys().map(move |path| (root, path)));
    let changed = files.map(|(root, path)| Change::File(Location { root, path: path.clone() })).collect();
    catalog.update(changed);
    catalog.arrange();
    assert_eq!(before, answers(&catalog, &roots), "files that were read again give other answers");
}

fn roots(text: &str) -> Vec<FileRoot> {
    let mut roots = vec![FileRoot::new("project", false), FileRoot::new("office", true)];
    for part in format!("\n{text}").split("\n=> ").skip(1).take(MAX_FILES) {
        let (path, content) = part.split_once('\n').unwrap_or((part, ""));
        let (root, path) = path.strip_prefix("1:").map_or((0, path), |path| (1, path));
        // The host reports no other paths.
        if let Some(path) = paths::clean(path).filter(|path| !paths::is_hidden(path)) {
            roots[root].files.insert(path, content.to_owned());
        }
    }
    roots
}

/// Asks everything there is to ask, checks the answers, and returns them as text.
fn answers(catalog: &Catalog, roots: &[FileRoot]) -> String {
    let text_of = |file: &Location| roots[file.root as usize].files.get(&file.path).map_or("", String::as_str);
    let page = catalog.skills(None, None, 0, u32::MAX);
    let mut uris = BTreeSet::new();
    let mut answers = String::new();
    for skill in &page.skills {
        assert!(uris.insert(skill.uri.to_lowercase()), "two skills have the URI {}", skill.uri);
        let resource = catalog.resource_of(&skill.uri).expect("a URI of this catalog");
        assert_eq!(resource.skill.summary.file, skill.file, "{} is the URI of another skill", skill.uri);
        let found = catalog.skill_of(&skill.address, LookupKind::Path).expect("an address of this catalog");
        assert_eq!(found.summary.file, skill.file, "{} is the address of another skill", skill.address);
        let body = catalog.body(&skill.file);
        assert!(text_of(&skill.file).ends_with(&body));
        let document = catalog.document_of(&skill.file).expect("a skill of this catalog");
        let fields: Result<serde_json::Value, _> = serde_json::from_str(&document.frontmatter);
        assert!(fields.is_ok_and(|fields| fields.is_object()), "not a JSON object: {}", document.frontmatter);
        let mut end = 0;
        for reference in catalog.references_of(&skill.file) {
            assert!(reference.start >= end && reference.start <= reference.end, "references overlap");
            end = reference.end;
            assert!(text_of(&skill.file).get(reference.start as usize..end as usize).is_some());
            assert_eq!(paths::clean(&reference.file).as_ref(), Some(&reference.file));
        }
        for file in ["run.sh", "../x", &skill.name, &skill.description] {
            let (asset, script) = (catalog.asset_of(&skill.address, file), catalog.script_of(&skill.address, file));
            let leaves = paths::clean(file).is_none();
            assert!(!leaves || matches!(asset, Err(AssetError::UnsafePath | AssetError::NoFile(_))), "{file}");
            answers += &format!("{asset:?} {script:?}");
        }
        let chosen = Request { context: skill.description.clone(), chosen: Some(skill.address.clone()) };
        let free = Request { context: skill.description.clone(), chosen: None };
        answers += &format!("{:?} {:?}", catalog.find(&chosen, None), catalog.find(&free, None));
        answers +=
            &format!("{:?} {:?}", catalog.search(&skill.name, None, 9, None), catalog.tree(Some(&skill.address)));
        answers += &format!("{:?} {:?}", catalog.files_of(&skill.file), document.text);
    }
    for (number, root) in (0..).zip(roots) {
        check_settings(catalog, number);
        answers += &format!("{:?} {}", catalog.settings_of(number), root.label);
    }
    let request = ReviewRequest {
        start: 0,
        allow: Vec::new(),
        other_codes: Vec::new(),
        runnable: vec![".py".to_owned()],
        folders: vec!["project".to_owned(), "office".to_owned()],
    };
    let review = catalog.review(&request);
    for file in &review.files {
        for edit in file.remarks.iter().flat_map(|remark| &remark.edits) {
            assert!(text_of(&file.file).get(edit.start as usize..edit.end as usize).is_some(), "an edit out of bounds");
        }
    }
    answers + &format!("{page:?} {:?} {review:?} {:?}", catalog.problems(u32::MAX), catalog.mentions(u32::MAX))
}

/// Content lowers limits and never raises one.
fn check_settings(catalog: &Catalog, root: u32) {
    let (settings, operator) = (catalog.settings_of(root), operator());
    let (limits, most) = (&settings.scripts, &operator.scripts);
    assert!(!limits.undeclared, "content lets undeclared scripts run");
    assert!(limits.timeout_seconds <= most.timeout_seconds && limits.max_output_bytes <= most.max_output_bytes);
    assert!(limits.memory_bytes <= most.memory_bytes && limits.fuel <= most.fuel);
    assert!(limits.scratch_bytes <= most.scratch_bytes && limits.scratch_files <= most.scratch_files);
    assert!(limits.allowed_extensions.iter().all(|extension| most.allowed_extensions.contains(extension)));
    assert!(settings.assets.max_size_bytes <= operator.max_size_bytes);
    assert!(settings.assets.inline_text_max_bytes <= settings.assets.max_size_bytes);
    assert!((0.0..=1.0).contains(&settings.matching.min_score));
    assert!((0.0..=1.0).contains(&settings.matching.ambiguity_threshold));
}

fn operator() -> OperatorSettings {
    OperatorSettings {
        scripts: ScriptLimits {
            enabled: true,
            undeclared: false,
            timeout_seconds: 60,
            max_output_bytes: 1000,
            memory_bytes: 1000,
            fuel: 1000,
            scratch_bytes: 1000,
            scratch_files: 10,
            allowed_extensions: [".py", ".js", ".sh", ".ts"].map(str::to_owned).to_vec(),
        },
        max_size_bytes: 1 << 20,
        ..OperatorSettings::default()
    }
}

/// A catalog of these roots.
pub fn open(roots: Vec<FileRoot>) -> Catalog {
    let changes = (0..).zip(&roots).flat_map(|(number, root)| root.listings(number)).collect();
    let roots = roots.into_iter().map(|root| Box::new(root) as Box<dyn Root>).collect();
    let mut catalog = Catalog::new(roots, operator(), Duplicates::Refuse);
    catalog.update(changes);
    catalog.arrange();
    catalog
}

/// A root with its files in memory, by path.
#[derive(Clone)]
pub struct FileRoot {
    label: &'static str,
    is_plugin: bool,
    files: BTreeMap<String, String>,
}

impl FileRoot {
    pub fn new(label: &'static str, is_plugin: bool) -> Self {
        Self { label, is_plugin, files: BTreeMap::new() }
    }

    pub fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    fn listings(&self, root: u32) -> Vec<Change> {
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

impl Root for FileRoot {
    fn label(&self) -> String {
        self.label.to_owned()
    }
    fn is_plugin(&self) -> bool {
        self.is_plugin
    }
    fn folder_name(&self) -> String {
        "skills".to_owned()
    }
    fn inside(&self) -> Vec<u32> {
        if self.is_plugin { vec![0] } else { Vec::new() }
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
