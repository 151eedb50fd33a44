//! The scripts of `fixtures`, run by the interpreters of this machine: `just outside`.
//!
//! The recorded output must be the output outside the sandbox. The tests compare the sandbox with the recordings.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde_json::Value;
use skillcell_tests::repository;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let mut counts_by_interpreter: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for entry in std::fs::read_dir(repository().join("fixtures/scripts")).expect("the fixtures exist").flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path().join("runs.json")) else { continue };
        let runs: Vec<Value> = serde_json::from_str(&text).expect("a list of runs");
        for run in runs {
            let script = entry.path().join(run["script"].as_str().expect("a path"));
            let Some(interpreter) = interpreter(&script) else { continue };
            let arguments = run["args"].as_object().expect("named arguments");
            let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
            let variables = arguments.iter().map(|(name, value)| {
                let name: String = name.chars().map(letter).collect();
                (format!("SKILL_ARG_{name}"), value.as_str().unwrap_or_default().to_owned())
            });
            compare(&mut counts_by_interpreter, interpreter, &script, &entry.path(), variables.collect(), &run);
        }
    }
    let recorded = std::fs::read_to_string(repository().join("fixtures/runtimes/shell.json")).expect("the recordings");
    let recorded: BTreeMap<String, Value> = serde_json::from_str(&recorded).expect("a map of scripts");
    for (name, expected) in recorded {
        let script = repository().join("fixtures/runtimes/shell").join(&name);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = folder.path().display().to_string();
        let variables = vec![("HOME".to_owned(), home.clone()), ("TMPDIR".to_owned(), home)];
        compare(&mut counts_by_interpreter, "bash", &script, folder.path(), variables, &expected);
    }
    for (interpreter, (matches, differs)) in &counts_by_interpreter {
        println!("{interpreter}: {matches} runs as recorded, {differs} differ");
    }
    ExitCode::from(u8::from(counts_by_interpreter.values().any(|(_, differs)| *differs > 0)))
}

fn interpreter(script: &Path) -> Option<&'static str> {
    match script.extension()?.to_str()? {
        "py" => Some("python3"),
        "js" | "mjs" => Some("node"),
        "sh" => Some("bash"),
        _ => None,
    }
}

fn compare<'a>(
    counts_by_interpreter: &mut BTreeMap<&'a str, (usize, usize)>,
    interpreter: &'a str,
    script: &Path,
    folder: &Path,
    variables: Vec<(String, String)>,
    expected: &Value,
) {
    let mut command = Command::new(interpreter);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
    command.env("HOME", "/tmp").env("TMPDIR", "/tmp").env("PWD", folder).env("SKILL_DIR", folder);
    command.env("PYTHONDONTWRITEBYTECODE", "1").envs(variables);
    let Ok(output) = command.arg(script).current_dir(folder).stdin(Stdio::null()).output() else { return };
    let name = script.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let normalize = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&script.display().to_string(), &format!("/skill/{name}"));
        text.replace(&folder.display().to_string(), "FOLDER").replace("/tmp", "FOLDER")
    };
    let expected_text = |field: &str| expected[field].as_str().unwrap_or_default().replace("/tmp", "FOLDER");
    let matches = normalize(&output.stdout) == expected_text("stdout")
        && normalize(&output.stderr) == expected_text("stderr")
        && output.status.code().map(i64::from) == expected["exit_code"].as_i64();
    let counts = counts_by_interpreter.entry(interpreter).or_default();
    if matches {
        counts.0 += 1;
    } else {
        counts.1 += 1;
        println!("{} differs:\n{}{}", script.display(), normalize(&output.stdout), normalize(&output.stderr));
    }
}
