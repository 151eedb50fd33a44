//! Arguments that were meant as commands but are in the place of a folder.

use crate::{SKILLCELL, SMALL, library};
use skillcell_tests::{Launch, write_files};
use std::path::Path;
use std::process::Output;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    arguments.iter().fold(Launch::bare(SKILLCELL).folder(folder), Launch::arg).output()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_command_after_an_option_is_not_taken_for_a_folder() {
    let folder = library(&SMALL);
    for arguments in
        [&["-q", "list", "--root", "."][..], &["--root", ".", "list"], &["-v", "doctor"], &["--user", "lint"]]
    {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let stderr = stderr(&output);
        assert!(
            stderr.contains("is a command") && stderr.contains("hint: the command comes first"),
            "{arguments:?}: {stderr}"
        );
    }
    write_files(folder.path(), &[("list/forms.md", SMALL[0].1)]);
    let output = run(folder.path(), &["--static", "list"]);
    assert_eq!(output.status.code(), Some(0), "a folder of that name is served: {output:?}");
}

#[test]
fn a_misspelled_command_is_reported_with_close_names() {
    let folder = library(&SMALL);
    let output = run(folder.path(), &["lits"]);
    assert_eq!(output.status.code(), Some(0), "it may become a folder: {output:?}");
    assert!(stderr(&output).contains("there is no folder `lits`"), "{output:?}");
    assert!(
        stderr(&output).contains("hint: if it was meant as a command, close names are `lint`, `list`"),
        "{output:?}"
    );
    for arguments in [&["not/there/lits"][..], &["serve", "lits"], &["team-skills"], &["./lits"]] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert!(!stderr(&output).contains("meant as a command"), "{arguments:?}: {output:?}");
    }
}
