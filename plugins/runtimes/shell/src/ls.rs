//! `ls` in the format that scripts parse; bashkit's own has another format and only two sort orders.

mod entry;
mod long;
mod options;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result};

use entry::Entry;
use options::{Hidden, Layout, Options};

pub struct Ls;

#[async_trait]
impl Builtin for Ls {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let options = match Options::parse(ctx.args) {
            Ok(options) => options,
            Err(problem) => return Ok(ExecResult::err(format!("ls: {problem}\n"), 2)),
        };
        let mut listing =
            Listing { ctx: &ctx, options: &options, output: String::new(), problems: String::new(), code: 0 };
        listing.list().await;
        Ok(ExecResult {
            stdout: listing.output.into(),
            stderr: listing.problems.into(),
            exit_code: listing.code,
            ..ExecResult::default()
        })
    }
}

struct Listing<'run, 'ctx> {
    ctx: &'run BuiltinContext<'ctx>,
    options: &'run Options,
    output: String,
    problems: String,
    code: i32,
}

impl Listing<'_, '_> {
    async fn list(&mut self) {
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for name in &self.options.operands {
            match self.operand(name).await {
                Some(entry) if entry.is_folder() && !self.options.folders_themselves => folders.push(entry),
                Some(entry) => files.push(entry),
                None => {
                    let _ = writeln!(self.problems, "ls: cannot access '{name}': No such file or directory");
                    self.code = 2;
                }
            }
        }
        self.options.sort(&mut files);
        self.options.sort(&mut folders);
        let titled = self.options.recursive || self.options.operands.len() > 1;
        self.print(&files);
        // A stack: the last folder is listed first, and subfolders are pushed on top.
        let mut pending: Vec<String> = folders.into_iter().rev().map(|folder| folder.name).collect();
        while let Some(folder) = pending.pop() {
            if titled {
                let gap = if self.output.is_empty() { "" } else { "\n" };
                let _ = writeln!(self.output, "{gap}{folder}:");
            }
            let below = self.list_folder(&folder).await;
            pending.extend(below.into_iter().rev());
        }
    }

    /// Prints a folder and returns its subfolders that are still to be listed.
    async fn list_folder(&mut self, folder: &str) -> Vec<String> {
        let path = self.place(folder);
        let found = match self.ctx.fs.read_dir(&path).await {
            Ok(found) => found,
            Err(error) => {
                let reason = error.to_string();
                let reason = reason.strip_prefix("io error: ").unwrap_or(&reason);
                let _ = writeln!(self.problems, "ls: cannot open directory '{folder}': {reason}");
                self.code = 2;
                return Vec::new();
            }
        };
        let mut entries = Vec::new();
        if self.options.hidden == Hidden::All {
            for name in [".", ".."] {
                if let Ok(metadata) = self.ctx.fs.stat(&path.join(name)).await {
                    entries.push(Entry { name: name.to_owned(), metadata, target: None });
                }
            }
        }
        for entry in found {
            if self.options.hidden == Hidden::Skipped && entry.name.starts_with('.') {
                continue;
            }
            let target = if entry.metadata.file_type.is_symlink() {
                self.ctx.fs.read_link(&path.join(&entry.name)).await.ok()
            } else {
                None
            };
            entries.push(Entry { name: entry.name, metadata: entry.metadata, target });
        }
        self.options.sort(&mut entries);
        if self.options.layout == Layout::Long {
            let _ = writeln!(self.output, "total {}", long::total(&entries, self.options));
        }
        self.print(&entries);
        if !self.options.recursive {
            return Vec::new();
        }
        let below = entries.iter().filter(|entry| entry.is_folder() && entry.name != "." && entry.name != "..");
        below.map(|entry| format!("{}/{}", folder.trim_end_matches('/'), entry.name)).collect()
    }

    async fn operand(&self, name: &str) -> Option<Entry> {
        let path = self.place(name);
        let keeps_links = self.options.layout == Layout::Long || self.options.folders_themselves;
        let own = self.ctx.fs.lstat(&path).await.ok()?;
        if !own.file_type.is_symlink() {
            return Some(Entry { name: name.to_owned(), metadata: own, target: None });
        }
        let metadata = if keeps_links { own } else { self.ctx.fs.stat(&path).await.unwrap_or(own) };
        let target = self.ctx.fs.read_link(&path).await.ok();
        Some(Entry { name: name.to_owned(), metadata, target })
    }

    fn print(&mut self, entries: &[Entry]) {
        match self.options.layout {
            Layout::Long => long::print(&mut self.output, entries, self.options),
            Layout::Lines => {
                for entry in entries {
                    let _ = writeln!(self.output, "{}", self.options.display_name(entry));
                }
            }
            Layout::Joined(separator) if !entries.is_empty() => {
                let names: Vec<String> = entries.iter().map(|entry| self.options.display_name(entry)).collect();
                let _ = writeln!(self.output, "{}", names.join(separator));
            }
            Layout::Joined(_) => {}
        }
    }

    fn place(&self, name: &str) -> PathBuf {
        bashkit::normalize_path(&self.ctx.cwd.join(Path::new(name)))
    }
}
