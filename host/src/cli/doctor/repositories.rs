//! The repositories that skills come from, and whether their remotes answer if somebody wants to know.

use super::report::Check;
use crate::config::Config;
use crate::config::git::{Network, Remote};
use crate::git::{place, try_remote};
use crate::moment;
use std::time::Duration;

/// A clone that was synced this long ago was tried often since, and in vain.
const LONG_AGO: Duration = Duration::from_hours(24);

pub fn checks(config: &Config, online: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut look = |remote: &Remote| {
        checks.extend(check(remote));
        checks.extend(online.then(|| ask(remote, &config.git.network)));
    };
    let counts = !config.roots.names_folders();
    config.git.main.iter().filter(|_| counts).chain(&config.git.more).for_each(&mut look);
    if let Some(main) = config.git.main.as_ref().filter(|_| !counts) {
        let address = main.address.text();
        checks.push(Check::ok(format!("{address}: SKILLS_REPO does not count, because a folder is named")));
    }
    if checks.is_empty() {
        checks.push(Check::ok("no skills come from a repository"));
    }
    checks
}

/// What is known without asking anybody.
fn check(remote: &Remote) -> Vec<Check> {
    let address = remote.address.text();
    let missing = remote.token_missing.then(|| {
        Check::warn(
            format!("{address}: the variable that `token_env` names is not set, so no token is sent"),
            "set it where the server is started",
        )
    });
    missing.into_iter().chain([clone(remote)]).collect()
}

fn clone(remote: &Remote) -> Check {
    let (address, folder) = (remote.address.text(), remote.folder.display());
    let token = if remote.credential.is_some() { ", with a token" } else { "" };
    let what = format!("{address}{token}: ");
    if !place::is_there(&remote.folder) {
        return Check::warn(
            format!("{what}there is no clone in {folder}"),
            "it is made when the server starts; `skillcell doctor --online` tells why if it is not",
        );
    }
    if let Some(damage) = place::damage(&remote.folder) {
        return Check::warn(
            format!("{what}the clone in {folder} is damaged: {damage}"),
            "nothing has to be done: what is there is served, and the next sync makes it anew",
        );
    }
    match place::last_sync(remote) {
        Some(since) if moment::since_1970().saturating_sub(since) > LONG_AGO => Check::warn(
            format!("{what}{folder}, last synced {}", moment::exactly(since)),
            "if a server has run since, see with `skillcell doctor --online` whether the remote can be reached",
        ),
        Some(since) => Check::ok(format!("{what}{folder}, last synced {}", moment::exactly(since))),
        None => Check::warn(
            format!("{what}{folder} was never synced"),
            "see with `skillcell doctor --online` whether the remote can be reached",
        ),
    }
}

fn ask(remote: &Remote, network: &Network) -> Check {
    match try_remote(remote, network) {
        Ok((branch, commit)) => Check::ok(format!("{} answers: `{branch}` is at {commit}", remote.address.text())),
        Err(error) => Check::failed(&error),
    }
}
