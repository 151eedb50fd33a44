//! Resolves what clients see: the profile, the tools and the catalog.

use super::file::{RawConfig, RawDuplicates};
use bindings::catalog::Duplicates;
use mcp::surface::{CORE_TOOLS, Profile, Surface};
use mcp::tools::ToolName;

/// Fewer characters leave no room for a catalog after its introduction.
const MIN_CATALOG_CHARACTERS: usize = 1_000;

/// The command line takes precedence over the file.
pub fn resolve(profile: Option<Profile>, chosen: Vec<ToolName>, raw: &RawConfig) -> Result<Surface, String> {
    let from_file =
        raw.tools.as_deref().map(|names| tools(names).map_err(|error| format!("tools: {error}"))).transpose()?;
    let tools = Some(chosen).filter(|chosen| !chosen.is_empty()).or(from_file);
    if let Some(max) = raw.catalog_max_chars.filter(|max| *max < MIN_CATALOG_CHARACTERS) {
        return Err(format!("catalog_max_chars is {max}, and must be at least {MIN_CATALOG_CHARACTERS}"));
    }
    let mut surface = profile.or(raw.profile).unwrap_or_default().surface();
    if let Some(tools) = tools {
        surface.tools = ToolName::ALL.into_iter().filter(|tool| tools.contains(tool)).collect();
        surface.lists_query = true;
    }
    surface.catalog = raw.catalog.unwrap_or(surface.catalog);
    surface.format = raw.catalog_format.unwrap_or(surface.format);
    surface.max_characters = raw.catalog_max_chars.or(surface.max_characters);
    surface.max_instructions = raw.catalog_max_chars.unwrap_or(surface.max_instructions);
    surface.duplicates = match raw.duplicates {
        Some(RawDuplicates::Error) => Duplicates::Refuse,
        Some(RawDuplicates::First) => Duplicates::First,
        None => surface.duplicates,
    };
    Ok(surface)
}

/// Looks up tools by name. `core` stands for several.
pub fn tools(names: &[String]) -> Result<Vec<ToolName>, String> {
    let mut tools = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        match ToolName::find(name) {
            Some(tool) => tools.push(tool),
            None if name == "core" => tools.extend(CORE_TOOLS),
            None => {
                let known: Vec<&str> = ToolName::ALL.into_iter().map(ToolName::name).collect();
                return Err(format!(
                    "there is no tool `{name}`\nhint: choose from {}, or `core` for the five that suffice",
                    known.join(", ")
                ));
            }
        }
    }
    Ok(tools)
}
