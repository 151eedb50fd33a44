//! The repositories that skills come from, without asking their remotes.

use super::report::Check;
use crate::config::Config;
use crate::config::git::Remote;
use crate::git::place;
use crate::moment;

pub fn checks(config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(main) = &config.git.main {
        checks.push(if config.roots.names_folders() {
            let address = main.address.text();
            Check::ok(format!("{address}: SKILLS_REPO does not count, because a folder is named"))
        } else {
            check(main)
        });
    }
    checks.extend(config.git.more.iter().map(check));
    if checks.is_empty() {
        checks.push(Check::ok("no skills come from a repository"));
    }
    checks
}

fn check(remote: &Remote) -> Check {
    let (address, folder) = (remote.address.text(), remote.folder.display());
    let token = if remote.credential.is_some() { ", with a token" } else { "" };
    if !remote.folder.join(".git").exists() {
        return Check::warn(
            format!("{address}{token}: there is no clone in {folder}"),
            "it is made when the server starts; its log says why if it is not",
        );
    }
    match place::last_sync(remote) {
        Some(since) => Check::ok(format!("{address}{token}: {folder}, last synced {}", moment::exactly(since))),
        None => Check::warn(
            format!("{address}{token}: {folder} was never synced"),
            "see whether the remote can be reached; the log of the server says why if not",
        ),
    }
}
