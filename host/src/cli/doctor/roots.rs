//! The folders of skills, and what is in them.

use super::report::Check;
use crate::bindings::catalog::Mention;
use crate::bindings::types::{Problem, Severity};
use crate::cli::mentions::MOST;
use crate::cli::open::Opened;
use crate::grants::Entry;
use crate::library::roots::{RootKind, SkillRoot};
use crate::library::snapshot::RootSnapshot;
use crate::printable::{counted, quoted};
use crate::scripts::digest_of;
use crate::sha256::Sha256;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What is in the roots at one moment.
pub struct Seen {
    pub roots: Vec<Root>,
    pub mentions: Vec<Mention>,
    /// Digests of skills that a grant is pinned to, by their addresses; or why there is none.
    pub digests: BTreeMap<String, Result<Sha256, String>>,
}

pub struct Root {
    label: String,
    kind: RootKind,
    pub path: PathBuf,
    /// Whether it is a place inside a folder that was given, or in a clone, which need not be there.
    is_inner: bool,
    opened: std::io::Result<()>,
    /// Its skills by their paths, each with its address.
    pub skills: BTreeMap<String, String>,
    errors: usize,
    warnings: usize,
    /// Markdown files, whether they are skills or not.
    documents: usize,
}

impl Seen {
    pub async fn of(opened: &Opened) -> anyhow::Result<Self> {
        let index = opened.catalog.index().await?;
        let asked = opened.catalog.ask(|engine, snapshot| {
            let documents: Vec<usize> = snapshot.roots.iter().map(documents).collect();
            Ok((engine.problems(u32::MAX)?, engine.mentions(MOST)?, documents))
        });
        let (problems, mentions, documents) = asked.await?;
        let root = |(number, root): (u32, &SkillRoot)| {
            let skills = index.skills.iter().map(|skill| skill.summary());
            let here = |severity: Severity| {
                let is_here = |problem: &&Problem| problem.location.root == number && problem.severity == severity;
                problems.iter().filter(is_here).count()
            };
            Root {
                label: root.label.clone(),
                kind: root.kind,
                path: root.path(),
                is_inner: root.is_inner(),
                // A folder can be opened that nobody may look into.
                opened: root.open().and_then(|folder| folder.entries()).map(drop),
                skills: skills
                    .filter(|skill| skill.file.root == number)
                    .map(|skill| (skill.skill_path.clone(), skill.address.clone()))
                    .collect(),
                errors: here(Severity::Error),
                warnings: here(Severity::Warning),
                documents: documents.get(number as usize).copied().unwrap_or_default(),
            }
        };
        let roots = (0..).zip(opened.terms.roots.iter()).map(root).collect();
        let mut seen = Self { roots, mentions, digests: BTreeMap::new() };
        for entry in opened.config.grants.entries.iter().filter(|entry| entry.grant.digest.is_some()) {
            let Ok(address) = seen.skill_of(entry).map(str::to_owned) else { continue };
            let digest = match digest_of(&opened.catalog, &address).await? {
                Some(digest) => digest.map_err(|reason| reason.to_string()),
                None => Err("it has no files for scripts".to_owned()),
            };
            seen.digests.insert(address, digest);
        }
        Ok(seen)
    }

    /// The address of the skill that a grant is for; else what is missing.
    pub fn skill_of(&self, entry: &Entry) -> Result<&str, &'static str> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let root = self.roots.iter().find(|root| real(&root.path) == real(&entry.root));
        let root = root.ok_or("that folder is no root now")?;
        root.skills.get(&entry.skill_path).map(String::as_str).ok_or("there is no such skill")
    }
}

/// A line for each root.
pub fn checks(seen: &anyhow::Result<Seen>) -> Vec<Check> {
    match seen {
        Ok(seen) => {
            let mut checks: Vec<Check> = seen.roots.iter().filter_map(|root| check(root, &seen.roots)).collect();
            if seen.roots.iter().all(|root| root.skills.is_empty()) {
                checks.push(Check::warn(
                    "no root has a skill",
                    "add a `SKILL.md` in a folder of its own, or see whether the folders are the right ones",
                ));
            }
            checks
        }
        Err(error) => vec![Check::failed(&format!("{error:#}"))],
    }
}

/// Nothing for a place inside a folder that was given, in which skills would count and are not.
fn check(root: &Root, all: &[Root]) -> Option<Check> {
    let (label, path) = (&root.label, root.path.display());
    let is_in_trouble =
        |other: &Root| other.path != root.path && root.path.starts_with(&other.path) && other.opened.is_err();
    Some(match &root.opened {
        Err(error) if root.is_inner && error.kind() == ErrorKind::NotFound => return None,
        // What is wrong with the folder is told once.
        Err(_) if root.is_inner && all.iter().any(is_in_trouble) => return None,
        Err(error) if error.kind() == ErrorKind::NotFound && root.kind == RootKind::Folder => Check::warn(
            format!("{label}: {path} is not there"),
            "make it, or correct its name; its skills are served as soon as it is there",
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => Check::ok(format!("{label}: {path} is not there")),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Check::fail(format!("{label}: {path} is no folder"), "name the folder that it is in")
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Check::fail(
            format!("{label}: {path} may not be read by this user"),
            "let this user read and enter it, as with `chmod u+rx`, or name another folder",
        ),
        Err(error) => Check::fail(
            format!("{label}: {path} cannot be read: {error}"),
            "let this user read it, or name another folder",
        ),
        Ok(()) => check_inside(root, all),
    })
}

/// What is in a root that can be read.
fn check_inside(root: &Root, all: &[Root]) -> Check {
    let inner: Vec<&Root> = all
        .iter()
        .filter(|other| other.path != root.path && other.path.starts_with(&root.path) && other.opened.is_ok())
        .collect();
    let names: Vec<String> = inner.iter().map(|inner| inner.label.clone()).collect();
    let nested = match &names[..] {
        [] => String::new(),
        [_] => format!("; {} in it is a root of its own", quoted(&names)),
        _ => format!("; {} in it are roots of their own", quoted(&names)),
    };
    let what = format!("{}: {}, {}", root.label, root.path.display(), counted(root.skills.len(), "skill"));
    let is_empty = root.skills.is_empty() && inner.iter().all(|inner| inner.skills.is_empty());
    match (root.errors, root.warnings) {
        (0, 0) if is_empty && root.kind == RootKind::Folder => match root.documents {
            0 => Check::warn(
                format!("{what}{nested}: there is no Markdown file in it"),
                "see whether it is the right folder; hidden folders, `node_modules` and `target` are not looked into",
            ),
            count => Check::warn(
                format!("{what}{nested}: {} in it, none with front matter", counted(count, "Markdown file")),
                "begin each skill with lines between `---`: `name` and `description` in a `SKILL.md`, `keywords` and `description` in others",
            ),
        },
        (0, 0) => Check::ok(format!("{what}{nested}")),
        (errors, warnings) => Check::warn(
            format!("{what}, {}, {}{nested}", counted(errors, "error"), counted(warnings, "warning")),
            format!("run `skillcell lint {}` to see them", root.path.display()),
        ),
    }
}

/// How many Markdown files are in the folders that are walked.
fn documents(root: &RootSnapshot) -> usize {
    root.folders.values().flat_map(|folder| &folder.files).filter(|file| file.ends_with(".md")).count()
}
