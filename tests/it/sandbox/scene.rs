//! The environment of hostile scripts: skills, secrets outside of them, links to the secrets, and checks of a run.

use crate::{SMALL, serve, still_answers};
use serde_json::{Value, json};
use skillcell_tests::{Session, component, repository, write_files};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Everything that runs scripts. The guest is itself a script.
pub const RUNTIMES: [&str; 4] = ["python", "javascript", "shell", "guest"];

/// The hostile skills, with secrets around them and links to the secrets.
pub struct Scene {
    pub folder: TempDir,
}

impl Scene {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let scene = Self { folder };
        let fixtures = repository().join("fixtures/hostile");
        for runtime in ["python", "javascript", "shell"] {
            let name = format!("hostile-{runtime}");
            copy(&fixtures.join(&name), &scene.library().join(&name));
        }
        let guest = fs::read(component("hostile-guest")).unwrap();
        scene.add_programs("hostile-guest", &[("guest".to_owned(), guest)]);
        let assembled = |name: String| {
            let bytes = wat::parse_file(fixtures.join(format!("wat/{name}.wat"))).unwrap();
            (name, bytes)
        };
        let modules: Vec<(String, Vec<u8>)> = module_names().into_iter().map(assembled).collect();
        scene.add_programs("modules", &modules);
        write_files(&scene.library(), &SMALL);
        write_files(scene.path(), &[("secret.txt", "hunter2"), ("secret.js", "module.exports = 'hunter2'")]);
        write_files(scene.path(), &[("outside/secret.txt", "hunter2")]);
        for runtime in RUNTIMES {
            let skill = scene.skill(runtime);
            symlink(scene.path().join("secret.txt"), skill.join("link")).unwrap();
            symlink(scene.path().join("outside"), skill.join("folder-link")).unwrap();
            symlink("../..", skill.join("up")).unwrap();
            symlink("../../../../../../../../../../etc", skill.join("etc")).unwrap();
            fs::create_dir(skill.join("empty")).unwrap();
            write_files(&skill, &[("race/secret.txt", "fine")]);
            let project = scene.project(runtime);
            write_files(&project, &[(".git/config", "honest"), ("race/secret.txt", "fine")]);
            symlink(scene.path().join("outside"), project.join("out")).unwrap();
            symlink(scene.path().join("outside/file"), project.join("out-file")).unwrap();
        }
        scene
    }

    /// Adds a skill whose scripts are WebAssembly.
    pub fn add_programs(&self, skill: &str, programs: &[(String, Vec<u8>)]) {
        let scripts = self.library().join(skill).join("scripts");
        fs::create_dir_all(&scripts).unwrap();
        let declared = |(name, _): &(String, Vec<u8>)| {
            format!("  - {{file: scripts/{name}.wasm, description: d, execution: server}}\n")
        };
        let declared: String = programs.iter().map(declared).collect();
        let text = format!("---\nname: {skill}\ndescription: Attempts as programs\nscripts:\n{declared}---\n");
        fs::write(self.library().join(skill).join("SKILL.md"), text).unwrap();
        for (name, bytes) in programs {
            fs::write(scripts.join(format!("{name}.wasm")), bytes).unwrap();
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn library(&self) -> PathBuf {
        self.path().join("library")
    }

    pub fn skill(&self, runtime: &str) -> PathBuf {
        self.library().join(format!("hostile-{runtime}"))
    }

    /// Returns the project of a runtime.
    pub fn project(&self, runtime: &str) -> PathBuf {
        self.path().join(format!("project-{runtime}"))
    }

    /// Starts a server with a secret in its environment. More scripts run concurrently than there are cores.
    pub fn serve(&self, limits: &str) -> Session {
        let config = format!("scripts: {{runs_at_once: 16, {limits}}}");
        serve(&self.library()).env("SECRET", "hunter2").config(&config).with_shared_cache().start()
    }

    /// Returns all files with their contents, and links with their targets.
    pub fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut tree = BTreeMap::new();
        let mut unvisited = vec![self.path().to_owned()];
        while let Some(folder) = unvisited.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = fs::symlink_metadata(&path).unwrap().file_type();
                let content = if kind.is_symlink() {
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                } else if kind.is_dir() {
                    unvisited.push(path.clone());
                    Vec::new()
                } else {
                    fs::read(&path).unwrap()
                };
                tree.insert(path.strip_prefix(self.path()).unwrap().to_owned(), content);
            }
        }
        tree
    }
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns the names of the WASI 0.1 modules in `fixtures/hostile/wat`.
pub fn module_names() -> Vec<String> {
    let listed = fs::read_dir(repository().join("fixtures/hostile/wat")).unwrap();
    listed.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// A request for a script, and its name in error messages.
pub struct Attempt {
    pub name: String,
    pub runtime: &'static str,
    pub request: Value,
}

impl Attempt {
    #[expect(clippy::needless_pass_by_value, reason = "tests read better without `&`")]
    pub fn new(runtime: &'static str, attempt: &str, args: Value) -> Self {
        let mut args = args.as_object().cloned().unwrap_or_default();
        let file = match runtime {
            "python" => format!("scripts/{attempt}.py"),
            // Top-level `await` needs a module.
            "javascript" if attempt == "connect" => "scripts/connect.mjs".to_owned(),
            "javascript" => format!("scripts/{attempt}.js"),
            "shell" => format!("scripts/{attempt}.sh"),
            _ => {
                args.insert("attempt".to_owned(), json!(attempt));
                "scripts/guest.wasm".to_owned()
            }
        };
        let request = json!({"skill_path": format!("hostile-{runtime}"), "file": file, "args": args});
        Self { name: format!("{attempt} in {runtime}"), runtime, request }
    }

    pub fn module(name: &str) -> Self {
        let request = json!({"skill_path": "modules", "file": format!("scripts/{name}.wasm"), "args": {}});
        Self { name: format!("module {name}"), runtime: "module", request }
    }

    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.request["cwd"] = json!(folder);
        self
    }

    /// Returns the expected exit code: WASI 0.2 reports only success or failure.
    pub fn code(&self, code: i64) -> i64 {
        if self.runtime == "guest" { i64::from(code != 0) } else { code }
    }
}

/// Returns an attempt for each runtime.
#[expect(clippy::needless_pass_by_value, reason = "tests read better without `&`")]
pub fn in_every_runtime(attempt: &str, args: Value) -> Vec<Attempt> {
    RUNTIMES.into_iter().map(|runtime| Attempt::new(runtime, attempt, args.clone())).collect()
}

/// The outcome of a run.
pub struct Outcome {
    pub name: String,
    pub result: Value,
}

impl Outcome {
    pub fn new(name: String, message: &Value) -> Self {
        let blocks = message["result"]["content"].as_array().unwrap_or_else(|| panic!("{name}: {message}"));
        let texts = blocks.iter().filter_map(|block| block["text"].as_str());
        let result = texts.filter_map(|text| serde_json::from_str(text).ok()).next_back();
        let outcome = Self { result: result.unwrap_or_else(|| panic!("{name}: {message}")), name };
        for secret in ["hunter2", "root:", "BROKEN"] {
            assert!(!outcome.output().contains(secret), "{outcome}");
        }
        outcome
    }

    pub fn text(&self, field: &str) -> &str {
        self.result[field].as_str().unwrap_or_else(|| panic!("no {field}: {self}"))
    }

    /// Returns stdout and stderr.
    pub fn output(&self) -> String {
        format!("{}{}", self.text("stdout"), self.text("stderr"))
    }

    pub fn held_count(&self) -> usize {
        self.text("stdout").lines().filter(|line| line.starts_with("held")).count()
    }

    pub fn ended_with(&self, code: i64) -> &Self {
        assert_eq!(self.result["exit_code"], code, "{self}");
        assert_eq!(self.result["success"], code == 0, "{self}");
        self
    }

    pub fn hit_limit(&self, limit: Option<&str>) -> &Self {
        assert_eq!(self.result["limit_hit"].as_str(), limit, "{self}");
        self
    }

    pub fn was_refused(&self, part: &str) -> &Self {
        assert!(self.result["refusals"].to_string().contains(part), "`{part}` was not refused: {self}");
        self
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {:.3000}", self.name, self.result.to_string())
    }
}

pub fn post(session: &mut Session, attempts: Vec<Attempt>) -> Vec<(Attempt, Value)> {
    let post = |attempt: Attempt| {
        let params = json!({"name": "run_script", "arguments": attempt.request});
        let id = session.post("tools/call", params);
        (attempt, id)
    };
    attempts.into_iter().map(post).collect()
}

pub fn wait(session: &mut Session, posted: Vec<(Attempt, Value)>) -> Vec<(Attempt, Outcome)> {
    let wait = |(attempt, id): (Attempt, Value)| {
        let outcome = Outcome::new(attempt.name.clone(), &session.answer(&id));
        (attempt, outcome)
    };
    posted.into_iter().map(wait).collect()
}

/// Runs attempts concurrently, and checks that the server answers other requests in the meantime and afterwards.
pub fn run(session: &mut Session, attempts: Vec<Attempt>) -> Vec<(Attempt, Outcome)> {
    let posted = post(session, attempts);
    still_answers(session);
    let outcome = wait(session, posted);
    still_answers(session);
    outcome
}
