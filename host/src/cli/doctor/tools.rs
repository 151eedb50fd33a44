//! The tools that skills mention, each with those that do.

use super::report::Check;
use super::roots::Seen;
use crate::bindings::catalog::Mention;
use crate::cli::mentions::{Offer, full_name};
use crate::mcp::surface::Surface;
use std::collections::BTreeMap;

/// Most skills that are named for one tool.
const MOST_SKILLS: usize = 5;

/// Most tools that are told.
const MOST_TOOLS: usize = 100;

pub fn checks(seen: Option<&Seen>, surface: &Surface) -> Vec<Check> {
    let Some(seen) = seen else { return vec![Check::ok("nothing is known of the skills")] };
    let mut tools: BTreeMap<String, Vec<&Mention>> = BTreeMap::new();
    for mention in &seen.mentions {
        tools.entry(full_name(&mention.server, &mention.tool)).or_default().push(mention);
    }
    let mut checks: Vec<Check> =
        tools.iter().take(MOST_TOOLS).map(|(tool, mentions)| check(tool, mentions, surface)).collect();
    if tools.len() > MOST_TOOLS {
        checks.push(Check::ok(format!("and {} more tools: see `skillcell lint`", tools.len() - MOST_TOOLS)));
    }
    if checks.is_empty() {
        checks.push(Check::ok("none"));
    }
    checks
}

fn check(tool: &str, mentions: &[&Mention], surface: &Surface) -> Check {
    let offer = Offer::of(mentions[0], surface);
    let mut skills: Vec<&str> = mentions.iter().map(|mention| mention.skill.as_str()).collect();
    let more = skills.len().saturating_sub(MOST_SKILLS);
    skills.truncate(MOST_SKILLS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let by = format!("in {}{more}", skills.join(", "));
    match offer.wrong(mentions[0]) {
        Some(wrong) => Check::warn(format!("{tool}: {}; {by}", wrong.message), wrong.advice),
        None => Check::ok(format!("{tool}: {}; {by}", offer.told())),
    }
}
