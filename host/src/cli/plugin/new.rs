//! `skillcell plugin new`: a project that builds a plugin, ready to be changed.

use crate::terminal;
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct New {
    /// Its name, made of `a-z`, `0-9` and `-`; also that of the new folder
    name: String,
    /// What the plugin does
    #[arg(long, value_enum, default_value = "scorer")]
    kind: Kind,
    /// Where the new folder is made; here by default
    #[arg(long, value_name = "DIR", default_value = ".")]
    into: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Ranks skills for a task
    Scorer,
}

/// What the template calls itself, as a package and as a file.
const NAME: &str = "my-scorer";
const FILE: &str = "my_scorer";

/// The template, in which the name is still to be put.
const TEMPLATE: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("../../../../plugins/template/scorer/Cargo.toml")),
    ("rust-toolchain.toml", include_str!("../../../../plugins/template/scorer/rust-toolchain.toml")),
    (".gitignore", include_str!("../../../../plugins/template/scorer/.gitignore")),
    ("README.md", include_str!("../../../../plugins/template/scorer/README.md")),
    ("src/lib.rs", include_str!("../../../../plugins/template/scorer/src/lib.rs")),
];

/// The part of the border that a scorer is on.
const BORDER: [(&str, &str); 3] = [
    ("wit/scoring.wit", include_str!("../../../../wit/scoring.wit")),
    ("wit/types.wit", include_str!("../../../../wit/types.wit")),
    ("wit/log.wit", include_str!("../../../../wit/log.wit")),
];

const WORLDS: &str = include_str!("../../../../wit/worlds.wit");

/// Longest name. It becomes part of the names of files.
const LONGEST_NAME: usize = 64;

/// Names that compile to something else than a library of one's own.
const TAKEN: [&str; 9] = ["alloc", "build", "core", "deps", "examples", "proc-macro", "std", "test", "wit-bindgen"];

pub fn run(arguments: &New) -> anyhow::Result<ExitCode> {
    let New { name, kind: Kind::Scorer, into } = arguments;
    check_name(name)?;
    let folder = into.join(name);
    make(&folder, into)?;
    for (path, text) in files(name) {
        write(&folder.join(path), &text)?;
    }
    terminal::print_lines(&[
        format!("{} has a scorer that builds. Next, in that folder:", folder.display()),
        "  cargo build --release --target wasm32-wasip2".to_owned(),
        "  cargo test".to_owned(),
        format!("  skillcell plugin check target/wasm32-wasip2/release/{}.wasm", file_name(name)),
    ])?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses what cargo would not build, or what would lead to another folder.
fn check_name(name: &str) -> anyhow::Result<()> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    if !begins_well || name.len() > LONGEST_NAME || !name.split('-').all(is_word) {
        let name = crate::printable::printable(name);
        bail!(
            "`{name}` is no name of a plugin\nhint: use up to {LONGEST_NAME} of `a-z`, `0-9` and `-`, beginning with a letter, as in `my-scorer`"
        );
    }
    if TAKEN.contains(&name) || is_keyword(name) {
        bail!("`{name}` means something else to Rust\nhint: use another name, as in `{name}-scorer`");
    }
    Ok(())
}

/// Words that cannot be the name of a Rust library.
fn is_keyword(name: &str) -> bool {
    const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final fn \
         for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct super trait \
         true try type typeof unsafe unsized use virtual where while yield";
    KEYWORDS.split(' ').any(|keyword| keyword == name)
}

/// Makes a folder that was not there.
fn make(folder: &Path, into: &Path) -> anyhow::Result<()> {
    match std::fs::create_dir(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} is already there\nhint: use another name, or another folder with `--into`", folder.display())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("there is no folder {}\nhint: make it first, or name another with `--into`", into.display())
        }
        Err(error) => Err(error).with_context(|| format!("cannot make {}", folder.display())),
    }
}

/// The files of a project with this name.
fn files(name: &str) -> Vec<(&'static str, String)> {
    let named = |text: &str| text.replace(NAME, name).replace(FILE, &file_name(name));
    let template = TEMPLATE.into_iter().map(|(path, text)| (path, named(text)));
    let border = BORDER.into_iter().map(|(path, text)| (path, text.to_owned()));
    template.chain(border).chain([("wit/worlds.wit", world("scorer"))]).collect()
}

/// What cargo makes of a package's name.
fn file_name(name: &str) -> String {
    name.replace('-', "_")
}

/// One world of `wit/worlds.wit`, with what is said about it.
fn world(name: &str) -> String {
    let begins = format!("world {name} {{");
    let is_it = |lines: &&str| lines.lines().any(|line| line == begins);
    // Worlds are separated by empty lines, and have none inside.
    let block = WORLDS.split("\n\n").find(is_it).expect("a world of the border");
    format!("{}\n", block.trim_end())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = || {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_words_that_cargo_takes() {
        for name in ["a", "my-scorer", "bm25-fr", "x2"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        let long = "a".repeat(65);
        for name in ["", "-", "a-", "-a", "a--b", "A", "été", "a b", "a_b", "2d", ".", "..", "a/b", "/a", "a\0", &long]
        {
            let refused = check_name(name).unwrap_err().to_string();
            assert!(refused.contains("hint: use up to 64"), "{name}: {refused}");
        }
        for name in ["self", "test", "core", "wit-bindgen", "match"] {
            assert!(check_name(name).unwrap_err().to_string().contains("another name"), "{name}");
        }
    }

    #[test]
    fn a_project_has_its_own_name_and_nothing_of_the_template_s() {
        let files = files("word-count");
        for (path, text) in &files {
            assert!(!text.contains(NAME) && !text.contains(FILE), "{path}: {text}");
        }
        let read_me = &files.iter().find(|(path, _)| *path == "README.md").unwrap().1;
        assert!(read_me.contains("skillcell plugin check target/wasm32-wasip2/release/word_count.wasm"), "{read_me}");
    }

    #[test]
    fn a_project_gets_one_world_and_no_other() {
        let text = world("scorer");
        assert!(text.starts_with("/// Ranks skills for a task"), "{text}");
        assert!(text.ends_with("\n  export scoring;\n}\n"), "{text}");
        assert_eq!(text.matches("world ").count() - text.matches("of world ").count(), 1, "{text}");
    }

    #[test]
    fn the_template_is_built_with_what_this_server_is_built_with() {
        let ours = include_str!("../../../../Cargo.toml");
        let bindgen = ours.lines().find(|line| line.starts_with("wit-bindgen = ")).unwrap();
        assert!(TEMPLATE[0].1.lines().any(|line| line == bindgen), "the template pins another {bindgen}");
    }
}
