//! Checks that the targets of links, images and `@file` references exist.

use super::links::links;
use super::{Diagnostic, Draft, SkillContext};
use crate::paths;
use crate::place::Place;
use crate::problem::{Finding, quote};
use crate::references;
use std::collections::BTreeSet;

/// Maximum number of file system lookups per file.
const MAX_LOOKUPS: usize = 500;

/// Maximum number of missing paths for which a similar name is searched.
const MAX_SUGGESTIONS: usize = 20;

/// Maximum length of a path.
const MAX_PATH_BYTES: usize = 1_024;

/// Extensions that make `@word.extension` a file. Others are user names, decorators and addresses.
const FILE_EXTENSIONS: [&str; 44] = [
    "bash", "bat", "c", "cfg", "cjs", "conf", "cpp", "css", "csv", "docx", "gif", "go", "h", "html", "ini", "ipynb",
    "java", "jpeg", "jpg", "js", "json", "jsx", "lua", "md", "mdx", "mjs", "pdf", "png", "ps1", "py", "rb", "rs", "sh",
    "sql", "svg", "template", "toml", "ts", "tsx", "txt", "xlsx", "xml", "yaml", "yml",
];

/// Top-level folders that tell `@/etc/passwd` from `@/components/button`, an import path.
const TOP_FOLDERS: [&str; 14] =
    ["Applications", "Library", "Users", "bin", "dev", "etc", "home", "mnt", "opt", "root", "srv", "tmp", "usr", "var"];

#[derive(Clone, Copy)]
enum LinkKind {
    Link,
    /// `@file`
    Reference,
}

/// What a path leads to.
enum Target {
    Exists,
    /// Not found; the payload is a similar name, if there is one.
    Missing(Option<String>),
    /// Hidden, so it is not served.
    Hidden,
    /// Not part of the skill.
    Outside,
}

/// Reports every link and reference whose target is missing or not served, each path once.
pub fn targets(draft: &Draft<'_>, context: &SkillContext<'_>, prose: &str) -> Vec<Diagnostic> {
    let mut search = Search {
        draft,
        resources: context.resources,
        folder: paths::folder_of(draft.path).unwrap_or(""),
        lookups_left: MAX_LOOKUPS,
        suggestions_left: MAX_SUGGESTIONS,
        seen: BTreeSet::new(),
        reported: BTreeSet::new(),
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
    /// The folder that contains the file.
    folder: &'draft str,
    lookups_left: usize,
    suggestions_left: usize,
    /// Destinations already followed; references with their `@`.
    seen: BTreeSet<String>,
    reported: BTreeSet<String>,
    found: Vec<Diagnostic>,
}

impl Search<'_> {
    fn link(&mut self, at: usize, destination: &str) {
        let Some(path) = relative_path(destination) else { return };
        if self.lookups_left == 0 || !self.seen.insert(path.clone()) || !self.may_be_file(&path) {
            return;
        }
        let target = self.follow(&path);
        self.report(LinkKind::Link, at, &path, target);
    }

    /// Whether a destination is certainly a file: explanations of links contain `[text](url)`.
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
            let rest = &rest[..rest.floor_char_boundary(MAX_PATH_BYTES)];
            let word = rest.split(references::ends_path).next().unwrap_or_default();
            if self.lookups_left == 0 {
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
        if is_machine_path(path) {
            return self.report(LinkKind::Reference, at, path, Target::Outside);
        }
        // A word that continues after the `/`, such as `@a/*`, is a pattern.
        let is_folder = path.ends_with('/') && path.contains(char::is_alphanumeric) && !is_pattern(word);
        let is_file =
            extension(path).is_some_and(|extension| FILE_EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str()));
        if path.starts_with('~') || !is_file && !is_folder {
            return;
        }
        if is_folder {
            let target = self.follow(path);
            return self.report(LinkKind::Reference, at, path, target);
        }
        let mut longest = Some(word);
        while let Some(word) = longest.filter(|_| self.lookups_left > 0) {
            let file = self.resources.zip(paths::clean(word)).map(|(folder, file)| paths::join(folder, &file));
            if file.is_some_and(|file| self.is_file(&file)) {
                return;
            }
            longest = references::shorter(word);
        }
        // A file next to the skill but outside its resource folder can be linked, but not referenced with `@`.
        let target = match self.follow(path) {
            Target::Exists => Target::Outside,
            target => target,
        };
        self.report(LinkKind::Reference, at, path, target);
    }

    fn follow(&mut self, path: &str) -> Target {
        let clean = paths::clean(path);
        let own = self.resources.zip(clean.as_ref()).map(|(folder, path)| paths::join(folder, path));
        let whole = below_root(self.folder, path);
        if let Some(own) = own.as_ref().filter(|own| whole.as_ref() != Some(own))
            && self.exists(own)
        {
            return if paths::is_hidden(own) { Target::Hidden } else { Target::Exists };
        }
        let Some(whole) = whole else { return Target::Outside };
        let belongs = self.resources.is_some_and(|folder| is_within(&whole, folder));
        match (self.exists(&whole), belongs) {
            (true, _) if whole == self.draft.path => Target::Exists,
            (true, true) if paths::is_hidden(&whole) => Target::Hidden,
            (true, true) => Target::Exists,
            (true, false) => Target::Outside,
            (false, false) if clean.is_none() => Target::Outside,
            (false, _) => {
                let Some(left) = self.suggestions_left.checked_sub(1) else { return Target::Missing(None) };
                self.suggestions_left = left;
                let close = |path: &String| self.draft.similar_file(path);
                Target::Missing(own.as_ref().and_then(close).or_else(|| close(&whole)))
            }
        }
    }

    fn report(&mut self, kind: LinkKind, at: usize, path: &str, target: Target) {
        if matches!(target, Target::Exists) || !self.reported.insert(path.to_owned()) {
            return;
        }
        let shown = quote(path);
        let dead = |message: String, advice: String| match kind {
            LinkKind::Link => Finding::warning("dead-link", message, advice),
            LinkKind::Reference => Finding::warning("dead-reference", message, advice),
        };
        let finding = match target {
            Target::Outside => {
                let advice = "copy the file into the skill, or refer to another skill by its name";
                let message = format!("`{shown}` points outside the skill, where clients cannot follow it");
                Finding::warning("outside-reference", message, advice)
            }
            Target::Hidden => {
                dead(format!("`{shown}` is hidden, so it is not served"), "rename it without the dot".to_owned())
            }
            Target::Missing(Some(name)) => {
                let close = paths::join(paths::folder_of(path).unwrap_or(""), &name);
                dead(format!("`{shown}` does not exist"), format!("did you mean `{}`?", quote(&close)))
            }
            Target::Missing(None) | Target::Exists => {
                dead(format!("`{shown}` does not exist"), "correct the path, or add the file".to_owned())
            }
        };
        self.found.push(finding.at(Place::of(self.draft.text, at)).into());
    }

    fn exists(&mut self, path: &str) -> bool {
        self.draft.folders.has_folder(path) || self.is_file(path)
    }

    fn is_file(&mut self, path: &str) -> bool {
        self.lookups_left = self.lookups_left.saturating_sub(1);
        self.draft.root.has_file(path)
    }
}

/// Returns the relative path of a destination; `None` for URLs, anchors and examples.
fn relative_path(destination: &str) -> Option<String> {
    let path = destination.split(['#', '?']).next()?;
    let scheme = path.split(['/', '.']).next().and_then(|start| start.split_once(':'));
    let has_scheme = scheme.is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-'))
    });
    let is_other = path.is_empty() || path.starts_with("//") || path.starts_with(['@', '~']);
    (!has_scheme && !is_other && !is_pattern(path)).then(|| decoded(path))
}

/// Whether a path starts in a home folder or at the top of the disk.
fn is_machine_path(path: &str) -> bool {
    let is_top = |path: &str| {
        let first = path.split('/').next().unwrap_or_default();
        first.len() < path.len() && TOP_FOLDERS.contains(&first)
    };
    path.strip_prefix("~/").is_some_and(|path| !path.is_empty()) || path.strip_prefix('/').is_some_and(is_top)
}

/// Whether a path is a pattern or contains a placeholder.
fn is_pattern(path: &str) -> bool {
    path.contains(['*', '{', '}', '<', '>', '$', '|', '…']) || path.contains("...")
}

/// Returns what follows the last dot of the last segment, if it can be an extension.
fn extension(path: &str) -> Option<&str> {
    let (stem, extension) = paths::last_segment(path).rsplit_once('.')?;
    let is_extension = (1..=10).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && extension.bytes().any(|byte| byte.is_ascii_alphabetic());
    (!stem.is_empty() && is_extension).then_some(extension)
}

/// Decodes percent-encoding, if the result is UTF-8.
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

/// Resolves a path from a folder to a path from the root; `None` if it leaves the root.
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
