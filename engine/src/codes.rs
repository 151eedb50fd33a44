//! Every kind of problem, by the word that stands for it.

use crate::bindings::skillcell::plugin::types::Severity;

/// A kind of problem.
pub struct Code {
    pub name: &'static str,
    /// How bad it usually is.
    pub severity: Severity,
    pub summary: &'static str,
    pub advice: &'static str,
    /// Whether a review has edits that mend it, where they are certain.
    pub mechanical: bool,
}

impl Code {
    const fn error(name: &'static str, summary: &'static str, advice: &'static str) -> Self {
        Self { name, severity: Severity::Error, summary, advice, mechanical: false }
    }

    const fn warning(name: &'static str, summary: &'static str, advice: &'static str) -> Self {
        Self { name, severity: Severity::Warning, summary, advice, mechanical: false }
    }

    const fn mechanical(self) -> Self {
        Self { mechanical: true, ..self }
    }
}

/// The kind that a word stands for.
pub fn find(name: &str) -> Option<&'static Code> {
    CODES.binary_search_by(|code| code.name.cmp(name)).ok().map(|position| &CODES[position])
}

/// All of them, sorted by name.
pub const CODES: [Code; 50] = [
    Code::error(
        "argument-collision",
        "two arguments of a script become the same `SKILL_ARG_` variable",
        "rename one of them; only letters and digits tell them apart, and not their case",
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
    Code::warning("byte-order-mark", "a file begins with a byte order mark", "save it as UTF-8 without a mark")
        .mechanical(),
    Code::warning(
        "dead-link",
        "a relative link or image leads to a file that is not there",
        "correct the path, which begins in the skill's folder, or add the file",
    ),
    Code::warning(
        "dead-reference",
        "an `@file` names a file that is not there",
        "correct the path, which begins in the resource folder, or add the file",
    ),
    Code::warning("duplicate-key", "a key stands twice in the same map", "keep one of them"),
    Code::error(
        "duplicate-name",
        "an earlier skill has the name already, and only the first is served",
        "rename one of them",
    ),
    Code::warning(
        "extension-not-allowed",
        "a script for the server has an extension that settings do not allow",
        "write it in another language, or allow the extension in `scripts.allowed_extensions`",
    ),
    Code::warning(
        "forbidden-setting",
        "`config.yaml` sets what only the operator decides",
        "remove it, or say it in the operator's own file",
    ),
    Code::warning(
        "hidden-skills",
        "there are skills in a resource folder, where nobody looks for them",
        "add an `_index.md` to the folder if it is a category, or rename one of the two",
    ),
    Code::error(
        "hidden-text",
        "invisible characters hide a message, or show text in another order than it is read",
        "remove them, unless you know who put them there and why",
    )
    .mechanical(),
    Code::warning("invisible-character", "a character cannot be seen", "remove it").mechanical(),
    Code::error(
        "link-within-link",
        "a link inside a linked folder is not followed",
        "replace one of the two links by the folder itself",
    ),
    Code::warning(
        "long-body",
        "a body has more than 500 lines or about 5,000 tokens",
        "move what is not always needed to files of its own, and mention them",
    ),
    Code::warning("long-description", "a description has more than 1,024 characters", "shorten it"),
    Code::error(
        "missing-description",
        "there is no `description`",
        "say in one or two sentences what the skill does and when to use it",
    ),
    Code::error("missing-file", "a declared file is not there", "add the file, or remove the entry"),
    Code::error(
        "missing-keywords",
        "a tree skill has no list of `keywords`",
        "add `keywords: [word, word]`, or remove the front matter if this is no skill",
    )
    .mechanical(),
    Code::warning("missing-name", "a folder skill has no `name`", "add `name:` with the name of its folder")
        .mechanical(),
    Code::warning("more-problems", "a file has more problems than are told", "mend the first ones and look again"),
    Code::warning(
        "name-collision",
        "several folder skills have the same name, whatever its case",
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
        "make the folder, or remove `assets` and `scripts`",
    ),
    Code::error(
        "no-runtime",
        "nothing runs scripts with this extension",
        "write it in Python, JavaScript, TypeScript, shell or WebAssembly, or leave it to the agent with `execution: claude`",
    ),
    Code::error("not-a-file", "something with the name of a skill is no regular file", "replace it by a regular file"),
    Code::error("not-text", "a file is not UTF-8", "save it as UTF-8"),
    Code::warning(
        "off-format",
        "a field breaks a rule of the Agent Skills format that strict clients insist on",
        "write texts in quotes: `license`, `compatibility` of up to 500 characters, `allowed-tools`, values of `metadata`",
    ),
    Code::error("out-of-range", "a number is outside its range", "write a number that the message allows"),
    Code::warning(
        "outside-reference",
        "a link or an `@file` leaves the skill, so that whoever is served it cannot follow",
        "copy the file into the skill, or call another skill by its name",
    ),
    Code::error("outside-root", "a link leads outside the root or nowhere", "copy its target into the root"),
    Code::warning(
        "raised-limit",
        "`config.yaml` asks for more than the operator allows",
        "content can only lower limits",
    ),
    Code::warning("same-path", "another skill hides this one from its path", "rename one of them"),
    Code::error("set-aside", "the engine could not take a file", "please report it with the file"),
    Code::warning("too-complex", "front matter is nested too deeply or too long", "make it flatter or shorter"),
    Code::error("too-deep", "a folder has too many levels above it", "move it up, or configure a folder further down"),
    Code::error("too-large", "a file has more bytes than the limit", "split it, or raise MAX_FILE_SIZE_MB"),
    Code::error("too-many", "a list has more entries than count", "keep those that matter"),
    Code::error("unclosed-front-matter", "front matter has no end", "close it with a line `---`"),
    Code::warning(
        "undeclared-script",
        "scripts are not declared, so `run_script` does not run them",
        "declare them in `scripts:`, with `execution: server` if the server shall run them",
    ),
    Code::warning(
        "unknown-code",
        "a comment allows a code that there is not",
        "`skillcell lint --codes` tells all of them",
    ),
    Code::warning("unknown-key", "a key is unknown, or nearly one that is known", "look at its spelling"),
    Code::warning(
        "unreachable-keyword",
        "a keyword can never match",
        "use a word of three letters or more, such as `cpp` for `c++`",
    ),
    Code::error("unreadable", "a file could not be read", "check the disk"),
    Code::error("unsafe-path", "a declared path leaves the resource folder", "use a path below the resource folder"),
    Code::error("vanished", "a file went away while it was read", "nothing, unless it should be there"),
    Code::warning("wrong-type", "a value is of another type than its key wants", "write what the message asks for")
        .mechanical(),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Every literal that a problem is made with, anywhere in the engine.
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
    fn every_code_of_the_engine_is_in_the_table_and_none_besides() {
        let mut codes = BTreeSet::new();
        emitted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut codes);
        let table: BTreeSet<String> = CODES.iter().map(|code| code.name.to_owned()).collect();
        assert_eq!(table, codes);
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(CODES.iter().is_sorted_by(|left, right| left.name < right.name));
        assert!(find("dead-link").is_some() && find("dead-lnk").is_none());
    }
}
