//! The languages of scripts, compared with the usual interpreters.

use crate::scripts::skill;
use crate::serve;
use serde_json::{Value, json};
use skillcell_tests::{files_below, repository};
use std::path::{Path, PathBuf};

/// Returns the scripts of a folder in `fixtures/runtimes`, sorted.
fn scripts(language: &str) -> Vec<PathBuf> {
    let folder = repository().join("fixtures/runtimes").join(language);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<PathBuf> =
        entries.filter(|path| path.is_file() && path.extension() != Some("md".as_ref())).collect();
    scripts.sort();
    scripts
}

/// Creates a skill with all files of a folder as scripts.
fn skill_from(folder: &Path) -> tempfile::TempDir {
    let read = |path: PathBuf| {
        let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(&path).unwrap())
    };
    let files: Vec<(String, String)> = files_below(folder).into_iter().map(read).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    skill(&files)
}

#[test]
fn shell_scripts_behave_as_in_bash() {
    let folder = skill_from(&repository().join("fixtures/runtimes/shell"));
    let recorded = std::fs::read_to_string(repository().join("fixtures/runtimes/shell.json")).unwrap();
    let recorded: Value = serde_json::from_str(&recorded).unwrap();
    let work = tempfile::tempdir().unwrap();
    // Hidden files are protected unless the grant names them.
    let named =
        ["", "find2.sh/p/.hidden", "globs.sh/g/.hidden", "ls-long.sh/d/.dot"].map(|path| work.path().join(path));
    let named = named.map(|path| path.display().to_string()).join(", ");
    let grant = format!("grants: {{{}: {{tool: {{write: [{named}]}}}}}}", folder.path().display());
    let mut session = serve(folder.path()).config(&grant).start();
    let mut mismatches = Vec::new();
    for script in scripts("shell") {
        let name = script.file_name().unwrap().to_str().unwrap().to_owned();
        let project = work.path().join(&name);
        std::fs::create_dir(&project).unwrap();
        let arguments = json!({"skill_path": "tool", "file": name, "args": {}, "cwd": project});
        let result = session.call_json("run_script", arguments);
        let normalize = |text: &Value| text.as_str().unwrap().replace("/work", "FOLDER").replace("/tmp", "FOLDER");
        let found = json!({
            "stdout": normalize(&result["stdout"]), "stderr": normalize(&result["stderr"]), "exit_code": result["exit_code"],
        });
        if found != recorded[&name] {
            mismatches.push(format!("{name}\n  sandbox: {found}\n  bash:    {}", recorded[&name]));
        }
    }
    assert!(mismatches.is_empty(), "{} scripts end differently:\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn javascript_scripts_find_the_features_of_node() {
    let folder = skill_from(&repository().join("fixtures/runtimes/javascript"));
    let mut session = serve(folder.path()).start();
    for script in scripts("javascript") {
        let name = script.file_name().unwrap().to_str().unwrap();
        let result = session.call_json("run_script", json!({"skill_path": "tool", "file": name, "args": {}}));
        // A name such as `exits-3.js` has the expected exit code.
        let stem = script.file_stem().unwrap().to_str().unwrap();
        let expected = stem.rsplit_once("exits-").map_or(0, |(_, code)| code.parse().unwrap());
        assert_eq!(result["exit_code"], json!(expected), "{name}: {result}");
    }
}

#[test]
fn every_runtime_runs_the_extensions_in_its_manifest() {
    for entry in std::fs::read_dir(repository().join("plugins/runtimes")).unwrap() {
        let manifest = std::fs::read_to_string(entry.unwrap().path().join("plugin.yaml")).unwrap();
        let field = |name: &str| manifest.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
        let extensions = field("extensions:").trim_matches(['[', ']']).split(", ");
        let files: Vec<String> = extensions.map(|extension| format!("a{extension}")).collect();
        let scripts: Vec<(&str, &str)> = files.iter().map(|file| (file.as_str(), "")).collect();
        let folder = skill(&scripts);
        let mut session = serve(folder.path()).start();
        for (file, _) in scripts {
            let request = json!({"skill_path": "tool", "file": file, "args": {}, "dry_run": true});
            assert_eq!(session.call_json("run_script", request)["runtime"], field("name:"), "{file}");
        }
    }
}
