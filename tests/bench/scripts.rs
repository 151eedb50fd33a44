//! The cost of the sandbox for scripts, next to the same script as a child process: part of `just bench`.
//!
//! With `--home DIR`, a home folder with packages (`HOME=DIR skillcell package add --preset documents`), also what these cost.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde_json::{Value, json};
use skillcell_tests::measure::{median, shown, timed};
use skillcell_tests::{Launch, Session, write_files};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

const RUNS: usize = 100;

/// A language, the command that runs it natively, a trivial script and one that computes.
struct Language {
    name: &'static str,
    command: &'static [&'static str],
    trivial: (&'static str, &'static str),
    heavy: (&'static str, &'static str),
}

const LANGUAGES: [Language; 4] = [
    Language {
        name: "JavaScript",
        command: &["node"],
        trivial: ("hello.js", "console.log('hello');\n"),
        heavy: ("fib.js", "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nconsole.log(f(24));\n"),
    },
    Language {
        name: "TypeScript",
        command: &["npx", "--yes", "tsx"],
        trivial: ("hello.ts", "const text: string = 'hello';\nconsole.log(text);\n"),
        heavy: (
            "fib.ts",
            "function f(n: number): number { return n < 2 ? n : f(n - 1) + f(n - 2); }\nconsole.log(f(24));\n",
        ),
    },
    Language {
        name: "Python",
        command: &["/usr/bin/python3"],
        trivial: ("hello.py", "print('hello')\n"),
        heavy: ("fib.py", "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(24))\n"),
    },
    Language {
        name: "shell",
        command: &["bash"],
        trivial: ("hello.sh", "echo hello\n"),
        heavy: ("sum.sh", "s=0; for ((i = 0; i < 20000; i++)); do ((s += i)) || true; done; echo $s\n"),
    },
];

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let skill = folder.path().join("bench");
    let mut front_matter = String::from("---\nname: bench\ndescription: Scripts to measure\nscripts:\n");
    for (file, text) in LANGUAGES.iter().flat_map(|language| [language.trivial, language.heavy]) {
        front_matter.extend(["  - {file: ", file, ", execution: server}\n"]);
        write_files(&skill, &[(file, text)]);
    }
    for (_, file, text) in VARIANTS {
        write_files(&skill, &[(file, text)]);
    }
    write_files(&skill, &[("SKILL.md", &format!("{front_matter}---\n"))]);
    println!("a fresh sandbox each time, question to answer over stdio; medians of {RUNS} runs\n");
    println!(
        "{:<12} {:>12} {:>14} {:>10} {:>12}   computing: sandbox, child process",
        "", "sandbox", "child process", "", "first run"
    );
    for language in &LANGUAGES {
        report(folder.path(), &skill, language);
    }
    println!("\nwhat a call hands over, and nested runs, in Python; medians of {RUNS} runs in turn\n");
    println!("{:<48} {:>10} {:>14}", "", "sandbox", "child process");
    let mut session = Launch::new(SKILLCELL).arg("--quiet").arg(folder.path()).start();
    let python = &LANGUAGES[2];
    let variants: Vec<Variant> = VARIANTS.iter().map(|(what, file, _)| (*what, *file, input_of(what))).collect();
    let mut times = vec![(Vec::new(), Vec::new()); variants.len()];
    for _ in 0..=RUNS {
        for ((what, file, input), (sandbox, native)) in variants.iter().zip(&mut times) {
            sandbox.push(timed(|| drop(run_with(&mut session, file, input))));
            if !what.contains("1 MiB") {
                native.extend(child(python, &skill, file));
            }
        }
    }
    for ((what, ..), (sandbox, native)) in variants.iter().zip(times) {
        // The first run loads the runtime.
        let native = if native.is_empty() { "-".to_owned() } else { shown(median(native)) };
        println!("{what:<48} {:>10} {native:>14}", shown(median(sandbox[1..].to_vec())));
    }
    let mut arguments = std::env::args().skip_while(|argument| argument != "--home").skip(1);
    if let Some(home) = arguments.next() {
        packages(folder.path(), &skill, Path::new(&home));
    }
}

/// Reports the first run without and with packages in turn, and warm runs that import some.
fn packages(library: &Path, skill: &Path, home: &Path) {
    write_files(skill, &[("first.py", "import sys, helper\nprint(sys.argv)\n"), ("helper.py", "")]);
    let start = |home: Option<&Path>| {
        let launch = Launch::new(SKILLCELL).arg("--quiet");
        home.into_iter().fold(launch, Launch::with_home).arg(library).start()
    };
    let first = |home| timed(|| drop(run_with(&mut start(home), "first.py", &json!({}))));
    let times: Vec<(Duration, Duration)> = (0..20).map(|_| (first(None), first(Some(home)))).collect();
    let (without, with): (Vec<Duration>, Vec<Duration>) = times.into_iter().unzip();
    let (without, with) = (median(without), median(with));
    let ratio = with.as_secs_f64() / without.as_secs_f64();
    println!("\nstart and first run, without packages and with: {}, {}, {ratio:.2} x", shown(without), shown(with));
    let mut session = start(Some(home));
    for module in ["yaml", "defusedxml.ElementTree", "pypdf", "openpyxl", "bs4", "jinja2"] {
        // Not the name of the module, which would be found beside the script.
        let file = format!("import-{module}.py");
        write_files(skill, &[(&format!("imports/{file}"), &format!("import {module}\n"))]);
        let import = |session: &mut Session| timed(|| drop(run_with(session, &format!("imports/{file}"), &json!({}))));
        import(&mut session);
        println!("import {module}: {}", shown(median((0..20).map(|_| import(&mut session)).collect())));
    }
}

/// A way to call a script, the script, and what it is handed.
type Variant = (&'static str, &'static str, Value);

const VARIANTS: [(&str, &str, &str); 5] = [
    ("nothing", "hello.py", "print('hello')\n"),
    ("ten arguments", "argv.py", "import sys\nprint(len(sys.argv))\n"),
    ("a file of 1 MiB in, and one out", "copy.py", "open('out', 'wb').write(open('in', 'rb').read())\n"),
    ("`subprocess` imported, and nothing started", "none.py", "import subprocess\nprint('hello')\n"),
    (
        "`python3` started once",
        "nested.py",
        "import os, subprocess\nhere = os.path.dirname(os.path.abspath(__file__))\nprint(subprocess.run(['python3', here + '/hello.py'], capture_output=True).returncode)\n",
    ),
];

fn input_of(what: &str) -> Value {
    match what {
        "ten arguments" => json!({"argv": vec!["argument"; 10]}),
        "a file of 1 MiB in, and one out" => json!({"files": [{"path": "in", "text": "x".repeat(1 << 20)}]}),
        _ => json!({}),
    }
}

fn report(library: &Path, skill: &Path, language: &Language) {
    let mut first_runs = Vec::new();
    for _ in 0..5 {
        let mut fresh = Launch::new(SKILLCELL).arg("--quiet").arg(library).start();
        first_runs.push(timed(|| run(&mut fresh, language.trivial.0)));
    }
    let mut session = Launch::new(SKILLCELL).arg("--quiet").arg(library).start();
    run(&mut session, language.trivial.0);
    let sandbox = median((0..RUNS).map(|_| timed(|| run(&mut session, language.trivial.0))).collect());
    let heavy = median((0..5).map(|_| timed(|| run(&mut session, language.heavy.0))).collect());
    let (mut native, mut heavy_native) = (None, None);
    if child(language, skill, language.trivial.0).is_some() {
        let runs = if language.command.len() > 1 { 10 } else { RUNS };
        native = Some(median((0..runs).filter_map(|_| child(language, skill, language.trivial.0)).collect()));
        heavy_native = Some(median((0..3).filter_map(|_| child(language, skill, language.heavy.0)).collect()));
    }
    let shown = |time: Option<Duration>| time.map_or("missing".to_owned(), shown);
    let ratio = |child: Option<Duration>, own: Duration| {
        child.map_or(String::new(), |child| format!("{:.1} x", child.as_secs_f64() / own.as_secs_f64()))
    };
    println!(
        "{:<12} {:>12} {:>14} {:>10} {:>12}   {:>10} {:>12} {}",
        language.name,
        shown(Some(sandbox)),
        shown(native),
        ratio(native, sandbox),
        shown(Some(median(first_runs))),
        shown(Some(heavy)),
        shown(heavy_native),
        ratio(heavy_native, heavy),
    );
}

fn run(session: &mut Session, file: &str) {
    run_with(session, file, &json!({}));
}

fn run_with(session: &mut Session, file: &str, input: &Value) -> Value {
    let mut request = json!({"skill_path": "bench", "file": file, "args": {}});
    request.as_object_mut().expect("a map").extend(input.as_object().expect("a map").clone());
    let result = session.call_json("run_script", request);
    assert_eq!(result["exit_code"], Value::from(0), "{result}");
    result
}

/// Returns the time of a child process, or nothing if the interpreter is missing.
fn child(language: &Language, skill: &Path, file: &str) -> Option<Duration> {
    let (program, arguments) = language.command.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).arg(skill.join(file)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status().ok()?;
    status.success().then(|| started.elapsed())
}
