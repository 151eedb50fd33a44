//! Checks the components: the engine, the runtimes, the scorers, and the integrations without contacting their services.

use super::report::Check;
use crate::cli::plugin::list::{Plugin, plugins};
use crate::config::Config;
use integrations::options::{Integration, Source};
use integrations::{digest, ready_service};

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

pub fn check_integration(integration: &Integration) -> Check {
    let name = &integration.name;
    let found = match digest(integration) {
        Ok(found) => found,
        Err(error) => {
            let advice = format!("correct `integrations.{name}.file` in the operator's file");
            return Check::fail(format!("{name}: its component cannot be read: {error}"), advice);
        }
    };
    if matches!(&integration.source, Source::File { sha256: Some(pinned), .. } if *pinned != found) {
        return Check::fail(
            format!("{name}: its component has the digest {found} instead of the pinned one"),
            format!("review it, then write that digest as `integrations.{name}.sha256`"),
        );
    }
    if !integration.enabled {
        return Check::ok(format!("{name}: disabled"));
    }
    match ready_service(integration) {
        Ok((_, address)) => {
            Check::ok(format!("{name}: {address}, {found}; `skillcell integration test {name}` tests it"))
        }
        Err(missing) => Check::warned(&missing.to_string()),
    }
}
