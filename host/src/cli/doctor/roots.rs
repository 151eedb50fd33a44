//! Checks the roots, and what is in them.

use super::report::Check;
use crate::cli::hidden;
use crate::cli::lint::{Folders, Inspection};
use crate::compose::App;
use base::digest::Sha256;
use base::printable::{counted, quoted};
use bindings::catalog::{Mention, Remark};
use bindings::types::{Location, Problem, Severity};
use library::roots::{RootKind, SkillRoot};
use scripts::digest_of;
use scripts::grants::Entry;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The contents of the roots.
pub struct Inventory {
    pub roots: Vec<Root>,
    pub mentions: Vec<Mention>,
    /// The note about skills in hidden folders.
    hidden: Option<String>,
    /// Digests of skills with a pinned grant, by address; or why there is none.
    pub digests: BTreeMap<String, Result<Sha256, String>>,
}

pub struct Root {
    label: String,
    kind: RootKind,
    pub path: PathBuf,
    /// Whether it is a subfolder of a given folder or a clone, which need not exist.
    is_inner: bool,
    opened: std::io::Result<()>,
    /// The address of each skill, by path.
    pub skills: BTreeMap<String, String>,
    errors: usize,
    warnings: usize,
    /// The number of files with what may be meant to deceive.
    deceptive: usize,
    /// The number of Markdown files, whether they are skills or not.
    documents: usize,
}

impl Inventory {
    pub async fn of(app: &App) -> anyhow::Result<Self> {
        let index = app.catalog.index().await?;
        let lists = app.catalog.ask(|engine, snapshot| {
            let is_document = |file: &&String| file.ends_with(".md");
            let files = snapshot.roots.iter().map(|root| root.folders.values().flat_map(|folder| &folder.files));
            let documents: Vec<usize> = files.map(|files| files.filter(is_document).count()).collect();
            Ok((engine.problems(u32::MAX)?, engine.codes()?, documents))
        });
        let (problems, codes, documents) = lists.await?;
        let folders = Folders::new(&app.terms.roots, &app.config.roots.working_folder);
        let Inspection { files, mentions, .. } = Inspection::run(app, &folders, &[]).await?;
        let deceives = |remark: &Remark| codes.iter().any(|code| code.deceptive && code.name == remark.problem.code);
        let reviewed = files.iter().map(|file| &file.reviewed);
        let deceptive: Vec<&Location> =
            reviewed.filter(|file| file.remarks.iter().any(deceives)).map(|file| &file.file).collect();
        let root = |(number, root): (u32, &SkillRoot)| {
            let skills = index.skills.iter().map(|skill| skill.summary());
            let count = |severity: Severity| {
                let is_counted = |problem: &&Problem| problem.location.root == number && problem.severity == severity;
                problems.iter().filter(is_counted).count()
            };
            Root {
                label: root.label.clone(),
                kind: root.kind,
                path: root.path(),
                is_inner: root.is_inner(),
                // A folder may be opened without the permission to list it.
                opened: root.open().and_then(|folder| folder.entries()).map(drop),
                skills: skills
                    .filter(|skill| skill.file.root == number)
                    .map(|skill| (skill.skill_path.clone(), skill.address.clone()))
                    .collect(),
                errors: count(Severity::Error),
                warnings: count(Severity::Warning),
                deceptive: deceptive.iter().filter(|file| file.root == number).count(),
                documents: documents.get(number as usize).copied().unwrap_or_default(),
            }
        };
        let roots = (0..).zip(app.terms.roots.iter()).map(root).collect();
        let hidden = app.catalog.hidden_skills(Arc::clone(&app.terms.roots)).await?;
        let hidden = hidden::note(&hidden, &app.config.roots.working_folder);
        let mut inventory = Self { roots, mentions, hidden, digests: BTreeMap::new() };
        for entry in app.config.grants.entries.iter().filter(|entry| entry.grant.digest.is_some()) {
            let Ok(address) = inventory.skill_of(entry).map(str::to_owned) else { continue };
            let digest = match digest_of(&app.catalog, &address).await? {
                Some(digest) => digest.map_err(|reason| reason.to_string()),
                None => Err("it has no files for scripts".to_owned()),
            };
            inventory.digests.insert(address, digest);
        }
        Ok(inventory)
    }

    /// The address of the skill that a grant is for, or what is missing.
    pub fn skill_of(&self, entry: &Entry) -> Result<&str, &'static str> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let root = self.roots.iter().find(|root| real(&root.path) == real(&entry.root));
        let root = root.ok_or("that folder is not a root")?;
        root.skills.get(&entry.skill_path).map(String::as_str).ok_or("there is no such skill")
    }
}

pub fn checks(inventory: &anyhow::Result<Inventory>) -> Vec<Check> {
    let (roots, hidden) = match inventory {
        Ok(inventory) => (&inventory.roots, &inventory.hidden),
        Err(error) => return vec![Check::failed(&format!("{error:#}"))],
    };
    let mut checks: Vec<Check> = roots.iter().filter_map(|root| check(root, roots)).collect();
    if let Some((what, hint)) = hidden.as_deref().and_then(|note| note.split_once("\nhint: ")) {
        checks.push(Check::warn(what, hint));
    } else if roots.iter().all(|root| root.skills.is_empty()) {
        checks.push(Check::warn(
            "no root has a skill",
            "add a folder with a `SKILL.md`, or check that the folders are the right ones",
        ));
    }
    checks
}

/// Checks a root. Returns `None` for a subfolder of a given folder that does not exist.
fn check(root: &Root, all: &[Root]) -> Option<Check> {
    let (label, path) = (&root.label, root.path.display());
    let is_broken_parent =
        |other: &Root| other.path != root.path && root.path.starts_with(&other.path) && other.opened.is_err();
    Some(match &root.opened {
        Err(error) if root.is_inner && error.kind() == ErrorKind::NotFound => return None,
        // The problem with the given folder is reported once.
        Err(_) if root.is_inner && all.iter().any(is_broken_parent) => return None,
        Err(error) if error.kind() == ErrorKind::NotFound && root.kind == RootKind::Folder => Check::warn(
            format!("{label}: {path} does not exist"),
            "create it, or correct its name; its skills are served as soon as it exists",
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => Check::ok(format!("{label}: {path} does not exist")),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Check::fail(format!("{label}: {path} is not a folder"), "use the folder that contains it")
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Check::fail(
            format!("{label}: {path} may not be read by this user"),
            "let this user read and enter it, as with `chmod u+rx`, or use another folder",
        ),
        Err(error) => Check::fail(
            format!("{label}: {path} cannot be read: {error}"),
            "let this user read it, or use another folder",
        ),
        Ok(()) => check_inside(root, all),
    })
}

/// Checks the contents of a readable root.
fn check_inside(root: &Root, all: &[Root]) -> Check {
    let is_inside =
        |other: &&Root| other.path != root.path && other.path.starts_with(&root.path) && other.opened.is_ok();
    let inner: Vec<&Root> = all.iter().filter(is_inside).collect();
    let names: Vec<String> = inner.iter().map(|inner| inner.label.clone()).collect();
    let nested = match &names[..] {
        [] => String::new(),
        [_] => format!("; {} inside it is a separate root", quoted(&names)),
        _ => format!("; {} inside it are separate roots", quoted(&names)),
    };
    let what = format!("{}: {}, {}", root.label, root.path.display(), counted(root.skills.len(), "skill"));
    let is_empty = root.skills.is_empty() && inner.iter().all(|inner| inner.skills.is_empty());
    match (root.errors, root.warnings, root.deceptive) {
        (0, 0, 0) if is_empty && root.kind == RootKind::Folder => match root.documents {
            0 => Check::warn(
                format!("{what}{nested}: there is no Markdown file in it"),
                "check that it is the right folder; hidden folders, `node_modules` and `target` are skipped",
            ),
            count => Check::warn(
                format!("{what}{nested}: {} in it, none with front matter", counted(count, "Markdown file")),
                "start each skill with front matter between `---` lines: `name` and `description` in a `SKILL.md`, `keywords` and `description` in others",
            ),
        },
        (0, 0, 0) => Check::ok(format!("{what}{nested}")),
        (errors, warnings, deceptive) => {
            let mut found = String::new();
            if errors + warnings > 0 {
                found = format!(", {}, {}", counted(errors, "error"), counted(warnings, "warning"));
            }
            if deceptive > 0 {
                found.extend([", hidden or misleading content in ", &counted(deceptive, "file")]);
            }
            let advice = format!("run `skillcell lint {}` to see them", root.path.display());
            Check::warn(format!("{what}{found}{nested}"), advice)
        }
    }
}
