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
    let inventory = inventory.ok_or("no root can be read");
    let digest = inventory.and_then(|inventory| Ok(inventory.digests.get(inventory.skill_of(entry)?)));
    let mut checks = vec![match digest {
        Ok(digest) => check_pin(&name, grant, digest, file),
        Err(missing) => Check::warn(
            format!("{name}: {missing}, so the grant has no effect"),
            format!("correct it under `grants` in {}", file.display()),
        ),
    }];
    for variable in grant.variables.iter().filter(|name| variable(name).is_none()) {
        let what = format!("{name}: the variable {variable} is granted but not set");
        checks.push(Check::warn(what, "set it where the server is started"));
    }
    for path in grant.read.iter().chain(&grant.write).filter(|path| !path.exists()) {
        let what = format!("{name}: {} is granted but does not exist", path.display());
        checks.push(Check::warn(what, format!("create it, or correct it in {}", file.display())));
    }
    checks
}

/// Describes a grant, or fails if it is pinned to a different version of the skill than the one `now`.
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
    let list = |verb: &str, items: Vec<String>| (!items.is_empty()).then(|| format!("{verb} {}", items.join(", ")));
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
    let parts = [
        list("read", paths(&grant.read)),
        list("write", paths(&grant.write)),
        list("variables", grant.variables.iter().cloned().collect()),
        list("connect to", grant.hosts.iter().map(ToString::to_string).collect()),
        grant.digest.map(|digest| format!("pinned to {digest}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
}
