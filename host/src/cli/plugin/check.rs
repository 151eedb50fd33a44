//! `skillcell plugin check`: what a component is, and whether it does in the sandbox what its world asks for.

use super::contents::World;
use super::report::Report;
use super::self_test;
use crate::terminal::{self, progress::Progress};
use anyhow::{Context as _, bail};
use clap::Args;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct Check {
    /// A component, as a file that ends in `.wasm`
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Largest file that is looked at, in bytes. What a world takes is less.
const LARGEST: u64 = 256 << 20;

pub fn run(arguments: &Check) -> anyhow::Result<ExitCode> {
    let file = &arguments.file;
    let bytes = read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut report = Report::new(file.display().to_string(), &bytes);
    let trying = Progress::unknown("trying it in the sandbox");
    // What cannot be linked cannot be tried either.
    if let (Some(world), true) = (report.world, report.problems.is_empty()) {
        let result = match world {
            World::Scorer => self_test::scorer(file),
            World::Engine => self_test::engine(file),
            World::ScriptRuntime => self_test::runtime(&bytes),
            World::Integration => self_test::integration(file),
        };
        report.tried = result.tried;
        report.remarks = result.remarks;
        report.problems.extend(result.problem);
    }
    drop(trying);
    if arguments.json {
        terminal::print_json(&report)?;
    } else {
        terminal::print_lines(&report.lines())?;
    }
    Ok(ExitCode::from(u8::from(!report.problems.is_empty())))
}

/// All of a file.
pub fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    // A pipe would be waited for.
    if !std::fs::metadata(path)?.is_file() {
        bail!("it is no file");
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        bail!("it has more than {} MiB", LARGEST >> 20);
    }
    Ok(bytes)
}
