//! The languages of scripts, compared with the interpreters that authors know.

use crate::scripts::skill;
use crate::serve;
use serde_json::{Value, json};
use skillcell_tests::repository;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The scripts of a folder in `fixtures/runtimes`, by name.
fn scripts(language: &str) -> Vec<PathBuf> {
    let folder = repository().join("fixtures/runtimes").join(language);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<PathBuf> =
        entries.filter(|path| path.is_file() && path.extension() != Some("md".as_ref())).collect();
    scripts.sort();
    scripts
}

/// A skill with these scripts, and what they import.
fn skill_of(folder: &Path) -> tempfile::TempDir {
    let mut files = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.push((name, String::from_utf8(std::fs::read(&path).unwrap()).unwrap()));
            }
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    skill(&files)
}

#[test]
fn shell_scripts_end_as_in_bash_with_the_same_output() {
    let folder = skill_of(&repository().join("fixtures/runtimes/shell"));
    let mut wrong = Vec::new();
    let work = tempfile::tempdir().unwrap();
    let grant = format!("grants: {{{}: {{tool: {{write: [{}]}}}}}}", folder.path().display(), work.path().display());
    let mut session = serve(folder.path()).config(&grant).start();
    for script in scripts("shell") {
        let name = script.file_name().unwrap().to_str().unwrap().to_owned();
        let fresh = |kind: &str| {
            let path = work.path().join(format!("{name}-{kind}"));
            std::fs::create_dir(&path).unwrap();
            path
        };
        let (here, there) = (fresh("sandbox"), fresh("bash"));
        let arguments = json!({"skill_path": "tool", "file": name, "args": {}, "cwd": here});
        let result = session.call_json("run_script", arguments);
        let bash = Command::new("bash")
            .arg(&script)
            .current_dir(&there)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .env("PWD", &there)
            .env("HOME", &there)
            .env("TMPDIR", &there)
            .stdin(Stdio::null())
            .output()
            .expect("there is a bash");
        let sandboxed = |text: &Value| text.as_str().unwrap().replace("/work", "FOLDER").replace("/tmp", "FOLDER");
        let outside = |bytes: &[u8]| {
            let text =
                String::from_utf8_lossy(bytes).replace(there.to_str().unwrap(), "FOLDER").replace("/tmp", "FOLDER");
            text.replace(script.to_str().unwrap(), &format!("/skill/{name}"))
        };
        let found = (sandboxed(&result["stdout"]), sandboxed(&result["stderr"]), result["exit_code"].as_i64());
        let expected = (outside(&bash.stdout), outside(&bash.stderr), bash.status.code().map(i64::from));
        if found != expected {
            wrong.push(format!("{name}\n  sandbox: {found:?}\n  bash:    {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} scripts end differently:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn scripts_that_check_javascript_themselves_find_what_node_has() {
    let folder = skill_of(&repository().join("fixtures/runtimes/javascript"));
    let mut session = serve(folder.path()).start();
    for script in scripts("javascript") {
        let name = script.file_name().unwrap().to_str().unwrap();
        let result = session.call_json("run_script", json!({"skill_path": "tool", "file": name, "args": {}}));
        // A name such as `exits-3.js` says which code the script ends with.
        let stem = script.file_stem().unwrap().to_str().unwrap();
        let expected = stem.rsplit_once("exits-").map_or(0, |(_, code)| code.parse().unwrap());
        assert_eq!(result["exit_code"], json!(expected), "{name}: {result}");
    }
}
