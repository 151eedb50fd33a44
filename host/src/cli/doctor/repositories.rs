//! Checks the repositories that skills come from, and with `--online` their remotes.

use super::report::Check;
use crate::config::Config;
use base::place::Audience;
use base::timestamp;
use git::options::{Network, Remote};
use git::{clone_folder, try_remote};
use std::time::Duration;

/// A clone whose last sync is older than this has failed many attempts since.
const STALE_AFTER: Duration = Duration::from_hours(24);

pub fn checks(config: &Config, online: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut check_remote = |remote: &Remote| {
        checks.extend(check_token(remote));
        checks.push(check_clone(remote));
        checks.extend(online.then(|| contact(remote, &config.git.network)));
    };
    let is_used = !config.roots.names_folders();
    config.git.main.iter().filter(|_| is_used).chain(&config.git.more).for_each(&mut check_remote);
    if let Some(main) = config.git.main.as_ref().filter(|_| !is_used) {
        let address = main.address.text();
        checks.push(Check::ok(format!("{address}: SKILLS_REPO is ignored, because a folder is given")));
    }
    if checks.is_empty() {
        checks.push(Check::ok("no skills come from a repository"));
    }
    checks
}

fn check_token(remote: &Remote) -> Option<Check> {
    let address = remote.address.text();
    let what = format!("{address}: the variable in `token_env` is not set, so no token is sent");
    remote.token_missing.then(|| Check::warn(what, "set it where the server is started"))
}

fn check_clone(remote: &Remote) -> Check {
    let (address, folder) = (remote.address.text(), remote.folder.display());
    let token = if remote.credential.is_some() { ", with a token" } else { "" };
    let what = format!("{address}{token}: ");
    if !clone_folder::exists(&remote.folder) {
        return Check::warn(
            format!("{what}there is no clone in {folder}"),
            "it is created when the server starts; if that fails, `skillcell doctor --online` shows why",
        );
    }
    if let Some(damage) = clone_folder::damage(&remote.folder) {
        return Check::warn(
            format!("{what}the clone in {folder} is damaged: {damage}"),
            "nothing to do: what is there is served, and the next sync recreates it",
        );
    }
    let Some(since) = clone_folder::last_sync(remote) else {
        let advice = "check with `skillcell doctor --online` whether the remote can be reached";
        return Check::warn(format!("{what}{folder} was never synced"), advice);
    };
    let what = format!("{what}{folder}, last synced {}", timestamp::format_millis(since));
    if timestamp::since_epoch().saturating_sub(since) <= STALE_AFTER {
        return Check::ok(what);
    }
    Check::warn(
        what,
        "if a server has run since, check with `skillcell doctor --online` whether the remote can be reached",
    )
}

fn contact(remote: &Remote, network: &Network) -> Check {
    match try_remote(remote, network) {
        Ok((branch, commit)) => Check::ok(format!("{} answers: `{branch}` is at {commit}", remote.address.text())),
        Err(error) => Check::failed(&error.for_audience(Audience::Local)),
    }
}
