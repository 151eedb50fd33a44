//! Every script of checked-out public skills, inside the sandbox and outside: `just public DIR…`.
//!
//! Each script is run with `--help` and without arguments. Outside means with this machine's interpreters, in a copy of the skill and
//! with a home folder of its own; that runs code of other people, so point it only at repositories you would run anyway.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde_json::Value;
use skillcell_tests::files_below;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

/// Of one run, inside and outside.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// How a script behaves inside, compared with outside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Same,
    Differs,
    /// Why it cannot do its work inside.
    Lacks(String),
}

struct Output {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn main() {
    let folders: Vec<PathBuf> =
        std::env::args().skip(1).filter(|text| !text.starts_with("--")).map(PathBuf::from).collect();
    assert!(!folders.is_empty(), "name the folders of checked-out repositories");
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (skill, script) in folders.iter().flat_map(|folder| scripts_below(folder)) {
        let text = std::fs::read_to_string(skill.join(&script)).unwrap_or_default();
        let parses_arguments = text.contains("argparse");
        let help = compare(&skill, &script, &["--help"]);
        let plain = compare(&skill, &script, &[]);
        *totals.entry("scripts").or_default() += 1;
        if parses_arguments {
            *totals.entry("argparse").or_default() += 1;
            *totals.entry("argparse: --help as outside").or_default() += usize::from(help == Verdict::Same);
        }
        *totals.entry("--help as outside").or_default() += usize::from(help == Verdict::Same);
        *totals.entry("without arguments as outside").or_default() += usize::from(plain == Verdict::Same);
        let lacks = [&help, &plain].into_iter().find_map(|verdict| match verdict {
            Verdict::Lacks(reason) => Some(reason.clone()),
            _ => None,
        });
        match lacks {
            Some(reason) => *reasons.entry(reason).or_default() += 1,
            None => *totals.entry("has everything it needs").or_default() += 1,
        }
        println!("{help:?}\t{plain:?}\t{}", skill.join(&script).display());
    }
    println!();
    for (name, count) in &totals {
        println!("{count:5} {name}");
    }
    println!("lacking:");
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (reason, count) in reasons {
        println!("{count:5} {reason}");
    }
}

/// Returns every script of every skill: the folder of the skill, and the path below it. A deeper skill owns its own scripts.
fn scripts_below(folder: &Path) -> Vec<(PathBuf, String)> {
    let files: Vec<PathBuf> = files_below(folder).into_iter().filter(|path| !path.is_symlink()).collect();
    let mut skills: Vec<PathBuf> = files
        .iter()
        .filter(|path| path.file_name() == Some("SKILL.md".as_ref()))
        .filter_map(|path| Some(path.parent()?.to_owned()))
        .collect();
    skills.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    let is_script = |path: &&PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        matches!(extension, "py" | "sh" | "js" | "mjs") && name != "__init__.py" && !name.starts_with("test_")
    };
    let owned = |path: &PathBuf| {
        let skill = skills.iter().find(|skill| path.starts_with(skill))?;
        Some((skill.clone(), path.strip_prefix(skill).ok()?.to_str()?.to_owned()))
    };
    files
        .iter()
        .filter(is_script)
        .filter_map(owned)
        .filter(|(_, script)| !script.split('/').any(|name| name.starts_with('.')))
        .collect()
}

fn compare(skill: &Path, script: &str, arguments: &[&str]) -> Verdict {
    let inside = inside(skill, script, arguments);
    if let Some(reason) = lacks(&inside) {
        return Verdict::Lacks(reason);
    }
    let outside = outside(skill, script, arguments);
    // A package that this machine lacks too says nothing about the sandbox.
    let same = inside.code == outside.code && inside.stdout == outside.stdout && inside.stderr == outside.stderr;
    if same { Verdict::Same } else { Verdict::Differs }
}

/// Recognizes what the sandbox does not have.
fn lacks(output: &Output) -> Option<String> {
    let after = |text: &str, marker: &str| {
        let rest = text.split(marker).nth(1)?;
        Some(rest.split(['\'', '"', '\n', ' ', '.']).next()?.to_owned())
    };
    let (stdout, stderr) = (&output.stdout, &output.stderr);
    if let Some(name) = after(stderr, "No module named '")
        .or_else(|| after(stdout, "pip install "))
        .or_else(|| after(stderr, "pip install "))
    {
        return Some(format!("package {name}"));
    }
    if stderr.contains("Cannot find module '") {
        return after(stderr, "Cannot find module '").map(|name| format!("package {name}"));
    }
    if let Some(line) = stderr.lines().find(|line| line.contains(": command not found")) {
        let name = line.split(": command not found").next()?.rsplit(' ').next()?;
        return Some(format!("program {name}"));
    }
    if stderr.contains("is not granted") {
        return Some("network".to_owned());
    }
    None
}

fn inside(skill: &Path, script: &str, arguments: &[&str]) -> Output {
    let name = skill.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut command = Command::new(SKILLCELL);
    command.args(["run", name, script, "--json", "--quiet", "--root"]).arg(skill).arg("--").args(arguments);
    let home = tempfile::tempdir().expect("a temporary folder");
    command.env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path()).current_dir(home.path());
    let ran = finish(command);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let text = |field: &str| normalized(result[field].as_str().unwrap_or_default(), "/skill");
    Output {
        code: result["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()),
        stdout: text("stdout"),
        stderr: if result.is_object() { text("stderr") } else { ran.stderr },
    }
}

fn outside(skill: &Path, script: &str, arguments: &[&str]) -> Output {
    let copy = tempfile::tempdir().expect("a temporary folder");
    let folder = copy.path().join("skill");
    for file in files_below(skill).into_iter().filter(|path| path.is_file()) {
        let target = folder.join(file.strip_prefix(skill).expect("it is below"));
        std::fs::create_dir_all(target.parent().expect("a folder")).expect("a writable folder");
        std::fs::copy(&file, target).expect("a writable folder");
    }
    let interpreter = match Path::new(script).extension().and_then(|extension| extension.to_str()) {
        Some("py") => "python3",
        Some("sh") => "bash",
        _ => "node",
    };
    let mut command = Command::new(interpreter);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8").env("HOME", copy.path());
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("COLUMNS", "80");
    command.arg(folder.join(script)).args(arguments).current_dir(&folder);
    let ran = finish(command);
    let place = folder.display().to_string();
    Output { code: ran.code, stdout: normalized(&ran.stdout, &place), stderr: normalized(&ran.stderr, &place) }
}

/// Runs a command without input, and stops it when it takes too long.
fn finish(mut command: Command) -> Output {
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = spawned else {
        return Output { code: None, stdout: String::new(), stderr: "not found".to_owned() };
    };
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let deadline = Instant::now() + TIME_LIMIT;
    let code = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            _ if Instant::now() > deadline => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            _ => std::thread::yield_now(),
        }
    };
    Output { code, stdout: stdout.join().unwrap_or_default(), stderr: stderr.join().unwrap_or_default() }
}

/// Removes what differs between machines and versions: places, white space, and how argparse writes options and choices.
fn normalized(text: &str, folder: &str) -> String {
    let text = text.replace(folder, "FOLDER").replace("/work", "FOLDER");
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| !word.chars().all(|letter| matches!(letter, '^' | '~'))).collect();
    let mut plain: Vec<String> = Vec::new();
    for word in words {
        // `-o OUT, --out OUT` became `-o, --out OUT` in Python 3.13.
        let is_metavar =
            word.ends_with(',') && plain.last().is_some_and(|last| last.len() == 2 && last.starts_with('-'));
        if is_metavar {
            plain.last_mut().expect("there is one").push(',');
        } else {
            plain.push(word.to_owned());
        }
    }
    plain.join(" ")
}

/// Reads a pipe to its end on another thread.
fn reader(stream: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.expect("a pipe").take(4 << 20).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
