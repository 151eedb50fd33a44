//! The shape of the answer to `get_skill`.

use base::place::Audience;
use base::printable::visible;
use bindings::catalog::{
    Answer as Found, Argument, Asset, Candidate, Execution, FoundSkill, LookupKind, Script, ScriptLimits,
};
use bindings::types::{Location, SkillModel, Summary};
use catalog::{AskError, Catalog};
use guests::call::Broken;
use guests::engine::EngineInstance;
use library::files::{self, SkillFile};
use library::roots::SkillRoot;
use library::snapshot::Snapshot;
use scripts::Options;
use serde::Serialize;
use std::path::PathBuf;

/// No match, several candidates, or the skill.
#[derive(Serialize)]
#[serde(untagged)]
pub enum FoundView {
    NoMatch {
        no_match: bool,
        message: &'static str,
        /// The skills that come closest, best first.
        #[serde(skip_serializing_if = "Option::is_none")]
        nearest: Option<Vec<NearestView>>,
    },
    Ambiguous {
        ambiguous: bool,
        candidates: Vec<CandidateView>,
        message: &'static str,
    },
    Matched {
        skill_path: String,
        score: f64,
        matched_keywords: Vec<String>,
        content: String,
        assets: Vec<AssetView>,
        scripts: Vec<ScriptView>,
        inherited_assets: Vec<AssetView>,
        inherited_scripts: Vec<ScriptView>,
        #[serde(flatten)]
        listing: Option<ListingView>,
    },
}

/// What a skill has on disk.
#[derive(Serialize)]
pub struct ListingView {
    /// Where the files are: a folder, or over HTTP a URI.
    pub folder: String,
    /// The first files, relative to the folder.
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub files_omitted: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A skill that does not match well enough.
#[derive(Serialize)]
pub struct NearestView {
    skill_path: String,
    description: String,
}

#[derive(Serialize)]
pub struct CandidateView {
    skill_path: String,
    score: f64,
    description: String,
    matched_keywords: Vec<String>,
}

impl FoundView {
    /// Without inlined assets.
    pub fn plain(found: Found) -> Self {
        Self::new(found, |_| None)
    }

    /// `inline` returns the content of an asset that is to be in the answer.
    pub fn new(found: Found, inline: impl Fn(&Asset) -> Option<String>) -> Self {
        let asset = |asset: Asset| AssetView { content: inline(&asset), ..asset.into() };
        let assets = |assets: Vec<Asset>| assets.into_iter().map(asset).collect();
        let scripts = |scripts: Vec<Script>| scripts.into_iter().map(ScriptView::from).collect();
        match found {
            Found::NoMatch => {
                Self::NoMatch { no_match: true, message: "No skill matches the given context.", nearest: None }
            }
            Found::Ambiguous(candidates) => Self::Ambiguous {
                ambiguous: true,
                candidates: candidates.into_iter().map(CandidateView::from).collect(),
                message: "Multiple skills match. Specify your need or pick a skill_path.",
            },
            Found::Matched(found) => Self::Matched {
                skill_path: visible(found.candidate.address),
                score: found.candidate.score,
                matched_keywords: all_visible(found.candidate.matched_keywords),
                content: found.content,
                assets: assets(found.assets),
                scripts: scripts(found.scripts),
                inherited_assets: assets(found.inherited_assets),
                inherited_scripts: scripts(found.inherited_scripts),
                listing: None,
            },
        }
    }
}

impl FoundView {
    /// The answer to a task as a person on this machine sees it.
    pub async fn local(
        found: Found,
        task: String,
        catalog: &Catalog,
        options: &Options,
        roots: &[SkillRoot],
    ) -> Result<Self, AskError> {
        let address = match &found {
            Found::Matched(found) => found.candidate.address.clone(),
            Found::Ambiguous(_) => return Ok(Self::plain(found)),
            Found::NoMatch => {
                let nearest = catalog.rank_all(move |ranker, _| ranker.nearest(&task, MAX_NEAREST)).await?;
                return Ok(Self::plain(found).with_nearest(nearest));
            }
        };
        let asked = catalog.ask_all(move |engine, snapshot| OnDisk::of(engine, snapshot, &address));
        let view = Self::plain(found);
        Ok(match asked.await? {
            None => view,
            Some(on_disk) => {
                let folder = local_folder(&on_disk.skill, roots);
                on_disk.add_to(view, folder, |file| options.runtime_of(file, Audience::Local))
            }
        })
    }

    /// Adds the skills that come closest to a task that none matches, and what to do next.
    pub fn with_nearest(mut self, skills: Vec<Summary>) -> Self {
        if let Self::NoMatch { message, nearest, .. } = &mut self {
            *message = if skills.is_empty() {
                "No skill matches the given context. Describe the task in other words, or work without a skill."
            } else {
                "No skill matches the given context. If one of `nearest` fits, call again with its skill_path; otherwise work without a skill."
            };
            let view = |skill: Summary| NearestView {
                skill_path: visible(skill.address),
                description: visible(skill.description),
            };
            *nearest = Some(skills.into_iter().map(view).collect());
        }
        self
    }

    /// Adds files, and the scripts among them that the skill does not declare. `runtime` names what runs a script.
    fn with_listing(
        mut self,
        on_disk: ListingView,
        runnable: &[String],
        runtime: impl Fn(&str) -> Option<String>,
    ) -> Self {
        if let Self::Matched { scripts, inherited_scripts, listing, .. } = &mut self {
            let undeclared = runnable.iter().filter(|file| !scripts.iter().any(|script| script.file == **file));
            let undeclared: Vec<ScriptView> = undeclared.map(|file| ScriptView::undeclared(file)).collect();
            scripts.extend(undeclared);
            for script in scripts.iter_mut().chain(inherited_scripts).filter(|script| script.execution == SERVER) {
                script.runtime = runtime(&script.file);
            }
            *listing = Some(on_disk);
        }
        self
    }
}

/// Skills named when none matches.
pub const MAX_NEAREST: u32 = 5;

/// The most files named in an answer.
const MAX_FILES: usize = 50;

/// What a matched skill has on disk.
pub struct OnDisk {
    pub skill: FoundSkill,
    files: Vec<SkillFile>,
    limits: ScriptLimits,
}

impl OnDisk {
    pub fn of(engine: &mut EngineInstance, snapshot: &Snapshot, address: &str) -> Result<Option<Self>, Broken> {
        let Ok(skill) = engine.skill_of(address, LookupKind::Path)? else { return Ok(None) };
        let limits = engine.settings_of(skill.summary.file.root)?.scripts;
        let belonging = engine.files_of(&skill.summary.file)?;
        let opened = belonging.and_then(|belonging| files::open(snapshot, &belonging));
        Ok(Some(Self { skill, files: opened.map(|opened| opened.files).unwrap_or_default(), limits }))
    }

    /// The first files, relative to its folder.
    pub fn into_files(self) -> Vec<String> {
        self.files.into_iter().take(MAX_FILES).map(|file| visible(file.path)).collect()
    }

    /// Adds the files to an answer. `folder` is where they are, and `runtime` names what runs a script.
    pub fn add_to(self, view: FoundView, folder: String, runtime: impl Fn(&str) -> Option<String>) -> FoundView {
        let Self { skill, files, limits } = self;
        let is_folder = skill.summary.model == SkillModel::Folder;
        let runs = |file: &&SkillFile| is_folder && scripts::runs_undeclared(&limits, &file.path);
        let is_script = |file: &&SkillFile| runs(file) && runtime(&file.path).is_some();
        let runnable: Vec<String> =
            files.iter().filter(is_script).take(MAX_FILES).map(|file| file.path.clone()).collect();
        let listing = ListingView {
            folder,
            files_omitted: files.len().saturating_sub(MAX_FILES),
            files: files.into_iter().take(MAX_FILES).map(|file| visible(file.path)).collect(),
        };
        view.with_listing(listing, &runnable, runtime)
    }
}

/// Returns the folder of a skill's files, or else of its Markdown file, as a path of this machine.
pub fn local_folder(skill: &FoundSkill, roots: &[SkillRoot]) -> String {
    let Location { root, path } = &skill.summary.file;
    let folder = || Location { root: *root, path: path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned() };
    let Location { root, path } = skill.resources.clone().unwrap_or_else(folder);
    let root = roots.get(root as usize).map(SkillRoot::path);
    // Collecting the components removes `.` and double separators.
    root.unwrap_or_default().join(path).components().collect::<PathBuf>().to_string_lossy().into_owned()
}

impl From<Candidate> for CandidateView {
    fn from(candidate: Candidate) -> Self {
        let Candidate { address, score, description, matched_keywords, .. } = candidate;
        let matched_keywords = all_visible(matched_keywords);
        Self { skill_path: visible(address), score, description: visible(description), matched_keywords }
    }
}

#[derive(Serialize)]
pub struct AssetView {
    pub file: String,
    pub description: String,
    pub r#type: String,
    /// The skill it is inherited from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Serialize)]
pub struct ScriptView {
    pub file: String,
    pub description: String,
    pub execution: &'static str,
    /// What runs it on the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    pub args: Vec<ArgumentView>,
    /// The skill it is inherited from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

#[derive(Serialize)]
pub struct ArgumentView {
    pub name: String,
    pub description: String,
    pub required: bool,
}

impl From<Asset> for AssetView {
    fn from(asset: Asset) -> Self {
        let Asset { file, description, kind, inherited_from, .. } = asset;
        let (file, description, from) = (visible(file), visible(description), inherited_from.map(visible));
        Self { file, description, r#type: visible(kind), from, content: None }
    }
}

impl From<Script> for ScriptView {
    fn from(script: Script) -> Self {
        let Script { file, description, execution, arguments, inherited_from, .. } = script;
        let execution = match execution {
            Execution::Claude => "claude",
            Execution::Server => SERVER,
        };
        let argument = |Argument { name, description, required }| {
            let (name, description) = (visible(name), visible(description));
            ArgumentView { name, description, required }
        };
        let args = arguments.into_iter().map(argument).collect();
        let (file, description, from) = (visible(file), visible(description), inherited_from.map(visible));
        Self { file, description, execution, runtime: None, args, from }
    }
}

/// The execution of a script that the server runs.
const SERVER: &str = "server";

impl ScriptView {
    fn undeclared(file: &str) -> Self {
        let (file, description) = (visible(file.to_owned()), String::new());
        Self { file, description, execution: SERVER, runtime: None, args: Vec::new(), from: None }
    }
}

fn all_visible(texts: Vec<String>) -> Vec<String> {
    texts.into_iter().map(visible).collect()
}
