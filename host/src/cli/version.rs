//! `skillcell --version`: what this program is made from.

use base::digest::Sha256;
use std::process::ExitCode;

pub fn run() -> anyhow::Result<ExitCode> {
    terminal::print_lines(&[
        format!("skillcell {}", env!("CARGO_PKG_VERSION")),
        format!("commit: {}", env!("SKILLCELL_COMMIT")),
        format!("engine: {}", Sha256::of(skillcell_artifacts::ENGINE)),
    ])?;
    Ok(ExitCode::SUCCESS)
}
