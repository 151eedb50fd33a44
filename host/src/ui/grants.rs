//! What scripts and integrations may have, and whether somebody gets it.

use super::Shown;
use crate::catalog::{AskError, Index};
use crate::config::{Config, Integration, variable};
use crate::grants::{Entry, Grant};
use crate::integrations::ready;
use crate::library::roots::SkillRoot;
use crate::scripts::{limits, runtime_name};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
pub struct GrantsView {
    /// The operator's file.
    file: String,
    file_exists: bool,
    roots: Vec<String>,
    scripts: ScriptsView,
    grants: Vec<EntryView>,
    integrations: Vec<IntegrationView>,
}

/// What every run is held to.
#[derive(Serialize)]
struct ScriptsView {
    enabled: bool,
    deterministic: bool,
    runs_at_once: usize,
    limits: Value,
    runtimes: Vec<RuntimeView>,
}

#[derive(Serialize)]
struct RuntimeView {
    extension: String,
    runtime: String,
}

#[derive(Serialize)]
struct EntryView {
    root: String,
    skill_path: String,
    /// The skill that has it.
    address: Option<String>,
    /// Why nobody has it.
    missing: Option<&'static str>,
    #[serde(flatten)]
    given: Given,
}

/// What a grant gives.
#[derive(Serialize)]
pub struct Given {
    read: Vec<Place>,
    write: Vec<Place>,
    variables: Vec<Variable>,
    hosts: Vec<String>,
    digest: Option<String>,
}

#[derive(Serialize)]
struct Place {
    path: String,
    exists: bool,
}

#[derive(Serialize)]
struct Variable {
    name: String,
    is_set: bool,
}

#[derive(Serialize)]
struct IntegrationView {
    name: String,
    address: Option<String>,
    hosts: Vec<String>,
    enabled: bool,
    /// Why it cannot be asked.
    trouble: Option<String>,
}

pub async fn grants(shown: &Shown) -> Result<GrantsView, AskError> {
    let index = shown.catalog.fresh_index().await?;
    let Config { grants, scripts, integrations, .. } = &*shown.config;
    let runtimes = scripts.runners.iter().filter(|(extension, _)| scripts.allowed_extensions.contains(*extension));
    Ok(GrantsView {
        file: grants.file.display().to_string(),
        file_exists: grants.file.exists(),
        roots: shown.roots.iter().map(|root| root.path().display().to_string()).collect(),
        scripts: ScriptsView {
            enabled: scripts.enabled,
            deterministic: scripts.deterministic,
            runs_at_once: scripts.runs_at_once,
            limits: limits(&scripts.limits),
            runtimes: runtimes
                .map(|(extension, runner)| RuntimeView { extension: extension.clone(), runtime: runtime_name(runner) })
                .collect(),
        },
        grants: grants.entries.iter().map(|entry| EntryView::new(entry, &shown.roots, &index)).collect(),
        integrations: integrations.all.iter().map(IntegrationView::new).collect(),
    })
}

impl EntryView {
    fn new(entry: &Entry, roots: &[SkillRoot], index: &Index) -> Self {
        let holder = holder(entry, roots, index);
        Self {
            root: entry.root.display().to_string(),
            skill_path: entry.skill_path.clone(),
            missing: holder.as_ref().err().copied(),
            address: holder.ok(),
            given: Given::new(&entry.grant),
        }
    }
}

/// The address of the skill that a grant is for; else what is missing.
fn holder(entry: &Entry, roots: &[SkillRoot], index: &Index) -> Result<String, &'static str> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let wanted = real(&entry.root);
    let root = (0..).zip(roots).find(|(_, root)| real(&root.path()) == wanted);
    let (number, _) = root.ok_or("that folder is no root now")?;
    let skill = index.skills.iter().find(|skill| skill.file.root == number && skill.skill_path == entry.skill_path);
    skill.map(|skill| skill.address.clone()).ok_or("there is no such skill")
}

impl Given {
    pub fn new(grant: &Grant) -> Self {
        let place = |path: &PathBuf| Place { path: path.display().to_string(), exists: path.exists() };
        let is_set = |name: &String| Variable { name: name.clone(), is_set: variable(name).is_some() };
        Self {
            read: grant.read.iter().map(place).collect(),
            write: grant.write.iter().map(place).collect(),
            variables: grant.variables.iter().map(is_set).collect(),
            hosts: grant.hosts.iter().map(ToString::to_string).collect(),
            digest: grant.digest.map(|digest| digest.to_string()),
        }
    }
}

impl IntegrationView {
    fn new(integration: &Integration) -> Self {
        let trouble = ready(integration).err();
        Self {
            name: integration.name.clone(),
            address: integration.address(),
            hosts: integration.hosts.iter().map(ToString::to_string).collect(),
            enabled: integration.enabled,
            // What to do about it is in the second line.
            trouble: trouble.and_then(|told| told.lines().next().map(str::to_owned)),
        }
    }
}
