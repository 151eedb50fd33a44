//! Every script of checked-out public skills, inside the sandbox and outside: `just public [--python FILE] [--home DIR] DIR…`.
//!
//! Each script is run with `--help` and without arguments. Outside means with this machine's interpreters, in a copy of the skill and
//! with a home folder of its own; that runs code of other people, so point it only at repositories you would run anyway.
//!
//! `--python` names the interpreter outside. If its version is that of the sandbox, outputs are compared as they are; otherwise what versions
//! of argparse and of tracebacks word differently is forgiven. `--home` is the home folder of the runs inside, with the packages that were added there.

#![expect(clippy::print_stdout, reason = "a report for people")]

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use skillcell_tests::files_below;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

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

/// What scripts are run with.
struct Bench {
    python: String,
    /// Whether Python has the same version inside and outside.
    same_version: bool,
    home: PathBuf,
}

/// How the scripts of one repository fared.
#[derive(Default)]
struct Tally {
    scripts: usize,
    same_help: usize,
    argparse: usize,
    argparse_same_help: usize,
    same_without_arguments: usize,
    complete: usize,
    lacking: BTreeMap<String, usize>,
}

fn main() {
    let empty = tempfile::tempdir().expect("a temporary folder");
    let mut bench = Bench { python: "python3".to_owned(), same_version: false, home: empty.path().to_owned() };
    let mut folders = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--python" => bench.python = arguments.next().expect("--python FILE"),
            "--home" => bench.home = arguments.next().expect("--home DIR").into(),
            // Cargo passes options of its own.
            option if option.starts_with("--") => {}
            _ => folders.push(PathBuf::from(argument)),
        }
    }
    assert!(!folders.is_empty(), "name the folders of checked-out repositories");
    let (inside, outside) = bench.python_versions();
    bench.same_version = inside == outside;
    println!("Python {inside} inside, {outside} outside");
    let mut all = Tally::default();
    for folder in &folders {
        let mut tally = Tally::default();
        for (skill, script) in scripts_below(folder) {
            let help = bench.compare(&skill, &script, &["--help"]);
            let plain = bench.compare(&skill, &script, &[]);
            println!("{help:?}\t{plain:?}\t{}", skill.join(&script).display());
            let text = std::fs::read_to_string(skill.join(&script)).unwrap_or_default();
            for tally in [&mut tally, &mut all] {
                tally.count(&help, &plain, text.contains("argparse"));
            }
        }
        tally.print(&folder.display().to_string());
    }
    if folders.len() > 1 {
        all.print("all");
    }
}

impl Tally {
    fn count(&mut self, help: &Verdict, plain: &Verdict, is_argparse: bool) {
        let same_help = usize::from(*help == Verdict::Same);
        self.scripts += 1;
        self.same_help += same_help;
        self.same_without_arguments += usize::from(*plain == Verdict::Same);
        if is_argparse {
            self.argparse += 1;
            self.argparse_same_help += same_help;
        }
        match (help, plain) {
            (Verdict::Lacks(reason), _) | (_, Verdict::Lacks(reason)) => {
                *self.lacking.entry(reason.clone()).or_default() += 1;
            }
            _ => self.complete += 1,
        }
    }

    fn print(&self, name: &str) {
        let of = |count: usize, all: usize| format!("{count:5} of {all} ({} %)", count * 100 / all.max(1));
        println!("\n{name}");
        println!("{} have everything they need", of(self.complete, self.scripts));
        println!("{} with argparse answer --help as outside", of(self.argparse_same_help, self.argparse));
        println!("{} answer --help as outside", of(self.same_help, self.scripts));
        println!("{} do without arguments what they do outside", of(self.same_without_arguments, self.scripts));
        let mut lacking: Vec<(&String, &usize)> = self.lacking.iter().collect();
        lacking.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), *reason));
        for (reason, count) in lacking {
            println!("{count:5} lack {reason}");
        }
        println!();
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

impl Bench {
    fn compare(&self, skill: &Path, script: &str, arguments: &[&str]) -> Verdict {
        let inside = self.inside(skill, script, arguments);
        if let Some(reason) = lacks(&inside, skill) {
            return Verdict::Lacks(reason);
        }
        let outside = self.outside(skill, script, arguments);
        let same = inside.code == outside.code && inside.stdout == outside.stdout && inside.stderr == outside.stderr;
        if same { Verdict::Same } else { Verdict::Differs }
    }

    /// Returns the versions inside and outside, such as `3.14`.
    fn python_versions(&self) -> (String, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let skill = folder.path().join("version");
        std::fs::create_dir(&skill).expect("a writable folder");
        let write = |name: &str, text: &str| std::fs::write(skill.join(name), text).expect("a writable folder");
        write("SKILL.md", "---\nname: version\ndescription: Prints the version of Python\n---\n");
        write("version.py", "import sys\nprint('%d.%d' % sys.version_info[:2])\n");
        let version = |output: Output| output.stdout.trim().to_owned();
        (version(self.inside(&skill, "version.py", &[])), version(self.outside(&skill, "version.py", &[])))
    }

    fn inside(&self, skill: &Path, script: &str, arguments: &[&str]) -> Output {
        let name = skill.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut command = Command::new(SKILLCELL);
        command.args(["run", name, script, "--json", "--quiet", "--root"]).arg(skill).arg("--").args(arguments);
        command.env_clear().env("HOME", &self.home).current_dir(&self.home);
        let ran = finish(command);
        let result: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let text = |field: &str| self.normalized(result[field].as_str().unwrap_or_default(), "/skill");
        Output {
            code: result["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()),
            stdout: text("stdout"),
            stderr: if result["stderr"].is_string() { text("stderr") } else { ran.stderr },
        }
    }

    fn outside(&self, skill: &Path, script: &str, arguments: &[&str]) -> Output {
        let copy = tempfile::tempdir().expect("a temporary folder");
        let folder = copy.path().join("skill");
        for file in files_below(skill).into_iter().filter(|path| path.is_file()) {
            let target = folder.join(file.strip_prefix(skill).expect("it is below"));
            std::fs::create_dir_all(target.parent().expect("a folder")).expect("a writable folder");
            std::fs::copy(&file, target).expect("a writable folder");
        }
        let interpreter = match Path::new(script).extension().and_then(|extension| extension.to_str()) {
            Some("py") => &self.python,
            Some("sh") => "bash",
            _ => "node",
        };
        let mut command = Command::new(interpreter);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
        command.env("HOME", copy.path()).env("PYTHONDONTWRITEBYTECODE", "1").env("COLUMNS", "80");
        command.arg(folder.join(script)).args(arguments).current_dir(&folder);
        let ran = finish(command);
        let place = folder.display().to_string();
        Output {
            code: ran.code,
            stdout: self.normalized(&ran.stdout, &place),
            stderr: self.normalized(&ran.stderr, &place),
        }
    }

    /// Replaces the folder of the skill, and removes what differs between versions of Python.
    fn normalized(&self, text: &str, folder: &str) -> String {
        let text = text.replace(folder, "FOLDER").replace("/work", "FOLDER");
        if self.same_version { text } else { without_version(&text) }
    }
}

/// Recognizes what the sandbox does not have.
fn lacks(output: &Output, skill: &Path) -> Option<String> {
    let after = |text: &str, marker: &str| {
        let rest = text.split(marker).nth(1)?;
        Some(rest.split(['\'', '"', '\n', ' ', '.', '`']).next()?.to_owned())
    };
    let (stdout, stderr) = (&output.stdout, &output.stderr);
    if stderr.contains("no skill is called") {
        return Some("a valid SKILL.md".to_owned());
    }
    let module = after(stderr, "No module named '").filter(|name| !is_own(skill, name));
    let mut install = [stdout, stderr].into_iter().filter(|_| output.code != Some(0));
    if let Some(name) = module
        .or_else(|| install.find_map(|text| after(text, "pip install ")))
        .or_else(|| after(stderr, "Cannot find module '"))
        .or_else(|| after(stderr, "Cannot find package '"))
        .or_else(|| after(stderr, "Node's module '"))
    {
        return Some(format!("package {name}"));
    }
    if let Some(line) = stderr.lines().find(|line| line.contains(": command not found")) {
        let name = line.split(": command not found").next()?.rsplit(' ').next()?;
        return Some(format!("program {name}"));
    }
    let missing = stderr.split("No such file or directory: '").nth(1).and_then(|rest| rest.split('\'').next());
    if let Some(name) = missing.filter(|name| is_program(name)) {
        return Some(format!("program {name}"));
    }
    if stderr.contains("is not granted") {
        return Some("network".to_owned());
    }
    None
}

/// Whether what was not found can be the name of a program. Names of files have a suffix, and other arguments begin with `-`.
fn is_program(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
}

/// Whether the skill has a module of this name in some folder: then the script has to be started in another way, outside as well.
fn is_own(skill: &Path, module: &str) -> bool {
    let file = format!("{module}.py");
    files_below(skill).iter().any(|path| {
        let path = path.strip_prefix(skill).expect("it is below");
        path.ends_with(&file)
            || path.parent().is_some_and(|folder| folder.components().any(|part| part.as_os_str() == module))
    })
}

/// Runs a command without input, and stops it when it takes too long.
fn finish(mut command: Command) -> Output {
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = spawned else {
        return Output { code: None, stdout: String::new(), stderr: "not found".to_owned() };
    };
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let (process, (done, ended)) = (Pid::from_child(&child), mpsc::channel());
    std::thread::spawn(move || done.send(child.wait()));
    let status = ended.recv_timeout(TIME_LIMIT);
    if status.is_err() {
        let _ = kill_process(process, Signal::KILL);
    }
    let code = status.ok().and_then(Result::ok).and_then(|status| status.code());
    Output { code, stdout: stdout.join().unwrap_or_default(), stderr: stderr.join().unwrap_or_default() }
}

/// Removes what versions of Python write differently: white space, marks below lines of tracebacks, and the value that argparse repeats.
fn without_version(text: &str) -> String {
    let is_mark = |word: &str| word.chars().all(|letter| matches!(letter, '^' | '~'));
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_mark(word)).collect();
    let mut plain = String::new();
    for (at, word) in words.iter().enumerate() {
        // `-o OUT, --out OUT` became `-o, --out OUT` in Python 3.13.
        let is_option = |at: usize| words.get(at).is_some_and(|word| word.starts_with('-'));
        let is_repeated = at > 0
            && is_option(at - 1)
            && is_option(at + 1)
            && words.get(at + 2).is_some_and(|next| word.strip_suffix(',') == Some(next.trim_end_matches(',')));
        if is_repeated {
            plain.push(',');
        } else {
            plain.push(' ');
            plain.push_str(word);
        }
    }
    plain
}

/// Reads a pipe to its end on another thread.
fn reader(stream: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.expect("a pipe").take(4 << 20).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
