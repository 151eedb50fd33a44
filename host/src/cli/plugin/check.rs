//! `skillcell plugin check`: identifies a component, and tests in the sandbox that it does what its world requires.

use super::contents::World;
use super::report::Report;
use super::self_test;
use clap::Args;
use guests::load;
use std::path::PathBuf;
use std::process::ExitCode;
use terminal::{self, progress::Progress};

#[derive(Args)]
pub struct Check {
    /// The component, a `.wasm` file
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The largest file that is checked, in bytes. Each world has a lower limit.
pub const MAX_BYTES: u64 = 256 << 20;

pub fn run(arguments: &Check) -> anyhow::Result<ExitCode> {
    let file = &arguments.file;
    let bytes = load::read(file, MAX_BYTES).map_err(|fault| anyhow::anyhow!("`{}` {fault}", file.display()))?;
    let mut report = Report::new(file.display().to_string(), &bytes);
    let progress = Progress::start_indeterminate("testing it in the sandbox");
    // A component that cannot be linked cannot be tested.
    if let (Some(world), true) = (report.world, report.problems.is_empty()) {
        let result = match world {
            World::Scorer => self_test::scorer(file),
            World::Engine => self_test::engine(file),
            World::ScriptRuntime => self_test::runtime(&bytes),
            World::Integration => self_test::integration(file),
        };
        report.passed = result.passed;
        report.remarks = result.remarks;
        report.problems.extend(result.problem);
    }
    drop(progress);
    if arguments.json {
        terminal::print_json(&report)?;
    } else {
        terminal::print_lines(&report.lines())?;
    }
    Ok(ExitCode::from(u8::from(!report.problems.is_empty())))
}
