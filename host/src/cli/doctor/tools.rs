//! Checks the tools that skills mention, each with the skills that mention it.

use super::report::Check;
use super::roots::Inventory;
use crate::cli::mentions::{Offer, full_name};
use bindings::catalog::Mention;
use mcp::surface::Surface;
use std::collections::BTreeMap;

/// The most skills listed for one tool.
const MAX_SKILLS: usize = 5;

const MAX_TOOLS: usize = 100;

pub fn checks(inventory: Option<&Inventory>, surface: &Surface) -> Vec<Check> {
    let Some(inventory) = inventory else { return vec![Check::ok("the skills could not be read")] };
    let mut tools: BTreeMap<String, Vec<&Mention>> = BTreeMap::new();
    for mention in &inventory.mentions {
        tools.entry(full_name(&mention.server, &mention.tool)).or_default().push(mention);
    }
    let mut checks: Vec<Check> =
        tools.iter().take(MAX_TOOLS).map(|(tool, mentions)| check(tool, mentions, surface)).collect();
    if tools.len() > MAX_TOOLS {
        checks.push(Check::ok(format!("and {} more tools: see `skillcell lint`", tools.len() - MAX_TOOLS)));
    }
    if checks.is_empty() {
        checks.push(Check::ok("none"));
    }
    checks
}

fn check(tool: &str, mentions: &[&Mention], surface: &Surface) -> Check {
    let offer = Offer::of(mentions[0], surface);
    let mut skills: Vec<&str> = mentions.iter().map(|mention| mention.skill.as_str()).collect();
    let more = skills.len().saturating_sub(MAX_SKILLS);
    skills.truncate(MAX_SKILLS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let skills = format!("in {}{more}", skills.join(", "));
    match offer.problem(mentions[0]) {
        Some(problem) => Check::warn(format!("{tool}: {}; {skills}", problem.message), problem.advice),
        None => Check::ok(format!("{tool}: {}; {skills}", offer.describe())),
    }
}
