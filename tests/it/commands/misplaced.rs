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
fn a_mistyped_command_is_an_error_that_names_the_right_one() {
    let folder = library(&SMALL);
    for (arguments, meant) in [
        (&["lnit"][..], "`skillcell lint`"),
        (&["lits"], "`skillcell list`"),
        (&["Doctor"], "`skillcell doctor`"),
        (&["-q", "serach", "forms"], "`skillcell search`"),
        (&["lnit", "--fix"], "`skillcell lint`"),
        (&["rnu", "pdf", "x.py", "--arg", "a=b"], "`skillcell run`"),
        (&["create", "my-skill"], "`skillcell new`"),
        (&["version"], "`skillcell --version`"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        assert_eq!(output.stdout, b"", "{arguments:?}: {output:?}");
        let stderr = stderr(&output);
        assert!(stderr.starts_with("error: there is no command `"), "{arguments:?}: {stderr}");
        assert!(stderr.contains(&format!("hint: did you mean {meant}")), "{arguments:?}: {stderr}");
    }
}

#[test]
fn what_looks_like_a_folder_is_served_before_it_exists() {
    let folder = library(&SMALL);
    for arguments in [
        &["not/there/lits"][..],
        &["serve", "lits"],
        &["team-skills"],
        &["./lits"],
        &["lits/"],
        &["skills"],
        &["lits,x"],
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert!(!stderr(&output).contains("did you mean"), "{arguments:?}: {output:?}");
    }
    write_files(folder.path(), &[("lits/forms.md", SMALL[0].1)]);
    let output = run(folder.path(), &["--static", "lits"]);
    assert_eq!(output.status.code(), Some(0), "a folder of that name is served: {output:?}");
    let output = run(folder.path(), &["lits", "--no-such-option"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("unexpected argument '--no-such-option'"), "{output:?}");
}
