//! `skillcell plugin new`: creates a project that builds a plugin.

use crate::cli::scaffold;
use anyhow::bail;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct New {
    /// The name of the plugin and of the new folder, made of `a-z`, `0-9` and `-`
    name: String,
    /// What the plugin does
    #[arg(long, value_enum, default_value = "scorer")]
    kind: Kind,
    /// Where to create the new folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    into: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Ranks skills for a task
    Scorer,
}

/// The name of the template.
const TEMPLATE_NAME: &str = "my-scorer";

/// The template, with its own name as a placeholder, and the WIT files that a scorer needs.
const TEMPLATE: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("../../../../plugins/template/scorer/Cargo.toml")),
    ("rust-toolchain.toml", include_str!("../../../../plugins/template/scorer/rust-toolchain.toml")),
    (".gitignore", include_str!("../../../../plugins/template/scorer/.gitignore")),
    ("README.md", include_str!("../../../../plugins/template/scorer/README.md")),
    ("src/lib.rs", include_str!("../../../../plugins/template/scorer/src/lib.rs")),
    ("wit/scoring.wit", include_str!("../../../../wit/scoring.wit")),
    ("wit/types.wit", include_str!("../../../../wit/types.wit")),
    ("wit/log.wit", include_str!("../../../../wit/log.wit")),
    ("wit/model.wit", include_str!("../../../../wit/model.wit")),
];

/// The longest name, which becomes part of file names.
const MAX_NAME_LENGTH: usize = 64;

/// Names that cargo or rustc reserve, and Rust keywords, which cannot be the name of a library.
const RESERVED: &str = "abstract alloc as async await become box break build const continue core crate deps do dyn else enum \
    examples extern false final fn for gen if impl in let loop macro match mod move mut override priv proc-macro pub ref \
    return self static std struct super test trait true try type typeof unsafe unsized use virtual where while wit-bindgen \
    yield";

pub fn run(arguments: &New) -> anyhow::Result<ExitCode> {
    let New { name, kind: Kind::Scorer, into } = arguments;
    check_name(name)?;
    let folder = into.join(name);
    scaffold::create(&folder, &files(name), "--into")?;
    terminal::print_lines(&[
        format!("created a scorer in {}. Next, in that folder:", folder.display()),
        "  cargo build --release --target wasm32-wasip2".to_owned(),
        "  cargo test".to_owned(),
        format!("  skillcell plugin check target/wasm32-wasip2/release/{}.wasm", file_name(name)),
    ])?;
    Ok(ExitCode::SUCCESS)
}

/// Rejects names that cargo would not build, or that would lead to another folder.
fn check_name(name: &str) -> anyhow::Result<()> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
    let starts_with_letter = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    if !starts_with_letter || name.len() > MAX_NAME_LENGTH || !name.split('-').all(is_word) {
        let name = base::printable::printable(name);
        bail!(
            "`{name}` is not a valid plugin name\nhint: use up to {MAX_NAME_LENGTH} of `a-z`, `0-9` and `-`, beginning with a letter, as in `my-scorer`"
        );
    }
    if RESERVED.split_whitespace().any(|reserved| reserved == name) {
        bail!("`{name}` is reserved in Rust\nhint: use another name, as in `{name}-scorer`");
    }
    Ok(())
}

/// The files of a project with this name.
fn files(name: &str) -> Vec<(&'static str, String)> {
    let renamed = |text: &str| text.replace(TEMPLATE_NAME, name).replace(&file_name(TEMPLATE_NAME), &file_name(name));
    let files = TEMPLATE.into_iter().map(|(path, text)| (path, renamed(text)));
    files.chain([("wit/worlds.wit", world("scorer"))]).collect()
}

/// The name of the file that cargo builds for a package.
fn file_name(name: &str) -> String {
    name.replace('-', "_")
}

/// One world of `wit/worlds.wit`, with its doc comment.
fn world(name: &str) -> String {
    let declaration = format!("world {name} {{");
    let is_world = |block: &&str| block.lines().any(|line| line == declaration);
    // Worlds are separated by empty lines, and have none inside.
    let block =
        include_str!("../../../../wit/worlds.wit").split("\n\n").find(is_world).expect("a world of `wit/worlds.wit`");
    format!("{}\n", block.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_cargo_accepts_are_valid() {
        for name in ["a", "my-scorer", "bm25-fr", "x2"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        let long = "a".repeat(65);
        for name in ["", "-", "a-", "-a", "a--b", "A", "été", "a b", "a_b", "2d", ".", "..", "a/b", "/a", "a\0", &long]
        {
            let error = check_name(name).unwrap_err().to_string();
            assert!(error.contains("hint: use up to 64"), "{name}: {error}");
        }
        for name in ["self", "test", "core", "wit-bindgen", "match"] {
            assert!(check_name(name).unwrap_err().to_string().contains("another name"), "{name}");
        }
    }

    #[test]
    fn a_project_has_no_trace_of_the_template_name() {
        let files = files("word-count");
        for (path, text) in &files {
            assert!(!text.contains(TEMPLATE_NAME) && !text.contains("my_scorer"), "{path}: {text}");
        }
        let readme = &files.iter().find(|(path, _)| *path == "README.md").unwrap().1;
        assert!(readme.contains("skillcell plugin check target/wasm32-wasip2/release/word_count.wasm"), "{readme}");
    }

    #[test]
    fn a_project_gets_exactly_one_world() {
        let text = world("scorer");
        assert!(text.starts_with("/// Ranks skills for a task"), "{text}");
        assert!(text.ends_with("\n  export scoring;\n}\n"), "{text}");
        assert_eq!(text.matches("world ").count() - text.matches("of world ").count(), 1, "{text}");
    }

    #[test]
    fn the_template_pins_the_same_bindgen_as_this_workspace() {
        let ours = include_str!("../../../../Cargo.toml");
        let bindgen = ours.lines().find(|line| line.starts_with("wit-bindgen = ")).unwrap();
        assert!(TEMPLATE[0].1.lines().any(|line| line == bindgen), "the template pins another {bindgen}");
    }
}
