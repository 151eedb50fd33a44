//! Maps the generated traits to plain functions.

use crate::bindings::exports::skillcell::plugin::catalog as exports;
use crate::bindings::exports::skillcell::plugin::catalog::{
    Answer, AssetError, Change, Code, Document, Duplicates, Explained, FoundAsset, FoundResource, FoundScript,
    FoundSkill, Guest, Location, LookupError, LookupKind, Mention, Node, OperatorSettings, Page, Problem, Reference,
    Request, ReviewPage, ReviewRequest, ScriptError, SearchResult, Settings, SkillFiles, TextDelta,
};
use crate::bindings::skillcell::plugin::library::{ReadError, SkillRoot};
use crate::bindings::skillcell::plugin::log;
use crate::bindings::skillcell::plugin::types::{SkillModel, Summary};
use crate::catalog::{Catalog, Root};
use crate::codes;
use std::cell::RefCell;

/// A component of world `engine`. The implementor may wrap the root handles that the catalog reads through.
pub trait Engine {
    fn root(handle: SkillRoot) -> Box<dyn Root>;
}

impl Root for SkillRoot {
    fn label(&self) -> String {
        self.label()
    }
    fn is_plugin(&self) -> bool {
        self.is_plugin()
    }
    fn folder_name(&self) -> String {
        self.folder_name()
    }
    fn inside(&self) -> Vec<u32> {
        self.inside()
    }
    fn expect(&self, paths: &[String]) {
        self.expect(paths);
    }
    fn read_text(&self, path: &str) -> Result<String, ReadError> {
        self.read_text(path)
    }
    fn has_file(&self, path: &str) -> bool {
        self.has_file(path)
    }
    fn list_files(&self, folder: &str) -> Vec<String> {
        self.list_files(folder)
    }
}

thread_local! {
    /// An instance has one thread and one catalog.
    static CATALOG: RefCell<Catalog> = RefCell::new(Catalog::new(Vec::new(), OperatorSettings::default(), Duplicates::Refuse));
}

fn with_catalog<T>(read: impl FnOnce(&Catalog) -> T) -> T {
    CATALOG.with_borrow(read)
}

impl<E: Engine> Guest for E {
    fn open(roots: Vec<exports::SkillRoot>, operator: OperatorSettings, duplicates: Duplicates) {
        std::panic::set_hook(Box::new(|panic| log::write(log::Level::Warn, &panic.to_string())));
        CATALOG.set(Catalog::new(roots.into_iter().map(E::root).collect(), operator, duplicates));
    }
    fn settings_of(root: u32) -> Settings {
        with_catalog(|catalog| catalog.settings_of(root))
    }
    fn update(changes: Vec<Change>) {
        CATALOG.with_borrow_mut(|catalog| catalog.update(changes));
    }
    fn arrange() {
        CATALOG.with_borrow_mut(Catalog::arrange);
    }
    fn rearranged() -> Option<Vec<Location>> {
        with_catalog(Catalog::rearranged)
    }
    fn problems(max: u32) -> Vec<Problem> {
        with_catalog(|catalog| catalog.problems(max))
    }
    fn skills(filter: Option<String>, model: Option<SkillModel>, start: u32, max: u32) -> Page {
        with_catalog(|catalog| catalog.skills(filter.as_deref(), model, start, max))
    }
    fn body(file: Location) -> String {
        with_catalog(|catalog| catalog.body(&file))
    }
    fn search(query: String, model: Option<SkillModel>, limit: u32, scores: Option<Vec<f64>>) -> SearchResult {
        with_catalog(|catalog| catalog.search(&query, model, limit, scores.as_deref()))
    }
    fn prepare_search(max: u32) -> bool {
        CATALOG.with_borrow_mut(|catalog| catalog.prepare_search(max))
    }
    fn find(request: Request, scores: Option<Vec<f64>>) -> Result<Answer, LookupError> {
        with_catalog(|catalog| catalog.find(&request, scores.as_deref()))
    }
    fn text_changes(resend: bool, max_bytes: u32) -> TextDelta {
        CATALOG.with_borrow_mut(|catalog| catalog.text_changes(resend, max_bytes))
    }
    fn explain(context: String, scores: Option<Vec<f64>>, max: u32) -> Vec<Explained> {
        with_catalog(|catalog| catalog.explain(&context, scores.as_deref(), max))
    }
    fn tree(path: Option<String>) -> Result<Vec<Node>, LookupError> {
        with_catalog(|catalog| catalog.tree(path.as_deref()))
    }
    fn asset_of(skill: String, file: String) -> Result<FoundAsset, AssetError> {
        with_catalog(|catalog| catalog.asset_of(&skill, &file))
    }
    fn script_of(skill: String, file: String) -> Result<FoundScript, ScriptError> {
        with_catalog(|catalog| catalog.script_of(&skill, &file))
    }
    fn skill_of(name: String, kind: LookupKind) -> Result<FoundSkill, LookupError> {
        with_catalog(|catalog| catalog.skill_of(&name, kind))
    }
    fn known_skill(name: String, kind: LookupKind) -> Option<FoundSkill> {
        with_catalog(|catalog| catalog.known_skill(&name, kind))
    }
    fn skill_in(file: Location) -> Option<Summary> {
        with_catalog(|catalog| catalog.skill_in(&file))
    }

    fn resource_of(uri: String) -> Option<FoundResource> {
        with_catalog(|catalog| catalog.resource_of(&uri))
    }
    fn document_of(file: Location) -> Option<Document> {
        with_catalog(|catalog| catalog.document_of(&file))
    }
    fn files_of(file: Location) -> Option<SkillFiles> {
        with_catalog(|catalog| catalog.files_of(&file))
    }
    fn is_skill_document(path: String) -> bool {
        crate::paths::last_segment(&path) == crate::skill::SKILL_FILE
    }
    fn dependencies_of(files: Vec<Location>) -> Vec<Location> {
        crate::dependencies::dependencies(&files)
    }
    fn resource_folders() -> Vec<Location> {
        with_catalog(Catalog::resource_folders)
    }
    fn references_of(file: Location) -> Vec<Reference> {
        with_catalog(|catalog| catalog.references_of(&file))
    }
    fn codes() -> Vec<Code> {
        let code = |code: &codes::Code| Code {
            name: code.name.to_owned(),
            severity: code.severity,
            summary: code.summary.to_owned(),
            advice: code.advice.to_owned(),
            mechanical: code.mechanical,
            deceptive: code.deceptive,
        };
        codes::CODES.iter().map(code).collect()
    }
    fn review(request: ReviewRequest) -> ReviewPage {
        with_catalog(|catalog| catalog.review(&request))
    }
    fn mentions(max: u32) -> Vec<Mention> {
        with_catalog(|catalog| catalog.mentions(max))
    }
}
