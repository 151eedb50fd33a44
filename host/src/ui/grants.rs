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
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub async fn grants(state: &UiState) -> Result<Value, AskError> {
    let index = state.catalog.fresh_index().await?;
    let Config { grants, scripts, integrations, .. } = &*state.config;
    let roots: Vec<String> = state.roots.iter().map(|root| root.path().display().to_string()).collect();
    let runtimes = scripts.runners.iter().filter(|(extension, _)| scripts.allowed_extensions.contains(*extension));
    let runtimes = runtimes.map(|(name, runner)| json!({"extension": name, "runtime": runner.name(Audience::Local)}));
    Ok(json!({
        "file": grants.file.display().to_string(),
        "file_exists": grants.file.exists(),
        "roots": roots,
        "scripts": {
            "enabled": scripts.enabled,
            "deterministic": scripts.deterministic,
            "runs_at_once": scripts.runs_at_once,
            "limits": limits(&scripts.limits),
            "runtimes": runtimes.collect::<Vec<_>>(),
        },
        "grants": grants.entries.iter().map(|entry| entry_view(entry, &state.roots, &index)).collect::<Vec<_>>(),
        "integrations": integrations.all.iter().map(integration_view).collect::<Vec<_>>(),
    }))
}

/// The grant, with the address of its skill or what is `missing` for it to apply to one.
fn entry_view(entry: &Entry, roots: &[SkillRoot], index: &Index) -> Value {
    let skill = skill_of(entry, roots, index);
    let mut view = grant_view(&entry.grant);
    view["root"] = json!(entry.root.display().to_string());
    view["skill_path"] = json!(entry.skill_path);
    view["missing"] = json!(skill.as_ref().err());
    view["address"] = json!(skill.ok());
    view
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

pub fn grant_view(grant: &Grant) -> Value {
    let path = |path: &PathBuf| json!({"path": path.display().to_string(), "exists": path.exists()});
    let variable = |name: &String| json!({"name": name, "is_set": variable(name).is_some()});
    json!({
        "read": grant.read.iter().map(path).collect::<Vec<_>>(),
        "write": grant.write.iter().map(path).collect::<Vec<_>>(),
        "variables": grant.variables.iter().map(variable).collect::<Vec<_>>(),
        "hosts": grant.hosts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "digest": grant.digest.map(|digest| digest.to_string()),
    })
}

fn integration_view(integration: &Integration) -> Value {
    let error = ready_service(integration).err().map(|missing| missing.to_string());
    json!({
        "name": integration.name,
        "address": integration.address(),
        "hosts": integration.hosts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "enabled": integration.enabled,
        // The hint is in the second line.
        "error": error.as_ref().and_then(|error| error.lines().next()),
    })
}
