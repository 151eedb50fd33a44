//! What users rely on, tried on the real binary.

mod cases;
mod demo;
mod engine;
mod freshness;
mod hostile;
mod protocol;
mod tidy;

use skillcell_tests::{Launch, write_files};
use std::path::Path;
use tempfile::TempDir;

/// The server under test.
const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

/// A library of two skills.
const SMALL: [(&str, &str); 2] = [
    ("forms.md", "---\nkeywords: [form, validation]\ndescription: Forms\n---\n\nValidate on submit.\n"),
    ("pdf/SKILL.md", "---\nname: pdf\ndescription: Read portable documents\n---\n\nUse the reader.\n"),
];

/// A new folder with these files in it.
fn library(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_files(folder.path(), files);
    folder
}

fn serve(folder: &Path) -> Launch {
    Launch::new(SKILLCELL).arg(folder)
}
