//! Checks the grants for scripts, and whether they take effect.

use super::report::Check;
use super::roots::Inventory;
use base::digest::Sha256;
use base::environment::variable;
use scripts::grants::{Entry, Grant, Grants};
use std::path::{Path, PathBuf};

/// One check per grant, and one for each granted thing that does not exist. `enabled` is whether scripts run.
pub fn checks(enabled: bool, grants: &Grants, inventory: Option<&Inventory>) -> Vec<Check> {
    if !enabled {
        return vec![Check::ok("scripts are disabled: `scripts.enabled` is false in the operator's file")];
    }
    if grants.entries.is_empty() {
        return vec![Check::ok("none: scripts can only read the folder of their skill")];
    }
    grants.entries.iter().flat_map(|entry| checks_of(entry, inventory, &grants.file)).collect()
}

fn checks_of(entry: &Entry, inventory: Option<&Inventory>, file: &Path) -> Vec<Check> {
    let Entry { root, skill_path, grant } = entry;
    let name = format!("`{skill_path}` in {}", root.display());
    let mut checks = vec![match find(entry, inventory) {
        Ok(pin) => check_pin(&name, grant, pin, file),
        Err(missing) => Check::warn(
            format!("{name}: {missing}, so the grant has no effect"),
            format!("correct it under `grants` in {}", file.display()),
        ),
    }];
    let unset = grant.variables.iter().filter(|name| variable(name).is_none());
    checks.extend(unset.map(|variable| {
        Check::warn(
            format!("{name}: the variable {variable} is granted but not set"),
            "set it where the server is started",
        )
    }));
    let missing = grant.read.iter().chain(&grant.write).filter(|path| !path.exists());
    checks.extend(missing.map(|path| {
        Check::warn(
            format!("{name}: {} is granted but does not exist", path.display()),
            format!("create it, or correct it in {}", file.display()),
        )
    }));
    checks
}

/// The digest of the skill that a grant is for, if the grant is pinned; otherwise why the grant has no effect.
fn find<'a>(
    entry: &Entry,
    inventory: Option<&'a Inventory>,
) -> Result<Option<&'a Result<Sha256, String>>, &'static str> {
    let inventory = inventory.ok_or("no root can be read")?;
    Ok(inventory.digests.get(inventory.skill_of(entry)?))
}

/// Describes a grant, or fails if it is pinned to a different version of the skill.
fn check_pin(name: &str, grant: &Grant, now: Option<&Result<Sha256, String>>, file: &Path) -> Check {
    match (grant.digest, now) {
        (Some(pinned), Some(Ok(digest))) if pinned != *digest => Check::fail(
            format!("{name}: void, because the skill changed since it was pinned"),
            format!("review it, then write `digest: {digest}` in {}", file.display()),
        ),
        (Some(_), Some(Err(reason))) => Check::fail(
            format!("{name}: void, because the skill has no digest: {reason}"),
            format!("remove `digest` from the grant in {}, or make the skill smaller", file.display()),
        ),
        _ => Check::ok(format!("{name}: {}", describe(grant))),
    }
}

fn describe(grant: &Grant) -> String {
    let paths = |verb: &str, paths: &[PathBuf]| {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        (!paths.is_empty()).then(|| format!("{verb} {}", paths.join(", ")))
    };
    let variables: Vec<&str> = grant.variables.iter().map(String::as_str).collect();
    let hosts: Vec<String> = grant.hosts.iter().map(ToString::to_string).collect();
    let parts = [
        paths("read", &grant.read),
        paths("write", &grant.write),
        (!variables.is_empty()).then(|| format!("variables {}", variables.join(", "))),
        (!hosts.is_empty()).then(|| format!("connect to {}", hosts.join(", "))),
        grant.digest.map(|digest| format!("pinned to {digest}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
}
