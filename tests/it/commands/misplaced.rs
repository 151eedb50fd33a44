//! Words that are taken for folders and were meant as commands.

use crate::{SKILLCELL, SMALL, library};
use skillcell_tests::{Launch, write_files};
use std::path::Path;
use std::process::Output;

fn run(folder: &Path, words: &[&str]) -> Output {
    words.iter().fold(Launch::bare(SKILLCELL).folder(folder), Launch::arg).output()
}

fn log(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_command_behind_an_option_is_no_folder() {
    let folder = library(&SMALL);
    for words in [&["-q", "list", "--root", "."][..], &["--root", ".", "list"], &["-v", "doctor"], &["--user", "lint"]]
    {
        let output = run(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        let log = log(&output);
        assert!(log.contains("is a command") && log.contains("hint: the command comes first"), "{words:?}: {log}");
    }
    write_files(folder.path(), &[("list/forms.md", SMALL[0].1)]);
    let output = run(folder.path(), &["--static", "list"]);
    assert_eq!(output.status.code(), Some(0), "a folder of that name is served: {output:?}");
}

#[test]
fn a_word_that_is_close_to_a_command_is_told() {
    let folder = library(&SMALL);
    let output = run(folder.path(), &["lits"]);
    assert_eq!(output.status.code(), Some(0), "it may become a folder: {output:?}");
    assert!(log(&output).contains("there is no folder `lits`"), "{output:?}");
    assert!(log(&output).contains("hint: if that was meant as a command, close ones are `lint`, `list`"), "{output:?}");
    for words in [&["not/there/lits"][..], &["serve", "lits"], &["team-skills"], &["./lits"]] {
        let output = run(folder.path(), words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        assert!(!log(&output).contains("meant as a command"), "{words:?}: {output:?}");
    }
}
