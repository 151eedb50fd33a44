//! Checks the engine, the runtimes and the scorers.

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
    let usage = if plugin.in_use { "in use" } else { "not in use" };
    let what = format!("{} `{}`, {usage}, from {}", plugin.world.name(), plugin.name, plugin.from);
    let Some(problem) = &plugin.problem else {
        let digest = plugin.sha256.map(|digest| format!(", {digest}")).unwrap_or_default();
        return Check::ok(format!("{what}{digest}"));
    };
    let default_advice = if plugin.sha256.is_some() {
        "run `skillcell plugin check` on its file, or stop using it"
    } else {
        "correct its path in the operator's file, or stop using it"
    };
    let (problem, advice) = problem.split_once("\nhint: ").unwrap_or((problem, default_advice));
    let what = format!("{what}: {problem}");
    if plugin.in_use { Check::fail(what, advice) } else { Check::warn(what, advice) }
}
