//! Finds what a command line means in the sandbox: one of the bundled runtimes, and a script for it.

use crate::script::{Language, cpython};
use bindings::programs::Command;
use bytes::Bytes;
use sandbox::files::OpenMode;
use sandbox::files::path::GuestPath;
use sandbox::state::Capabilities;
use std::path::Path;

/// Of the first line of a script, as on Linux.
const MAX_SHEBANG_BYTES: usize = 256;

/// Of a script that is read by the host.
const MAX_SCRIPT_BYTES: usize = 8 << 20;

/// `env` may start `env`, and a script may be started by another one.
const MAX_INDIRECTIONS: usize = 8;

/// A script, or text that is run like one.
pub struct Program {
    pub language: Language,
    /// The absolute path of the script.
    pub file: String,
    pub argv: Vec<String>,
    /// What `file` contains if no such file exists.
    pub text: Option<Bytes>,
    depth: usize,
}

impl Program {
    /// Returns `None` if the sandbox has no such program. Text that arrives on standard input is taken from there.
    pub fn find(command: &mut Command, granted: &mut Capabilities) -> Option<Self> {
        let mut argv = std::mem::take(&mut command.argv);
        let mut search = Search { command, granted };
        for _ in 0..MAX_INDIRECTIONS {
            match search.step(argv)? {
                Step::Found(program) => return Some(program),
                Step::Instead(other) => argv = other,
            }
        }
        None
    }

    /// The folder that is mounted for its text.
    pub fn text_folder(&self) -> String {
        text_folder(self.depth)
    }

    /// The name of its text in that folder.
    pub fn text_name(&self) -> String {
        self.file.rsplit('/').next().unwrap_or_default().to_owned()
    }
}

fn text_folder(depth: usize) -> String {
    format!("run/{depth}")
}

struct Search<'call> {
    command: &'call mut Command,
    granted: &'call mut Capabilities,
}

enum Step {
    Found(Program),
    /// The command means another one.
    Instead(Vec<String>),
}

/// What an interpreter is asked to run.
enum Source {
    /// A file, by the index of its argument.
    File(usize),
    /// Text, and the index of the first argument after it.
    Text(String, usize),
    Stdin(usize),
}

impl Search<'_> {
    fn step(&mut self, argv: Vec<String>) -> Option<Step> {
        let program = argv.first()?;
        let name = match program.rsplit_once('/') {
            None => program.as_str(),
            Some(("/bin" | "/usr/bin" | "/usr/local/bin", name)) => name,
            Some(_) => return self.script(argv),
        };
        match name {
            "env" => self.env(argv),
            "npx" if argv.get(1).is_some_and(|name| name == "tsx") => Some(Step::Instead(argv[1..].to_vec())),
            "node" | "tsx" => self.node(&argv),
            "bash" | "sh" => self.shell(&argv),
            _ if is_python(name) => self.python(&argv[1..]),
            _ => None,
        }
    }

    fn allowed(&self, runtime: &str) -> Option<Language> {
        self.granted.nesting.runtimes.contains(&runtime).then(|| Language::by_name(runtime)).flatten()
    }

    fn depth(&self) -> usize {
        self.granted.nesting.depth
    }

    /// A script that is started by its path: its extension or its first line tells what runs it.
    fn script(&mut self, mut argv: Vec<String>) -> Option<Step> {
        let path = self.absolute(&argv[0])?;
        let start = self.read(&path, MAX_SHEBANG_BYTES)?;
        let first_line = String::from_utf8_lossy(&start);
        let shebang = first_line.lines().next().and_then(|line| line.strip_prefix("#!"));
        let interpreter: Vec<String> = if let Some(line) = shebang {
            line.split_whitespace().map(str::to_owned).collect()
        } else {
            let extension = Path::new(&path).extension()?.to_str()?;
            let runs = |language: &Language| language.extensions().iter().any(|known| known[1..] == *extension);
            vec![program_of(Language::all().find(runs)?).to_owned()]
        };
        argv[0] = path;
        argv.splice(..0, interpreter);
        Some(Step::Instead(argv))
    }

    /// `env [-S] [NAME=VALUE …] COMMAND …`
    fn env(&mut self, argv: Vec<String>) -> Option<Step> {
        let mut rest = argv.into_iter().skip(1).skip_while(|text| text == "-S").peekable();
        while let Some((name, value)) = rest.peek()?.split_once('=') {
            let (name, value) = (name.to_owned(), value.to_owned());
            self.command.variables.retain(|(other, _)| *other != name);
            self.command.variables.push((name, value));
            rest.next();
        }
        Some(Step::Instead(rest.collect()))
    }

    fn python(&mut self, arguments: &[String]) -> Option<Step> {
        let language = self.allowed("python")?;
        let script = arguments.first().filter(|file| !file.starts_with('-')).and_then(|file| self.absolute(file));
        let source = script.and_then(|file| self.read(&file, MAX_SCRIPT_BYTES));
        let argv = cpython::argv(arguments, source.as_deref());
        Some(Step::Found(Program { language, file: String::new(), argv, text: None, depth: self.depth() }))
    }

    fn node(&mut self, argv: &[String]) -> Option<Step> {
        let mut index = 1;
        let source = loop {
            match argv.get(index).map(String::as_str) {
                None | Some("-") => break Source::Stdin((index + 1).min(argv.len())),
                Some("-e" | "--eval") => break Source::Text(argv.get(index + 1)?.clone(), index + 2),
                Some("-p" | "--print") => {
                    break Source::Text(format!("console.log({}\n)", argv.get(index + 1)?), index + 2);
                }
                Some("-r" | "--require" | "--import" | "--loader") => index += 2,
                Some(option) if option.starts_with('-') => index += 1,
                Some(_) => break Source::File(index),
            }
        };
        self.found("javascript", argv, source, "[eval].js", "")
    }

    fn shell(&mut self, argv: &[String]) -> Option<Step> {
        let mut set = String::new();
        let mut index = 1;
        let mut is_text = false;
        while let Some(option) = argv.get(index) {
            if let Some(flags) = option.strip_prefix('-').filter(|flags| !flags.is_empty() && !flags.starts_with('-')) {
                index += 1;
                is_text |= flags.contains('c');
                let flags: String = flags.chars().filter(|flag| "euxvfno".contains(*flag)).collect();
                if flags.is_empty() {
                    continue;
                }
                set.extend(["set -", &flags]);
                if flags.contains('o') {
                    let option = argv.get(index).filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric()))?;
                    set.extend([" ", option]);
                    index += 1;
                }
                set.push_str("; ");
            } else if option.starts_with("--") {
                index += 1;
            } else {
                break;
            }
        }
        let source = match argv.get(index) {
            Some(text) if is_text => Source::Text(text.clone(), index + 1),
            None if is_text => return None,
            None => Source::Stdin(index),
            Some(_) => Source::File(index),
        };
        self.found("shell", argv, source, "command", &set)
    }

    fn absolute(&self, path: &str) -> Option<String> {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.command.folder) };
        let path = GuestPath::default().join(path.trim_start_matches('/')).ok()?.path;
        Some(format!("/{}", path.as_str()))
    }

    fn read(&mut self, path: &str, max: usize) -> Option<Vec<u8>> {
        let mode = OpenMode { follow: true, ..OpenMode::default() };
        let opened = self.granted.files.open(&GuestPath::default(), path.trim_start_matches('/'), mode);
        let file = opened.ok()?.file?;
        let mut bytes = vec![0; usize::try_from(file.stat().ok()?.size).ok()?.min(max)];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], filled as u64).ok()? {
                0 => break,
                count => filled += count,
            }
        }
        bytes.truncate(filled);
        Some(bytes)
    }

    /// `before` is put before the first line of the script.
    fn found(&mut self, runtime: &str, argv: &[String], source: Source, name: &str, before: &str) -> Option<Step> {
        let language = self.allowed(runtime)?;
        let depth = self.depth();
        let text_file = format!("/{}/{name}", text_folder(depth));
        let (file, text, argv) = match source {
            Source::File(index) => {
                let file = self.absolute(&argv[index])?;
                let text = if before.is_empty() { None } else { Some(self.read(&file, MAX_SCRIPT_BYTES)?) };
                (file, text, argv[index..].to_vec())
            }
            Source::Text(text, rest) => {
                // `bash -c TEXT NAME ARGUMENTS…`
                let own_name = if runtime == "shell" { &argv[..usize::from(argv.len() == rest)] } else { &argv[..1] };
                (text_file.clone(), Some(text.into_bytes()), [own_name, &argv[rest..]].concat())
            }
            Source::Stdin(rest) => {
                let text = std::mem::take(&mut self.command.stdin);
                (text_file.clone(), Some(text), [&argv[..1], &argv[rest..]].concat())
            }
        };
        let text = text.map(|text| [before.as_bytes(), &text].concat().into());
        let file = if text.is_some() { text_file } else { file };
        Some(Step::Found(Program { language, file, argv, text, depth }))
    }
}

fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python");
    version.is_some_and(|version| version.is_empty() || version == "3" || version.starts_with("3."))
}

fn program_of(language: Language) -> &'static str {
    match language.name() {
        "python" => "python3",
        "javascript" => "node",
        _ => "bash",
    }
}
