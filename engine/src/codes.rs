//! The table of all problem codes.

use crate::bindings::skillcell::plugin::types::Severity;

pub struct Code {
    pub name: &'static str,
    /// The severity in most cases.
    pub severity: Severity,
    pub summary: &'static str,
    pub advice: &'static str,
    /// Whether a review offers edits that fix it, where the fix is unambiguous.
    pub mechanical: bool,
    /// Whether it may be meant to deceive, so that only the caller of a review can silence it, not the file.
    pub deceptive: bool,
}

impl Code {
    const fn error(name: &'static str, summary: &'static str, advice: &'static str) -> Self {
        Self { name, severity: Severity::Error, summary, advice, mechanical: false, deceptive: false }
    }

    const fn warning(name: &'static str, summary: &'static str, advice: &'static str) -> Self {
        Self { name, severity: Severity::Warning, summary, advice, mechanical: false, deceptive: false }
    }

    const fn deceptive(self) -> Self {
        Self { deceptive: true, ..self }
    }

    const fn mechanical(self) -> Self {
        Self { mechanical: true, ..self }
    }
}

pub fn find(name: &str) -> Option<&'static Code> {
    CODES.binary_search_by(|code| code.name.cmp(name)).ok().map(|position| &CODES[position])
}

/// All codes, sorted by name.
pub const CODES: [Code; 55] = [
    Code::error(
        "argument-collision",
        "two arguments of a script become the same `SKILL_ARG_` variable",
        "rename one of them; names that differ only in case or punctuation collide",
    ),
    Code::warning(
        "bad-name",
        "a name is not made of lower-case words joined by `-`, of 1 to 64 characters",
        "use a few words of `a-z` and `0-9` joined by `-`",
    )
    .mechanical(),
    Code::warning(
        "bad-yaml",
        "front matter or `config.yaml` is not valid YAML",
        "put quotes around values that contain `: `; check the rest with a YAML checker",
    )
    .mechanical(),
    Code::warning(
        "byte-order-mark",
        "a file begins with a byte order mark",
        "save it as UTF-8 without a byte order mark",
    )
    .mechanical(),
    Code::warning(
        "dead-link",
        "a relative link or image leads to a file that does not exist",
        "correct the path, which begins in the skill's folder, or add the file",
    ),
    Code::warning(
        "dead-reference",
        "an `@file` names a file that does not exist",
        "correct the path, which begins in the resource folder, or add the file",
    ),
    Code::warning(
        "disguised-script",
        "a script begins like a file of another kind than its extension says",
        "give it the extension of what it is",
    )
    .deceptive(),
    Code::warning("duplicate-key", "a key appears twice in the same map", "keep one of them"),
    Code::error(
        "duplicate-name",
        "an earlier skill already has this name, and only the first is served",
        "rename one of them",
    ),
    Code::warning(
        "extension-not-allowed",
        "a server script has an extension that the settings do not allow",
        "write it in another language, or allow the extension in `scripts.allowed_extensions`",
    ),
    Code::warning(
        "forbidden-setting",
        "`config.yaml` contains a setting that only the operator may set",
        "remove it, or set it in the operator's own file",
    ),
    Code::warning(
        "forged-markup",
        "a description poses as text of the system, or gives orders to a model",
        "say what the skill does and when to use it",
    )
    .deceptive(),
    Code::warning(
        "hidden-comment",
        "a comment or other text that a rendered page does not show is long, or gives orders to a model",
        "read it; remove it, or write it where people see it",
    )
    .deceptive(),
    Code::warning(
        "hidden-skills",
        "a resource folder contains skills, which are not served",
        "add an `_index.md` to the folder if it is a category, or rename one of the two",
    ),
    Code::error(
        "hidden-text",
        "invisible characters hide a message, or show text in another order than it is read",
        "remove them, unless you know why they are there",
    )
    .mechanical()
    .deceptive(),
    Code::warning("invisible-character", "a character is invisible", "remove it").mechanical(),
    Code::warning(
        "long-body",
        "a body has more than 500 lines or about 5,000 tokens",
        "move what is not always needed to separate files, and reference them",
    ),
    Code::warning("long-description", "a description has more than 1,024 characters", "shorten it"),
    Code::warning(
        "look-alike-name",
        "a name looks like that of another skill",
        "find out where each comes from, and rename or remove one of them",
    )
    .deceptive(),
    Code::error(
        "missing-description",
        "there is no `description`",
        "say in one or two sentences what the skill does and when to use it",
    ),
    Code::error("missing-file", "a declared file does not exist", "add the file, or remove the entry"),
    Code::error(
        "missing-keywords",
        "`keywords` of a tree skill is empty or not a list of words",
        "write `keywords: [word, word]`, or remove the key if this is not a skill",
    )
    .mechanical(),
    Code::warning("missing-name", "a folder skill has no `name`", "add `name:` with the name of its folder")
        .mechanical(),
    Code::warning("more-problems", "a file has more problems than are reported", "fix these first, then check again"),
    Code::warning(
        "name-collision",
        "several folder skills have the same name, ignoring case",
        "rename all but one; until then only their full names find them",
    ),
    Code::warning("name-differs", "a name differs from the name of the folder", "rename one of them").mechanical(),
    Code::error("name-not-text", "a file's name is not UTF-8", "rename it"),
    Code::error(
        "no-front-matter",
        "a `SKILL.md` has no front matter",
        "begin it with `---`, a `name:` and a `description:` line, and `---`",
    ),
    Code::error("no-permission", "the server may not read a file or folder", "give it permission to read"),
    Code::warning(
        "no-resource-folder",
        "files are declared, but there is no resource folder",
        "create the folder, or remove `assets` and `scripts`",
    ),
    Code::error(
        "no-runtime",
        "no runtime supports scripts with this extension",
        "write it in Python, JavaScript, TypeScript, shell or WebAssembly, or leave it to the agent with `execution: claude`",
    ),
    Code::error("not-a-file", "a skill file is not a regular file", "replace it with a regular file"),
    Code::error("not-text", "a file is not UTF-8", "save it as UTF-8"),
    Code::error(
        "not-walked",
        "a link leads through a folder that is not walked, such as a hidden one",
        "copy its target into a folder that is walked",
    ),
    Code::warning(
        "off-format",
        "a field breaks a rule of the Agent Skills format that strict clients insist on",
        "write texts in quotes: `license`, `compatibility` of up to 500 characters, `allowed-tools`, values of `metadata`",
    ),
    Code::error("out-of-range", "a number is outside its range", "write a number that the message allows"),
    Code::warning(
        "outside-reference",
        "a link or an `@file` points outside the skill, where clients cannot follow it",
        "copy the file into the skill, or refer to another skill by its name",
    ),
    Code::error("outside-root", "a link leads outside the root or nowhere", "copy its target into the root"),
    Code::error("quarantined", "the engine could not process a file", "please report it with the file"),
    Code::warning(
        "raised-limit",
        "`config.yaml` asks for more than the operator allows",
        "content can only lower limits",
    ),
    Code::warning("same-path", "another skill takes precedence for this skill's path", "rename one of them"),
    Code::warning("too-complex", "front matter is nested too deeply or too long", "make it flatter or shorter"),
    Code::error(
        "too-deep",
        "a folder is nested too deeply below the root",
        "move it up, or configure a folder further down",
    ),
    Code::error("too-large", "a file is larger than the limit", "split it, or raise MAX_FILE_SIZE_MB"),
    Code::error("too-many", "a list has more entries than the limit", "keep those that matter"),
    Code::error(
        "too-many-links",
        "a link has too long a target, leads through too many other links, or too many documents are links",
        "replace it with what it leads to",
    ),
    Code::error("unclosed-front-matter", "front matter is not closed", "close it with a line `---`"),
    Code::warning(
        "undeclared-script",
        "scripts are not declared, so `run_script` does not run them",
        "declare them in `scripts:`, with `execution: server` if the server should run them",
    ),
    Code::warning(
        "unknown-code",
        "a comment allows an unknown code, or one that only `--allow` silences",
        "`skillcell lint --codes` lists all codes",
    ),
    Code::warning("unknown-key", "a key is unknown, or similar to a known one", "check its spelling"),
    Code::warning(
        "unreachable-keyword",
        "a keyword can never match",
        "use a word of three letters or more, such as `cpp` for `c++`",
    ),
    Code::error("unreadable", "a file could not be read", "check the disk"),
    Code::error("unsafe-path", "a declared path leaves the resource folder", "use a path below the resource folder"),
    Code::error(
        "vanished",
        "a file was removed while it was being read",
        "no action needed, unless the file should exist",
    ),
    Code::warning("wrong-type", "a value has the wrong type for its key", "write what the message asks for")
        .mechanical(),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Collects every literal code that a problem is created with, anywhere in the engine.
    fn emitted(folder: &Path, codes: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                emitted(&path, codes);
            } else if path != Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codes.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for call in ["Finding::error(", "Finding::warning(", "Self::error(", "Self::warning("] {
                    let literals = text.split(call).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
                    codes.extend(literals.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
                }
            }
        }
    }

    #[test]
    fn the_table_has_exactly_the_codes_of_the_engine() {
        let mut codes = BTreeSet::new();
        emitted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut codes);
        let table: BTreeSet<String> = CODES.iter().map(|code| code.name.to_owned()).collect();
        assert_eq!(table, codes);
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(CODES.iter().is_sorted_by(|left, right| left.name < right.name));
        assert!(find("dead-link").is_some() && find("dead-lnk").is_none());
    }
}
