//! The scripts of `fixtures`, run by the interpreters of this machine: `just outside`.
//!
//! The recorded output must be the output outside the sandbox. The tests compare the sandbox with the recordings.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde_json::Value;
use skillcell_tests::{
    InputFile, ScriptRun, Surroundings, files_below, put_file, repository, script_library, script_runs,
};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Runs a WASI 0.1 module; the module is the first argument.
const WASI: &str = "const { WASI } = require('node:wasi');
const args = process.argv.slice(1);
const wasi = new WASI({ version: 'preview1', args, returnOnExit: true });
WebAssembly.instantiate(require('node:fs').readFileSync(args[0]), wasi.getImportObject())
  .then(({ instance }) => { process.exitCode = wasi.start(instance); });";

/// How many runs were as recorded and how many not, by interpreter.
type Counts = BTreeMap<&'static str, (usize, usize)>;

fn main() -> ExitCode {
    let mut counts = Counts::new();
    let programs = tempfile::tempdir().expect("a temporary folder");
    let (library, surroundings) = (script_library(), Surroundings::start());
    for (skill, run) in script_runs() {
        let skill = library.path().join(&skill);
        let Some(start) = Start::of(&skill, &run.script, programs.path()) else { continue };
        compare(&mut counts, start, &skill, &run, &surroundings);
    }
    let recorded = std::fs::read_to_string(repository().join("fixtures/runtimes/shell.json")).expect("the recordings");
    let recorded: BTreeMap<String, Value> = serde_json::from_str(&recorded).expect("a map of scripts");
    let empty = tempfile::tempdir().expect("a temporary folder");
    for (script, expected) in recorded {
        let text = |field: &str| expected[field].as_str().unwrap_or_default().to_owned();
        let run = ScriptRun {
            args: BTreeMap::new(),
            argv: Vec::new(),
            stdin: String::new(),
            files: Vec::new(),
            outputs: Some(Vec::new()),
            exit_code: expected["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(-1),
            stdout: text("stdout"),
            stderr: text("stderr"),
            written: BTreeMap::new(),
            script,
        };
        let mut start = Start { takes_script: false, ..Start::with("bash", &[]) };
        start.command.arg(shell_scripts().join(&run.script));
        compare(&mut counts, start, empty.path(), &run, &surroundings);
    }
    for (interpreter, (matches, differs)) in &counts {
        println!("{interpreter}: {matches} runs as recorded, {differs} differ");
    }
    ExitCode::from(u8::from(counts.values().any(|(_, differs)| *differs > 0)))
}

fn shell_scripts() -> PathBuf {
    repository().join("fixtures/runtimes/shell")
}

/// How a script is started outside: what with, and whether that is told which script.
struct Start {
    name: &'static str,
    command: Command,
    takes_script: bool,
}

impl Start {
    fn with(name: &'static str, arguments: &[&str]) -> Self {
        let mut command = Command::new(name);
        command.args(arguments);
        Self { name, command, takes_script: true }
    }

    /// Compiled scripts have no interpreter: the component is built for this machine, from its source.
    fn of(skill: &Path, script: &str, programs: &Path) -> Option<Self> {
        match Path::new(script).extension()?.to_str()? {
            "py" => Some(Self::with("python3", &[])),
            "js" | "mjs" => Some(Self::with("node", &[])),
            "ts" => Some(Self::with("tsx", &[])),
            "sh" => Some(Self::with("bash", &[])),
            "wasm" if skill.join(script).with_extension("wat").exists() => {
                Some(Self::with("node", &["--no-warnings", "-e", WASI]))
            }
            "wasm" => {
                let name = Path::new(script).file_stem()?.to_str()?;
                let program = programs.join(name);
                if !program.exists() {
                    let source = repository().join("tests/components").join(name).join("src/main.rs");
                    let built =
                        Command::new("rustc").args(["--edition", "2024", "-o"]).arg(&program).arg(source).status();
                    assert!(built.is_ok_and(|status| status.success()), "{name} can be compiled");
                }
                Some(Self { name: "native", command: Command::new(program), takes_script: false })
            }
            _ => None,
        }
    }
}

/// Runs a script in a copy of its skill, and compares what it does with the recording.
fn compare(counts: &mut Counts, start: Start, skill: &Path, run: &ScriptRun, surroundings: &Surroundings) {
    let Start { name, mut command, takes_script } = start;
    let place = tempfile::tempdir().expect("a temporary folder");
    let place = place.path().canonicalize().expect("a temporary folder");
    let (folder, temporary) = (place.join("skill"), place.join("tmp"));
    for folder in [&folder, &temporary] {
        std::fs::create_dir(folder).expect("a writable folder");
    }
    for file in files_below(skill) {
        let path = file.strip_prefix(skill).ok().and_then(Path::to_str).expect("it is below");
        put_file(&folder, path, std::fs::read(&file).expect("a readable file"));
    }
    for file in &run.files {
        put_file(&folder, &file.path, InputFile::bytes(file));
    }
    let before = contents(&folder);
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    let variables = run.args.iter().map(|(name, value)| {
        let name: String = name.chars().map(letter).collect();
        (format!("SKILL_ARG_{name}"), value)
    });
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
    command.env("HOME", &temporary).env("TMPDIR", &temporary).env("PWD", &folder).env("SKILL_DIR", &folder);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPATH", &surroundings.wheel).envs(variables);
    if takes_script {
        command.arg(folder.join(&run.script));
    }
    command.args(surroundings.argv(run)).current_dir(&folder);
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = spawned else { return };
    // A script may end before it reads everything.
    let _ = child.stdin.take().expect("a pipe").write_all(run.stdin.as_bytes());
    let output = child.wait_with_output().expect("it was started");
    let places = [folder.as_path(), &temporary, &shell_scripts()].map(|place| place.display().to_string());
    let plain = |text: &str| {
        let places = places.iter().map(String::as_str).chain(["/skill", "/work", "/tmp"]);
        places.fold(text.to_owned(), |text, place| text.replace(place, "FOLDER"))
    };
    let printed = |bytes: &[u8]| plain(&String::from_utf8_lossy(bytes));
    let written: BTreeMap<String, String> = contents(&folder)
        .into_iter()
        .filter(|(path, bytes)| run.outputs.is_none() && before.get(path) != Some(bytes))
        .map(|(path, bytes)| (path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()))
        .collect();
    let matches = output.status.code() == Some(run.exit_code)
        && printed(&output.stdout) == plain(&run.stdout)
        && printed(&output.stderr) == plain(&run.stderr)
        && (run.outputs.is_some() || written == run.written);
    let counts = counts.entry(name).or_default();
    if matches {
        counts.0 += 1;
    } else {
        counts.1 += 1;
        let (stdout, stderr) = (printed(&output.stdout), printed(&output.stderr));
        println!("{} {:?} differs: {}\n{stdout}{stderr}{written:?}", run.script, run.argv, output.status);
    }
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let relative = |file: PathBuf| file.strip_prefix(folder).expect("it is below").to_owned();
    files_below(folder)
        .into_iter()
        .map(|file| (relative(file.clone()), std::fs::read(file).unwrap_or_default()))
        .collect()
}
