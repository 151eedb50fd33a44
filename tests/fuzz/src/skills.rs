//! The engine on a library of arbitrary files.
//!
//! A line `=> PATH` starts a file; `=> 1:PATH` one of the second root, a plugin.

use skillcell_engine::bindings::exports::skillcell::plugin::catalog::{
    AssetError, Change, Duplicates, Location, LookupKind, Request, ReviewRequest,
};
use skillcell_engine::catalog::Catalog;
use skillcell_engine::memory::{self, MemoryRoot};
use skillcell_engine::paths;
use std::collections::BTreeSet;

const MAX_FILES: usize = 24;

pub fn skills(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let roots = roots(&text);
    let mut catalog = memory::catalog(roots.clone(), Duplicates::Refuse);
    let before = answers(&catalog, &roots);
    let files = (0..).zip(&roots).flat_map(|(root, files)| files.files().keys().map(move |path| (root, path)));
    let changed = files.map(|(root, path)| Change::File(Location { root, path: path.clone() })).collect();
    catalog.update(changed);
    catalog.arrange();
    assert_eq!(before, answers(&catalog, &roots), "files that were read again give other answers");
}

fn roots(text: &str) -> Vec<MemoryRoot> {
    let mut roots = vec![MemoryRoot::new("project"), MemoryRoot::plugin("office").inside(&[0])];
    for part in format!("\n{text}").split("\n=> ").skip(1).take(MAX_FILES) {
        let (path, content) = part.split_once('\n').unwrap_or((part, ""));
        let (root, path) = path.strip_prefix("1:").map_or((0, path), |path| (1, path));
        // The host reports no other paths.
        if let Some(path) = paths::clean(path).filter(|path| !paths::is_hidden(path)) {
            roots[root] = std::mem::take(&mut roots[root]).file(&path, content);
        }
    }
    roots
}

/// Asks everything there is to ask, checks the answers, and returns them as text.
fn answers(catalog: &Catalog, roots: &[MemoryRoot]) -> String {
    let text_of = |file: &Location| roots[file.root as usize].files().get(&file.path).map_or("", String::as_str);
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
    for number in 0..2 {
        check_settings(catalog, number);
        answers += &format!("{:?}", catalog.settings_of(number));
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
    let (settings, operator) = (catalog.settings_of(root), memory::operator());
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
