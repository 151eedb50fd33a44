//! The services that `query` can ask, without asking them.

use super::report::Check;
use crate::config::{Config, Integration, Source};
use crate::integrations::{digest, ready};

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
            format!("{name}: its component has the digest {found}, and not the one that was pinned"),
            format!("review it, then write that digest as `integrations.{name}.sha256`"),
        );
    }
    if !integration.enabled {
        return Check::ok(format!("{name}: switched off"));
    }
    match ready(integration) {
        Ok((_, address)) => {
            Check::ok(format!("{name}: {address}, {found}; `skillcell integration test {name}` asks it"))
        }
        Err(missing) => Check::warned(&missing),
    }
}
