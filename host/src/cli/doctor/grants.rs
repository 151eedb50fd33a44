//! What scripts may have, and whether somebody gets it.

use super::report::Check;
use super::roots::Seen;
use crate::config::variable;
use crate::grants::{Entry, Grant, Grants};
use crate::sha256::Sha256;
use std::path::{Path, PathBuf};

/// A line for each grant, and one for each thing that is granted and not there. `enabled` tells whether scripts run.
pub fn checks(enabled: bool, grants: &Grants, seen: Option<&Seen>) -> Vec<Check> {
    if !enabled {
        return vec![Check::ok("no script runs: `scripts.enabled` is off in the operator's file")];
    }
    if grants.entries.is_empty() {
        return vec![Check::ok("none: scripts read the folder of their skill and compute, nothing else")];
    }
    grants.entries.iter().flat_map(|entry| checks_of(entry, seen, &grants.file)).collect()
}

fn checks_of(entry: &Entry, seen: Option<&Seen>, file: &Path) -> Vec<Check> {
    let Entry { root, skill_path, grant } = entry;
    let name = format!("`{skill_path}` in {}", root.display());
    let mut checks = vec![match find(entry, seen) {
        Ok(pin) => check_pin(&name, grant, pin, file),
        Err(missing) => Check::warn(
            format!("{name}: {missing}, so nobody has this grant"),
            format!("correct it under `grants` in {}", file.display()),
        ),
    }];
    let unset = grant.variables.iter().filter(|name| variable(name).is_none());
    checks.extend(unset.map(|variable| {
        Check::warn(
            format!("{name}: the variable {variable} is granted and not set"),
            "set it where the server is started",
        )
    }));
    let gone = grant.read.iter().chain(&grant.write).filter(|path| !path.exists());
    checks.extend(gone.map(|path| {
        Check::warn(
            format!("{name}: {} is granted and not there", path.display()),
            format!("make it, or correct it in {}", file.display()),
        )
    }));
    checks
}

/// The digest of the skill that a grant is for, if it was asked for; else why nobody has that grant.
fn find<'a>(entry: &Entry, seen: Option<&'a Seen>) -> Result<Option<&'a Result<Sha256, String>>, &'static str> {
    let seen = seen.ok_or("no root can be read")?;
    Ok(seen.digests.get(seen.skill_of(entry)?))
}

/// What a grant gives, unless it is pinned to a skill that is another one now.
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
        _ => Check::ok(format!("{name}: {}", told(grant))),
    }
}

fn told(grant: &Grant) -> String {
    let paths = |verb: &str, paths: &[PathBuf]| {
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        (!shown.is_empty()).then(|| format!("{verb} {}", shown.join(", ")))
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
