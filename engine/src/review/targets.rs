//! Whether the files are there that a skill's text leads to: by `@file`, by links and by images.

use super::links::links;
use super::{Draft, Found, Written};
use crate::paths;
use crate::place::Place;
use crate::problem::{Finding, quote};
use crate::references;
use std::collections::BTreeSet;

/// Most looks at the disk for one file. A text that mentions more is not meant for readers.
const MOST_LOOKS: usize = 500;

/// Most paths for which a close name is looked for.
const MOST_CLOSE: usize = 20;

/// Longest path that is looked for, in bytes.
const LONGEST_PATH: usize = 1_024;

/// Endings that make `@word.ending` the name of a file. Others are names of people, decorators and addresses.
const FILES: [&str; 44] = [
    "bash", "bat", "c", "cfg", "cjs", "conf", "cpp", "css", "csv", "docx", "gif", "go", "h", "html", "ini", "ipynb",
    "java", "jpeg", "jpg", "js", "json", "jsx", "lua", "md", "mdx", "mjs", "pdf", "png", "ps1", "py", "rb", "rs", "sh",
    "sql", "svg", "template", "toml", "ts", "tsx", "txt", "xlsx", "xml", "yaml", "yml",
];

/// Folders at the top of a disk, by which `@/etc/passwd` is known from `@/components/button`, a name in some project.
const TOP_FOLDERS: [&str; 14] =
    ["Applications", "Library", "Users", "bin", "dev", "etc", "home", "mnt", "opt", "root", "srv", "tmp", "usr", "var"];

/// How a text leads to a file.
#[derive(Clone, Copy)]
enum Way {
    Link,
    /// `@file`
    Reference,
}

/// What somebody who follows a path finds.
enum End {
    There,
    /// Nothing; a name that is close, if there is one.
    Nothing(Option<String>),
    /// It is hidden, so it is not served.
    Hidden,
    /// Something that does not belong to the skill, or nothing that could.
    Outside,
}

/// Everything in the prose of a skill that leads nowhere, each path once.
pub fn targets(draft: &Draft<'_>, written: &Written<'_>, prose: &str) -> Vec<Found> {
    let mut search = Search {
        draft,
        resources: written.resources,
        folder: paths::folder_of(draft.path).unwrap_or(""),
        looks_left: MOST_LOOKS,
        close_left: MOST_CLOSE,
        seen: BTreeSet::new(),
        told: BTreeSet::new(),
        found: Vec::new(),
    };
    for link in links(prose) {
        search.link(link.at, &link.destination);
    }
    search.references(prose);
    search.found
}

struct Search<'draft> {
    draft: &'draft Draft<'draft>,
    resources: Option<&'draft str>,
    /// The folder that the file is in.
    folder: &'draft str,
    looks_left: usize,
    close_left: usize,
    /// Destinations that were followed, and words behind an `@` with that in front.
    seen: BTreeSet<String>,
    told: BTreeSet<String>,
    found: Vec<Found>,
}

impl Search<'_> {
    fn link(&mut self, at: usize, destination: &str) {
        let Some(path) = relative_path(destination) else { return };
        if self.looks_left == 0 || !self.seen.insert(path.clone()) || !self.may_be_file(&path) {
            return;
        }
        let end = self.follow(&path);
        self.tell(Way::Link, at, &path, end);
    }

    /// Whether a destination is certainly meant as a file: people write `[text](url)` when they explain links.
    fn may_be_file(&mut self, path: &str) -> bool {
        let first = path.split('/').next().unwrap_or(path);
        let is_in_folder = |search: &mut Self| {
            let folder = paths::join(search.resources.unwrap_or(search.folder), first);
            first.len() < path.len() && search.draft.folders.has_folder(&folder)
        };
        !path.starts_with("path/to") && (extension(path).is_some() || path.ends_with('/') || is_in_folder(self))
    }

    fn references(&mut self, prose: &str) {
        for (mark, _) in prose.match_indices('@') {
            let before = prose[..mark].chars().next_back();
            if before.is_some_and(|letter| !letter.is_whitespace() && !matches!(letter, '(' | '"' | '\'')) {
                continue;
            }
            let rest = &prose[mark + 1..];
            let rest = &rest[..rest.floor_char_boundary(LONGEST_PATH)];
            let word = rest.split(references::ends_path).next().unwrap_or_default();
            if self.looks_left == 0 {
                return;
            }
            if self.seen.insert(format!("@{word}")) {
                self.reference(mark + 1, word);
            }
        }
    }

    fn reference(&mut self, at: usize, word: &str) {
        let end = word.find(')').unwrap_or(word.len());
        let path = word[..end].trim_end_matches(|letter: char| !letter.is_alphanumeric() && letter != '/');
        if is_pattern(path) {
            return;
        }
        if is_of_machine(path) {
            return self.tell(Way::Reference, at, path, End::Outside);
        }
        // A word that goes on behind the `/`, as in `@a/*`, stands for many.
        let is_folder = path.ends_with('/') && path.contains(char::is_alphanumeric) && !is_pattern(word);
        let is_file = extension(path).is_some_and(|extension| FILES.contains(&extension.to_ascii_lowercase().as_str()));
        if path.starts_with('~') || !is_file && !is_folder {
            return;
        }
        if is_folder {
            let end = self.follow(path);
            return self.tell(Way::Reference, at, path, end);
        }
        let mut longest = Some(word);
        while let Some(word) = longest.filter(|_| self.looks_left > 0) {
            let file = self.resources.zip(paths::clean(word)).map(|(folder, file)| paths::join(folder, &file));
            if file.is_some_and(|file| self.is_file(&file)) {
                return;
            }
            longest = references::shorter(word);
        }
        // What lies beside the skill and not in its folder is found by readers of the file, but by no `@`.
        let end = match self.follow(path) {
            End::There => End::Outside,
            end => end,
        };
        self.tell(Way::Reference, at, path, end);
    }

    fn follow(&mut self, path: &str) -> End {
        let clean = paths::clean(path);
        let own = self.resources.zip(clean.as_ref()).map(|(folder, path)| paths::join(folder, path));
        let whole = below_root(self.folder, path);
        if let Some(own) = own.as_ref().filter(|own| whole.as_ref() != Some(own))
            && self.exists(own)
        {
            return if paths::is_hidden(own) { End::Hidden } else { End::There };
        }
        let Some(whole) = whole else { return End::Outside };
        let belongs = self.resources.is_some_and(|folder| is_within(&whole, folder));
        match (self.exists(&whole), belongs) {
            (true, _) if whole == self.draft.path => End::There,
            (true, true) if paths::is_hidden(&whole) => End::Hidden,
            (true, true) => End::There,
            (true, false) => End::Outside,
            (false, false) if clean.is_none() => End::Outside,
            (false, _) => {
                let Some(left) = self.close_left.checked_sub(1) else { return End::Nothing(None) };
                self.close_left = left;
                let close = |path: &String| self.draft.close_file(path);
                End::Nothing(own.as_ref().and_then(close).or_else(|| close(&whole)))
            }
        }
    }

    fn tell(&mut self, way: Way, at: usize, path: &str, end: End) {
        if matches!(end, End::There) || !self.told.insert(path.to_owned()) {
            return;
        }
        let shown = quote(path);
        let dead = |message: String, advice: String| match way {
            Way::Link => Finding::warning("dead-link", message, advice),
            Way::Reference => Finding::warning("dead-reference", message, advice),
        };
        let finding = match end {
            End::Outside => {
                let advice = "copy the file into the skill, or call another skill by its name";
                let message = format!("`{shown}` leaves the skill, so whoever is served it cannot follow");
                Finding::warning("outside-reference", message, advice)
            }
            End::Hidden => {
                dead(format!("`{shown}` is hidden, so it is not served"), "rename it without the dot".to_owned())
            }
            End::Nothing(Some(name)) => {
                let close = paths::join(paths::folder_of(path).unwrap_or(""), &name);
                dead(format!("`{shown}` is not there"), format!("a close one is `{}`", quote(&close)))
            }
            End::Nothing(None) | End::There => {
                dead(format!("`{shown}` is not there"), "correct the path, or add the file".to_owned())
            }
        };
        self.found.push(finding.at(Place::of(self.draft.text, at)).into());
    }

    fn exists(&mut self, path: &str) -> bool {
        self.draft.folders.has_folder(path) || self.is_file(path)
    }

    fn is_file(&mut self, path: &str) -> bool {
        self.looks_left = self.looks_left.saturating_sub(1);
        self.draft.root.has_file(path)
    }
}

/// The path that a destination names, if it is one and not an address, a place in this file or an example.
fn relative_path(destination: &str) -> Option<String> {
    let path = destination.split(['#', '?']).next()?;
    let scheme = path.split(['/', '.']).next().and_then(|start| start.split_once(':'));
    let has_scheme = scheme.is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-'))
    });
    let is_other = path.is_empty() || path.starts_with("//") || path.starts_with(['@', '~']);
    (!has_scheme && !is_other && !is_pattern(path)).then(|| decoded(path))
}

/// Whether a path begins in somebody's home or at the top of the disk.
fn is_of_machine(path: &str) -> bool {
    let is_top = |path: &str| {
        let first = path.split('/').next().unwrap_or_default();
        first.len() < path.len() && TOP_FOLDERS.contains(&first)
    };
    path.strip_prefix("~/").is_some_and(|path| !path.is_empty()) || path.strip_prefix('/').is_some_and(is_top)
}

/// Whether a path stands for many, or for one that the reader has to think of.
fn is_pattern(path: &str) -> bool {
    path.contains(['*', '{', '}', '<', '>', '$', '|', '…']) || path.contains("...")
}

/// What stands behind the last dot of the last segment, if it can be an extension.
fn extension(path: &str) -> Option<&str> {
    let (stem, extension) = paths::last_segment(path).rsplit_once('.')?;
    let is_extension = (1..=10).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    (!stem.is_empty() && is_extension).then_some(extension)
}

/// Without percent signs, if that is text.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// A path from a folder as a path from the root, or nothing for one that leaves the root.
fn below_root(folder: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '\\']) || path.contains('\0') {
        return None;
    }
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()?),
            _ => segments.push(segment),
        }
    }
    Some(segments.join("/"))
}

fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
