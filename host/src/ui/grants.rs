//! What scripts and integrations are granted, and whether each grant applies to a skill.

use super::UiState;
use crate::config::Config;
use base::environment::variable;
use base::place::Audience;
use catalog::{AskError, Index};
use integrations::options::Integration;
use integrations::ready_service;
use library::roots::SkillRoot;
use scripts::grants::{Entry, Grant};
use scripts::limits;
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

/// The limits of every run.
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
    /// The skill that the grant applies to.
    address: Option<String>,
    /// Why it applies to no skill.
    missing: Option<&'static str>,
    #[serde(flatten)]
    grant: GrantView,
}

#[derive(Serialize)]
pub struct GrantView {
    read: Vec<PathView>,
    write: Vec<PathView>,
    variables: Vec<VariableView>,
    hosts: Vec<String>,
    digest: Option<String>,
}

#[derive(Serialize)]
struct PathView {
    path: String,
    exists: bool,
}

#[derive(Serialize)]
struct VariableView {
    name: String,
    is_set: bool,
}

#[derive(Serialize)]
struct IntegrationView {
    name: String,
    address: Option<String>,
    hosts: Vec<String>,
    enabled: bool,
    /// Why it cannot be queried.
    error: Option<String>,
}

pub async fn grants(state: &UiState) -> Result<GrantsView, AskError> {
    let index = state.catalog.fresh_index().await?;
    let Config { grants, scripts, integrations, .. } = &*state.config;
    let runtimes = scripts.runners.iter().filter(|(extension, _)| scripts.allowed_extensions.contains(*extension));
    Ok(GrantsView {
        file: grants.file.display().to_string(),
        file_exists: grants.file.exists(),
        roots: state.roots.iter().map(|root| root.path().display().to_string()).collect(),
        scripts: ScriptsView {
            enabled: scripts.enabled,
            deterministic: scripts.deterministic,
            runs_at_once: scripts.runs_at_once,
            limits: limits(&scripts.limits),
            runtimes: runtimes
                .map(|(extension, runner)| RuntimeView {
                    extension: extension.clone(),
                    runtime: runner.name(Audience::Local),
                })
                .collect(),
        },
        grants: grants.entries.iter().map(|entry| EntryView::new(entry, &state.roots, &index)).collect(),
        integrations: integrations.all.iter().map(IntegrationView::new).collect(),
    })
}

impl EntryView {
    fn new(entry: &Entry, roots: &[SkillRoot], index: &Index) -> Self {
        let skill = skill_of(entry, roots, index);
        Self {
            root: entry.root.display().to_string(),
            skill_path: entry.skill_path.clone(),
            missing: skill.as_ref().err().copied(),
            address: skill.ok(),
            grant: GrantView::new(&entry.grant),
        }
    }
}

/// Returns the address of the skill that a grant applies to; otherwise what is missing.
fn skill_of(entry: &Entry, roots: &[SkillRoot], index: &Index) -> Result<String, &'static str> {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let wanted = canonical(&entry.root);
    let root = (0..).zip(roots).find(|(_, root)| canonical(&root.path()) == wanted);
    let (number, _) = root.ok_or("that folder is not a root")?;
    let skill = index.skills.iter().find(|skill| skill.file.root == number && skill.skill_path == entry.skill_path);
    skill.map(|skill| skill.address.clone()).ok_or("there is no such skill")
}

impl GrantView {
    pub fn new(grant: &Grant) -> Self {
        let path_view = |path: &PathBuf| PathView { path: path.display().to_string(), exists: path.exists() };
        let variable_view = |name: &String| VariableView { name: name.clone(), is_set: variable(name).is_some() };
        Self {
            read: grant.read.iter().map(path_view).collect(),
            write: grant.write.iter().map(path_view).collect(),
            variables: grant.variables.iter().map(variable_view).collect(),
            hosts: grant.hosts.iter().map(ToString::to_string).collect(),
            digest: grant.digest.map(|digest| digest.to_string()),
        }
    }
}

impl IntegrationView {
    fn new(integration: &Integration) -> Self {
        let error = ready_service(integration).err();
        Self {
            name: integration.name.clone(),
            address: integration.address(),
            hosts: integration.hosts.iter().map(ToString::to_string).collect(),
            enabled: integration.enabled,
            // The hint is in the second line.
            error: error.and_then(|missing| missing.to_string().lines().next().map(str::to_owned)),
        }
    }
}
