//! The engine, the runtimes and the scorers.

use super::report::Check;
use crate::cli::plugin::list::{Plugin, plugins};
use crate::config::Config;

pub fn checks(config: &Config) -> Vec<Check> {
    match plugins(config) {
        Ok(plugins) => plugins.iter().map(check).collect(),
        Err(error) => vec![Check::failed(&format!("{error:#}"))],
    }
}

fn check(plugin: &Plugin) -> Check {
    let digest = plugin.sha256.map(|digest| format!(", {digest}")).unwrap_or_default();
    let used = if plugin.in_use { "in use" } else { "not in use" };
    let what = format!("{} `{}`, {used}, from {}{digest}", plugin.world.name(), plugin.name, plugin.from);
    match &plugin.problem {
        None => Check::ok(what),
        Some(problem) if plugin.in_use => {
            Check::fail(format!("{what}: {problem}"), "see `skillcell plugin check` of its file, or stop using it")
        }
        Some(problem) => Check::warn(format!("{what}: {problem}"), "mend it before you choose it"),
    }
}
