//! `diff` with the options that scripts use; bashkit's own supports two.

mod changes;
mod print;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use bashkit::{Builtin, BuiltinContext, ExecResult, Metadata, Result};

use changes::changes;

pub struct Diff;

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each option of the command")]
struct Options {
    /// Number of context lines, if requested.
    context: Option<usize>,
    brief: bool,
    report_same: bool,
    recursive: bool,
    absent_is_empty: bool,
    ignore_case: bool,
    ignore_space: bool,
    ignore_space_amount: bool,
    labels: Vec<String>,
    files: Vec<String>,
}

/// The two paths to compare, as the user wrote them.
type Pair = (String, String);

enum Task {
    Compare(Pair, Origin),
    /// The name exists in this folder only.
    OnlyOne(String, String),
}

#[derive(Clone, Copy, PartialEq)]
enum Origin {
    CommandLine,
    Folder,
}

#[async_trait]
impl Builtin for Diff {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let options = match Options::parse(ctx.args) {
            Ok(options) => options,
            Err(problem) => return Ok(ExecResult::err(format!("diff: {problem}\n"), 2)),
        };
        let [left, right] = options.files.as_slice() else {
            return Ok(ExecResult::err("diff: two files are needed\n".to_owned(), 2));
        };
        let mut report = Report::default();
        // A stack: the entries of a folder are pushed on top.
        let mut tasks = vec![Task::Compare((left.clone(), right.clone()), Origin::CommandLine)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Compare(pair, origin) => report.compare(&ctx, &options, pair, origin, &mut tasks).await,
                Task::OnlyOne(folder, name) => report.differ(&format!("Only in {folder}: {name}")),
            }
        }
        Ok(ExecResult {
            stdout: report.output.into(),
            stderr: report.problems.into(),
            exit_code: report.code,
            ..ExecResult::default()
        })
    }
}

impl Options {
    fn parse(arguments: &[String]) -> std::result::Result<Self, String> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().cloned().ok_or_else(|| format!("option '{argument}' requires an argument"));
            match argument.as_str() {
                "-U" => options.context = Some(number(&value()?)?),
                "-L" | "--label" => options.labels.push(value()?),
                long if long.starts_with("--") => options.long(long)?,
                short if short.starts_with("-U") => options.context = Some(number(&short[2..])?),
                short if short.starts_with('-') && short != "-" => {
                    short[1..].chars().try_for_each(|letter| options.short(letter))?;
                }
                file => options.files.push(file.to_owned()),
            }
        }
        Ok(options)
    }

    fn long(&mut self, option: &str) -> std::result::Result<(), String> {
        match option.split_once('=').unwrap_or((option, "")) {
            ("--label", label) => self.labels.push(label.to_owned()),
            ("--unified", "") => self.context = Some(print::CONTEXT),
            ("--unified", lines) => self.context = Some(number(lines)?),
            ("--brief", _) => self.brief = true,
            ("--report-identical-files", _) => self.report_same = true,
            ("--recursive", _) => self.recursive = true,
            ("--new-file", _) => self.absent_is_empty = true,
            ("--ignore-case", _) => self.ignore_case = true,
            ("--ignore-all-space", _) => self.ignore_space = true,
            ("--ignore-space-change", _) => self.ignore_space_amount = true,
            ("--color" | "--text" | "--minimal" | "--normal" | "--", _) => {}
            _ => return Err(format!("unrecognized option '{option}'")),
        }
        Ok(())
    }

    fn short(&mut self, letter: char) -> std::result::Result<(), String> {
        match letter {
            'u' => self.context = Some(print::CONTEXT),
            'q' => self.brief = true,
            's' => self.report_same = true,
            'r' => self.recursive = true,
            'N' => self.absent_is_empty = true,
            'i' => self.ignore_case = true,
            'w' => self.ignore_space = true,
            'b' => self.ignore_space_amount = true,
            'a' | 'd' => {}
            _ => return Err(format!("invalid option -- '{letter}'")),
        }
        Ok(())
    }

    /// Returns what counts when a line is compared.
    fn comparison_key(&self, line: &[u8]) -> Vec<u8> {
        let mut line = if self.ignore_case { line.to_ascii_lowercase() } else { line.to_vec() };
        if self.ignore_space {
            line.retain(|byte| !byte.is_ascii_whitespace());
        } else if self.ignore_space_amount {
            line = line.trim_ascii_end().to_vec();
            line.dedup_by(|byte, before| byte.is_ascii_whitespace() && before.is_ascii_whitespace());
        }
        line
    }
}

fn number(text: &str) -> std::result::Result<usize, String> {
    text.parse().map_err(|_| format!("invalid context length '{text}'"))
}

#[derive(Default)]
struct Report {
    output: Vec<u8>,
    problems: String,
    code: i32,
}

impl Report {
    async fn compare(
        &mut self,
        ctx: &BuiltinContext<'_>,
        options: &Options,
        pair: Pair,
        origin: Origin,
        tasks: &mut Vec<Task>,
    ) {
        let enters = options.recursive || origin == Origin::CommandLine;
        let (left, right) = match (is_folder(ctx, &pair.0).await, is_folder(ctx, &pair.1).await) {
            (true, true) if enters => return compare_folders(ctx, options, &pair, tasks).await,
            (true, true) => return self.say(&format!("Common subdirectories: {} and {}", pair.0, pair.1)),
            (true, false) => (sibling(&pair.0, &pair.1), pair.1),
            (false, true) => (pair.0.clone(), sibling(&pair.1, &pair.0)),
            (false, false) => pair,
        };
        let (Some(old), Some(new)) = (self.read(ctx, options, &left).await, self.read(ctx, options, &right).await)
        else {
            return;
        };
        if origin == Origin::Folder && !options.brief && old.content != new.content {
            let given = ctx.args.iter().filter(|argument| argument.starts_with('-'));
            let given: String = given.map(|argument| format!("{argument} ")).collect();
            self.say(&format!("diff {given}{left} {right}"));
        }
        self.compare_files(options, (&left, &old), (&right, &new));
    }

    fn compare_files(&mut self, options: &Options, old: (&str, &Content), new: (&str, &Content)) {
        let lines = [print::lines(&old.1.content), print::lines(&new.1.content)];
        let keys =
            lines.each_ref().map(|lines| lines.iter().map(|line| options.comparison_key(line)).collect::<Vec<_>>());
        let found = changes(&keys[0], &keys[1]);
        if found.is_empty() {
            if options.report_same {
                self.say(&format!("Files {} and {} are identical", old.0, new.0));
            }
            return;
        }
        if old.1.content.contains(&0) || new.1.content.contains(&0) {
            return self.differ(&format!("Binary files {} and {} differ", old.0, new.0));
        }
        if options.brief {
            return self.differ(&format!("Files {} and {} differ", old.0, new.0));
        }
        self.code = self.code.max(1);
        let Some(context) = options.context else { return print::normal(&mut self.output, &found, &lines) };
        for (index, (sign, (name, content))) in [("---", old), ("+++", new)].into_iter().enumerate() {
            let title = match options.labels.get(index) {
                Some(label) => label.clone(),
                None => format!("{name}\t{}", content.modified),
            };
            self.say(&format!("{sign} {title}"));
        }
        print::unified(&mut self.output, &found, &lines, context);
    }

    async fn read(&mut self, ctx: &BuiltinContext<'_>, options: &Options, name: &str) -> Option<Content> {
        if name == "-" {
            let content = ctx.stdin_bytes().unwrap_or_default().to_vec();
            return Some(Content { content, modified: print::time(UNIX_EPOCH) });
        }
        let path = place(ctx, name);
        let metadata: Option<Metadata> = ctx.fs.stat(&path).await.ok();
        match ctx.fs.read_file(&path).await {
            Ok(content) => {
                let modified = print::time(metadata.map_or(UNIX_EPOCH, |metadata| metadata.modified));
                Some(Content { content, modified })
            }
            Err(_) if options.absent_is_empty && metadata.is_none() => {
                Some(Content { content: Vec::new(), modified: print::time(UNIX_EPOCH) })
            }
            Err(error) => {
                let reason = error.to_string();
                let reason = reason.strip_prefix("io error: ").unwrap_or(&reason);
                let _ = writeln!(self.problems, "diff: {name}: {reason}");
                self.code = 2;
                None
            }
        }
    }

    fn differ(&mut self, line: &str) {
        self.code = self.code.max(1);
        self.say(line);
    }

    fn say(&mut self, line: &str) {
        self.output.extend_from_slice(line.as_bytes());
        self.output.push(b'\n');
    }
}

/// Adds the entries of both folders to the tasks.
async fn compare_folders(ctx: &BuiltinContext<'_>, options: &Options, pair: &Pair, tasks: &mut Vec<Task>) {
    let (old, new) = (names(ctx, &pair.0).await, names(ctx, &pair.1).await);
    let mut all: Vec<&String> = old.iter().chain(&new).collect();
    all.sort();
    all.dedup();
    for name in all.into_iter().rev() {
        let in_old = old.contains(name);
        tasks.push(if options.absent_is_empty || (in_old && new.contains(name)) {
            Task::Compare((format!("{}/{name}", pair.0), format!("{}/{name}", pair.1)), Origin::Folder)
        } else {
            Task::OnlyOne(if in_old { pair.0.clone() } else { pair.1.clone() }, name.clone())
        });
    }
}

struct Content {
    content: Vec<u8>,
    modified: String,
}

fn place(ctx: &BuiltinContext<'_>, name: &str) -> PathBuf {
    ctx.cwd.join(name)
}

async fn is_folder(ctx: &BuiltinContext<'_>, name: &str) -> bool {
    ctx.fs.stat(&place(ctx, name)).await.is_ok_and(|metadata| metadata.file_type.is_dir())
}

/// Returns the file of the same name in this folder.
fn sibling(folder: &str, file: &str) -> String {
    let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    format!("{}/{name}", folder.trim_end_matches('/'))
}

async fn names(ctx: &BuiltinContext<'_>, folder: &str) -> Vec<String> {
    let entries = ctx.fs.read_dir(&place(ctx, folder)).await.unwrap_or_default();
    entries.into_iter().map(|entry| entry.name).collect()
}
