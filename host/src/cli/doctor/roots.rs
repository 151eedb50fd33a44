//! The folders of skills, and what is in them.

use super::report::Check;
use crate::bindings::catalog::Mention;
use crate::bindings::types::{Problem, Severity};
use crate::cli::mentions::MOST;
use crate::cli::open::Opened;
use crate::library::roots::{RootKind, SkillRoot};
use crate::printable::counted;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::PathBuf;

/// What is in the roots at one moment.
pub struct Seen {
    pub roots: Vec<Root>,
    pub mentions: Vec<Mention>,
}

pub struct Root {
    label: String,
    kind: RootKind,
    pub path: PathBuf,
    opened: std::io::Result<()>,
    /// Paths of its skills.
    pub skills: BTreeSet<String>,
    errors: usize,
    warnings: usize,
}

impl Seen {
    pub async fn of(opened: &Opened) -> anyhow::Result<Self> {
        let index = opened.catalog.index().await?;
        let asked = opened.catalog.ask(|engine, _| Ok((engine.problems(u32::MAX)?, engine.mentions(MOST)?)));
        let (problems, mentions) = asked.await?;
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
                opened: root.open().map(drop),
                skills: skills
                    .filter(|skill| skill.file.root == number)
                    .map(|skill| skill.skill_path.clone())
                    .collect(),
                errors: here(Severity::Error),
                warnings: here(Severity::Warning),
            }
        };
        let roots = (0..).zip(opened.terms.roots.iter()).map(root).collect();
        Ok(Self { roots, mentions })
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
    let is_inside = all.iter().any(|other| other.path != root.path && root.path.starts_with(&other.path));
    Some(match &root.opened {
        Err(error) if error.kind() == ErrorKind::NotFound && is_inside => return None,
        Err(error) if error.kind() == ErrorKind::NotFound && root.kind == RootKind::Folder => Check::warn(
            format!("{label}: {path} is not there"),
            "make it, or correct its name; its skills are served as soon as it is there",
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => Check::ok(format!("{label}: {path} is not there")),
        Err(error) => Check::fail(
            format!("{label}: {path} cannot be read: {error}"),
            "let this user read it, or name another folder",
        ),
        Ok(()) => {
            let skills = counted(root.skills.len(), "skill");
            match (root.errors, root.warnings) {
                (0, 0) => Check::ok(format!("{label}: {path}, {skills}")),
                (errors, warnings) => {
                    let problems = format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"));
                    Check::warn(
                        format!("{label}: {path}, {skills}, {problems}"),
                        format!("run `skillcell lint {path}` to see them"),
                    )
                }
            }
        }
    })
}
