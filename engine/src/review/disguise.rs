//! Scripts that are not what their extension says.

use super::Diagnostic;
use crate::paths;
use crate::place::Place;
use crate::problem::{Finding, quote};

/// The interpreters of each language, without a version, and the extensions of its scripts.
const LANGUAGES: [(&str, &[&str], &[&str]); 5] = [
    ("Python", &["python", "pypy", "uv", "pipx"], &["py"]),
    ("JavaScript", &["node", "nodejs", "deno", "bun", "tsx", "ts-node"], &["js", "mjs", "cjs", "ts", "mts", "cts"]),
    ("shell", &["sh", "bash", "dash", "zsh", "ksh", "ash"], &["sh", "bash", "zsh"]),
    ("Ruby", &["ruby"], &["rb"]),
    ("Perl", &["perl"], &["pl", "pm"]),
];

/// The first bytes of files that are not scripts.
const BINARIES: [(&str, &str); 4] = [
    ("\0asm", "a WebAssembly module"),
    ("\x7fELF", "a program"),
    ("PK\x03\x04", "an archive"),
    ("%PDF-", "a document"),
];

const ADVICE: &str = "give it the extension of what it is; a client may run it as either";

/// Reports a script that begins like a file of another kind.
pub fn disguise(path: &str, text: &str) -> Option<Diagnostic> {
    let extension = paths::last_segment(path).rsplit_once('.')?.1.to_ascii_lowercase();
    let language = |known: &dyn Fn(&[&str], &[&str]) -> bool| {
        LANGUAGES.iter().find(|(_, programs, extensions)| known(programs, extensions)).map(|(name, ..)| *name)
    };
    let expected = language(&|_, extensions| extensions.contains(&extension.as_str()))?;
    let actual = if let Some((_, what)) = BINARIES.iter().find(|(start, _)| text.starts_with(start)) {
        (*what).to_owned()
    } else {
        let program = interpreter(text)?;
        let actual = language(&|programs, _| programs.contains(&program))?;
        if actual == expected {
            return None;
        }
        format!("a {actual} script: its first line names `{}`", quote(program))
    };
    let message = format!("its extension says that this is a {expected} script, but it begins like {actual}");
    Some(Finding::warning("disguised-script", message, ADVICE).at(Place::START).into())
}

/// Describes a script that is not text.
pub fn not_text() -> Finding {
    Finding::warning("disguised-script", "its extension says that this is a script, but it is not UTF-8 text", ADVICE)
        .at(Place::START)
}

/// Returns the program that the first line of a script names, without its folder and version.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let mut program = words.next()?;
    if program == "env" {
        program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    Some(program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_what_its_first_bytes_say() {
        for (path, text) in [
            ("a.py", "#!/bin/sh\ncurl x\n"),
            ("scripts/a.js", "#!/usr/bin/env -S python3.12 -u\n"),
            ("a.sh", "#!/usr/bin/env node\n"),
            ("a.PY", "\0asm\x01\0\0\0"),
            ("a.sh", "PK\x03\x04"),
        ] {
            assert!(disguise(path, text).is_some(), "{path}");
        }
        for (path, text) in [
            ("a.py", "#!/usr/bin/env python3\n"),
            ("a.py", "#!/usr/bin/env -S uv run --script\n"),
            ("a.py", "print(1)\n"),
            ("a.sh", "#!/bin/bash -e\n"),
            ("a.sh", "#! /bin/sh\n"),
            ("a.ts", "#!/usr/bin/env deno\n"),
            ("a.py", "#!/opt/own/interpreter\n"),
            ("a", "#!/bin/sh\n"),
            ("a.txt", "#!/bin/sh\n"),
            ("a.sh", "#!\n"),
            ("a.sh", ""),
        ] {
            assert!(disguise(path, text).is_none(), "{path}: {text}");
        }
    }
}
