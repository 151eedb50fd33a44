//! The runs that are recorded in `fixtures/scripts`.

use crate::wheels::{Index, Reply, Wheel};
use crate::{component, files_below, put_file, repository};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One run: what is handed to a script, and what it has to do with it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptRun {
    /// A path in the skill.
    pub script: String,
    #[serde(default)]
    pub args: BTreeMap<String, String>,
    /// `{url}` stands for the service of [`Surroundings`].
    #[serde(default)]
    pub argv: Vec<String>,
    #[serde(default)]
    pub stdin: String,
    #[serde(default)]
    pub files: Vec<InputFile>,
    pub outputs: Option<Vec<String>>,
    pub exit_code: i32,
    pub stdout: String,
    pub stderr: String,
    /// The files that were created or changed, and their text.
    #[serde(default)]
    pub written: BTreeMap<String, String>,
}

/// A file that the caller passes along.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct InputFile {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

impl InputFile {
    pub fn bytes(&self) -> Vec<u8> {
        match (&self.text, &self.base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(base64)) => BASE64_STANDARD.decode(base64).expect("base64"),
            (None, None) => panic!("{} has neither text nor base64", self.path),
        }
    }
}

fn folder() -> PathBuf {
    repository().join("fixtures/scripts")
}

/// Every recorded run, with the name of its skill.
pub fn script_runs() -> Vec<(String, ScriptRun)> {
    let mut runs = Vec::new();
    for file in files_below(&folder()).into_iter().filter(|file| file.ends_with("runs.json")) {
        let skill = file.parent().and_then(Path::file_name).and_then(|name| name.to_str()).expect("a folder");
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let list: Vec<ScriptRun> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        runs.extend(list.into_iter().map(|run| (skill.to_owned(), run)));
    }
    assert!(runs.len() > 200, "the fixtures are missing");
    runs
}

/// What scripts find outside their skills: a service that has the files in `served` of a skill, and the package in `package` of one.
pub struct Surroundings {
    service: Index,
    pub wheel: PathBuf,
    _folder: tempfile::TempDir,
}

impl Surroundings {
    pub fn start() -> Self {
        let service = Index::start();
        let served = folder().join("rates/served");
        for file in files_below(&served) {
            let path = file.strip_prefix(&served).expect("it is below").display().to_string();
            let bytes = std::fs::read(&file).expect("a readable file");
            service.set(&format!("/{path}"), Reply::Content { kind: "application/json", bytes });
        }
        let package = folder().join("ledger/package");
        let mut wheel = Wheel::new("moneytext", "1.0");
        for file in files_below(&package) {
            let path = file.strip_prefix(&package).expect("it is below").display().to_string();
            wheel = wheel.file(&path, std::fs::read(&file).expect("a readable file"));
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { service, wheel: wheel.write(folder.path()), _folder: folder }
    }

    /// The host and the port of the service.
    pub fn host(&self) -> String {
        self.service.address().to_string()
    }

    /// Fills in the arguments of a run.
    pub fn argv(&self, run: &ScriptRun) -> Vec<String> {
        let url = format!("http://{}", self.host());
        run.argv.iter().map(|text| text.replace("{url}", &url)).collect()
    }
}

/// The skills of `fixtures/scripts` in a folder of their own, with the scripts that have to be compiled.
pub fn script_library() -> tempfile::TempDir {
    let library = tempfile::tempdir().expect("a temporary folder");
    for file in files_below(&folder()) {
        let path = file.strip_prefix(folder()).ok().and_then(Path::to_str).expect("it is below");
        put_file(library.path(), path, std::fs::read(&file).expect("a readable file"));
    }
    let scripts = library.path().join("tally/scripts");
    put_file(&scripts, "rot13.wasm", wat::parse_file(scripts.join("rot13.wat")).expect("a module"));
    put_file(&scripts, "tally.wasm", std::fs::read(component("tally")).expect("a component"));
    library
}
