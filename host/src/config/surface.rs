//! What the operator says about what clients see, made sure of.

use super::file::RawConfig;
use crate::bindings::catalog::Duplicates;
use crate::mcp::surface::{Overrides, Profile, Surface};
use crate::mcp::tools::ToolName;

/// Fewer characters leave no room for a catalog behind the words before it.
const FEWEST_CHARACTERS: usize = 1_000;

/// The command line is stronger than the file.
pub fn resolve(profile: Option<Profile>, chosen: Vec<ToolName>, raw: &RawConfig) -> Result<Surface, String> {
    let named =
        raw.tools.as_deref().map(|names| tools(names).map_err(|error| format!("tools: {error}"))).transpose()?;
    let tools = Some(chosen).filter(|chosen| !chosen.is_empty()).or(named);
    if let Some(most) = raw.catalog_max_chars.filter(|most| *most < FEWEST_CHARACTERS) {
        return Err(format!("catalog_max_chars is {most}, and must be at least {FEWEST_CHARACTERS}"));
    }
    let overrides = Overrides {
        tools,
        catalog: raw.catalog,
        format: raw.catalog_format,
        most_characters: raw.catalog_max_chars,
        duplicates: raw.duplicates.map(Duplicates::from),
    };
    Ok(profile.or(raw.profile).unwrap_or_default().surface(overrides))
}

/// The tools with these names.
pub fn tools(names: &[String]) -> Result<Vec<ToolName>, String> {
    let tool = |name: &String| {
        ToolName::called(name.trim()).ok_or_else(|| {
            let known: Vec<&str> = ToolName::ALL.into_iter().map(ToolName::name).collect();
            format!("there is no tool `{}`\nhint: choose from {}", name.trim(), known.join(", "))
        })
    };
    names.iter().map(tool).collect()
}
