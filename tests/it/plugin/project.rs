//! `skillcell plugin new`: a project that really builds, passes its own test and ranks skills.

use super::{check, output_text, plugin};
use crate::{SKILLCELL, library};
use serde_json::json;
use skillcell_tests::{Launch, files_below, repository};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc;
use std::time::Duration;

/// Timeout, far longer than a build of all crates takes.
const PATIENCE: Duration = Duration::from_mins(15);

/// Link-time optimization makes components small, and costs a test ten seconds.
const WITHOUT_LTO: &str = r#"target.'cfg(not(target_family = "wasm"))'.rustflags=['-Clto=off']"#;

/// A new project, whose builds share the target folder of the server's own guests.
struct Project {
    folder: PathBuf,
    target: PathBuf,
}

impl Project {
    fn new(name: &str) -> Self {
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let target = temporary.parent().expect("cargo's folder").join("guests");
        // Always the same folder, so that a second run reuses the first build.
        let into = temporary.join("plugin-new");
        let _ = std::fs::remove_dir_all(&into);
        std::fs::create_dir_all(&into).unwrap();
        let output = plugin(&["new", name, "--kind", "scorer", "--into"]).arg(&into).output();
        assert!(output.status.success(), "{}", output_text(&output));
        let folder = into.join(name);
        // The locked versions are on this machine, so cargo works offline.
        std::fs::copy(repository().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        Self { folder, target }
    }

    /// Runs cargo in the project. Its release profile has the name under which macros were built before, which saves half a
    /// minute.
    fn cargo(&self, arguments: &[&str]) -> Output {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(arguments).args(["--offline", "--profile", "guest", "--config", "profile.guest.inherits='release'"]);
        cargo.arg("--target-dir").arg(&self.target).current_dir(&self.folder);
        for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_TARGET"] {
            cargo.env_remove(name);
        }
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(cargo.output()));
        receiver.recv_timeout(PATIENCE).expect("cargo finishes").expect("cargo starts")
    }

    /// Builds the component, and copies it so that later builds do not change it.
    fn build(&self) -> PathBuf {
        let output = self.cargo(&["build", "--target", "wasm32-wasip2"]);
        assert!(output.status.success(), "{}", output_text(&output));
        let file = self.folder.join("built.wasm");
        std::fs::copy(self.target.join("wasm32-wasip2/guest/word_count.wasm"), &file).unwrap();
        file
    }

    /// Puts a mistake into the source.
    fn replace_source(&self, before: &str, after: &str) {
        let file = self.folder.join("src/lib.rs");
        let source = std::fs::read_to_string(&file).unwrap();
        assert!(source.contains(before), "the template has no `{before}`");
        std::fs::write(file, source.replace(before, after)).unwrap();
    }
}

#[test]
fn a_new_project_builds_passes_its_own_test_and_ranks_skills() {
    let project = Project::new("word-count");
    let built = project.build();
    let (report, code) = check(&built);
    assert_eq!((&report["world"], &report["problems"], code), (&json!("scorer"), &json!([]), Some(0)), "{report:#}");
    // On a busy machine, an answer with a thousand skills may be slow sometimes.
    assert!((0..10).any(|_| check(&built).0["remarks"] == json!([])), "slow with a thousand skills: {report:#}");

    let tested = project.cargo(&["test", "--target", "host-tuple", "--config", WITHOUT_LTO]);
    assert!(tested.status.success() && output_text(&tested).contains("3 passed"), "{}", output_text(&tested));

    // Both skills have the words; in the name they count more.
    let folder = library(&[
        ("notes.md", "---\nkeywords: [note]\ndescription: How to write a login form\n---\nText.\n"),
        ("login-form.md", "---\nkeywords: [screen, page, mask]\ndescription: Screens\n---\nText.\n"),
    ]);
    let output = Launch::bare(SKILLCELL).arg("match").arg("login form").arg("--json").arg("--scorer").arg(&built);
    let output = output.arg("--root").arg(folder.path()).output();
    let found: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", output_text(&output)));
    assert_eq!((&found["skill_path"], &found["score"]), (&json!("login-form"), &json!(1.0)), "{found:#}");
    assert_eq!(found["explain"]["scorer"], "built.wasm");

    // A changed skill keeps its old words, in a hash map that needs a random seed.
    project.replace_source("BTreeMap<String, f64>", "std::collections::HashMap<String, f64>");
    project.replace_source("let mut weights = BTreeMap::new();", "let mut weights = std::collections::HashMap::new();");
    project.replace_source(
        "self.skills.insert(skill.number, weighted_words(&skill))",
        "{ self.skills.entry(skill.number).or_default().extend(weighted_words(&skill)); None }",
    );
    let (report, code) = check(&project.build());
    assert_eq!(code, Some(1), "{report:#}");
    assert!(report.to_string().contains("wasi:random/insecure-seed@"), "{report:#}");
    assert!(report["problems"][0].as_str().unwrap().contains("received the same skills at once"), "{report:#}");

    project.replace_source(
        "TextChange::Gone(number) => self.skills.remove(&number)",
        "TextChange::Gone(_) => self.skills.remove(&u32::MAX)",
    );
    let (report, code) = check(&project.build());
    assert_eq!(code, Some(1), "{report:#}");
    assert!(report["problems"][0].as_str().unwrap().contains("8 scores for 6 skills"), "{report:#}");
}

#[test]
fn a_project_has_the_current_wit_files_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let new = || plugin(&["new", "my-words"]).folder(folder.path()).output();
    let output = new();
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    assert!(output_text(&output).contains("cargo build --release --target wasm32-wasip2"), "{}", output_text(&output));
    let project = folder.path().join("my-words");
    for file in ["scoring.wit", "types.wit", "log.wit", "model.wit"] {
        let ours = std::fs::read(repository().join("wit").join(file)).unwrap();
        assert_eq!(std::fs::read(project.join("wit").join(file)).unwrap(), ours, "{file}");
    }
    let template = repository().join("plugins/template/scorer");
    let names = |folder: &Path| -> Vec<PathBuf> {
        files_below(folder).iter().map(|file| file.strip_prefix(folder).unwrap().to_owned()).collect()
    };
    let mut expected = names(&template);
    expected
        .extend(["log", "model", "scoring", "types", "worlds"].map(|name| PathBuf::from(format!("wit/{name}.wit"))));
    expected.sort();
    assert_eq!(names(&project), expected, "every file of the template, and the WIT files");

    std::fs::write(project.join("src/lib.rs"), "mine").unwrap();
    let again = new();
    assert_eq!(again.status.code(), Some(2), "{}", output_text(&again));
    assert!(output_text(&again).contains("already exists"), "{}", output_text(&again));
    assert_eq!(std::fs::read_to_string(project.join("src/lib.rs")).unwrap(), "mine");
}

#[test]
fn a_wrong_name_kind_or_folder_creates_nothing() {
    let folder = library(&[("file", "text")]);
    std::os::unix::fs::symlink("nowhere", folder.path().join("dangling")).unwrap();
    let before = files_below(folder.path());
    let wrong: [&[&str]; 8] = [
        &["new", "../up"],
        &["new", ""],
        &["new", "Name"],
        &["new", "file"],
        &["new", "dangling"],
        &["new", "fine", "--kind", "poem"],
        &["new", "fine", "--into", "missing"],
        &["new", "fine", "--into", "file"],
    ];
    for arguments in wrong {
        let output = plugin(arguments).folder(folder.path()).output();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", output_text(&output));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    assert_eq!(files_below(folder.path()), before);
}
