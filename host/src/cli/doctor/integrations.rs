//! Checks the integrations, without contacting their services.

use super::report::Check;
use crate::config::Config;
use integrations::options::Integration;
use integrations::options::Source;
use integrations::{digest, ready_service};

pub fn checks(config: &Config) -> Vec<Check> {
    config.integrations.all.iter().map(check).collect()
}

fn check(integration: &Integration) -> Check {
    let name = &integration.name;
    let found = match digest(integration) {
        Ok(found) => found,
        Err(error) => {
            let advice = format!("correct `integrations.{name}.file` in the operator's file");
            return Check::fail(format!("{name}: its component cannot be read: {error}"), advice);
        }
    };
    if let Source::File { sha256: Some(pinned), .. } = &integration.source
        && *pinned != found
    {
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
