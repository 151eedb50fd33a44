//! The texts that list skills: instructions and descriptions; and the fingerprints of lists, by which changes are noticed.

use crate::catalog_text::{Entry, catalog_text, plain_line};
use crate::resources;
use crate::surface::{CatalogFormat, Surface};
use crate::tools::ToolName;
use bindings::types::Summary;
use catalog::{Index, Listed};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The start of the description of the prompt that loads any skill.
const SKILL_PROMPT: &str = "Load a skill by name.";

/// The texts of one generation.
pub struct Texts {
    pub generation: u64,
    pub instructions: String,
    /// Follows the description of the tool `skill`.
    pub tool_catalog: Option<String>,
    pub prompt_description: String,
    pub fingerprints: Fingerprints,
}

/// One per list. Equal fingerprints mean equal answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprints {
    pub tools: u64,
    pub prompts: u64,
    pub resources: u64,
}

impl Texts {
    /// `location` returns the place of a skill's file.
    pub fn new(index: &Index, surface: &Surface, location: impl Fn(&Summary) -> String) -> Self {
        let mut entries = Vec::with_capacity(index.skills.len());
        for skill in &index.skills {
            let location = if surface.format == CatalogFormat::Xml { location(skill) } else { String::new() };
            entries.push(Entry { name: &skill.display_name, description: &skill.description, location });
        }
        let search = surface.tools.contains(&ToolName::SkillsSearch).then(|| ToolName::SkillsSearch.name_in(surface));
        // The catalog after `before` characters of other text.
        let catalog = |max: Option<usize>, before: usize| {
            let room = max.map(|max| max.saturating_sub(before));
            let none = "There are no skills yet. They appear here as soon as they are on disk.".to_owned();
            if entries.is_empty() { none } else { catalog_text(&entries, surface.format, room, search) }
        };
        let introduction = introduction(surface);
        let instructions = if surface.catalog.in_instructions() {
            format!("{introduction}\n\n{}", catalog(Some(surface.max_instructions), introduction.chars().count() + 2))
        } else if index.skills.is_empty() {
            format!("{introduction}\n\n{}", catalog(None, 0))
        } else {
            introduction
        };
        let tool_catalog = (surface.catalog.in_description() && surface.tools.contains(&ToolName::Skill))
            .then(|| catalog(surface.max_characters, ToolName::Skill.description(surface).chars().count() + 2));
        let prompt_description =
            format!("{SKILL_PROMPT}\n\n{}", catalog(surface.max_characters, SKILL_PROMPT.len() + 2));
        let skills = index.skills.iter().map(|skill| skill_fingerprints(skill, surface));
        let (prompts, resources): (Vec<u64>, Vec<u64>) = skills.map(|[prompt, resource]| (prompt, resource)).unzip();
        let fingerprints = Fingerprints {
            tools: fingerprint(&tool_catalog),
            prompts: fingerprint(&(&prompt_description, prompts)),
            resources: fingerprint(&resources),
        };
        Self { generation: index.generation, instructions, tool_catalog, prompt_description, fingerprints }
    }
}

fn fingerprint(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the fingerprints of a skill in the lists of prompts and resources.
fn skill_fingerprints(skill: &Listed, surface: &Surface) -> [u64; 2] {
    *skill.prints.get_or_init(|| {
        let prompt = (&skill.display_name, plain_line(&skill.description));
        let name = plain_line(resources::document_name(skill));
        let (title, description) = (plain_line(&skill.display_name), resources::verbatim(&skill.description));
        [fingerprint(&prompt), fingerprint(&(resources::document_uri(surface, skill), name, title, description))]
    })
}

/// Returns the instructions without the catalog. Clients show them to the model before any tool.
pub fn introduction(surface: &Surface) -> String {
    if let Some(instructions) = surface.instructions {
        return instructions.to_owned();
    }
    let sentences = [
        (
            ToolName::GetSkill,
            "Before you begin a task, call get_skill with a sentence about it and follow what comes back. If several skills fit, it lists them: call it again with the skill_path of one.",
        ),
        (ToolName::SkillsSearch, "To find a skill by a word, search first with skills_search."),
        (ToolName::Skill, "skill loads one by its name."),
        (ToolName::ReadSkill, "read_skill reads one by its name, with paths of the files it mentions."),
        (ToolName::ListSkills, "list_skills shows them as a tree."),
        (ToolName::SkillResource, "skill-resource reads the files that a skill mentions."),
        (ToolName::RunScript, "run_script runs a skill's script in a sandbox."),
    ];
    let offered = sentences.iter().filter(|(tool, _)| surface.tools.contains(tool)).map(|(_, sentence)| *sentence);
    let first = "This server holds the team's skills: instructions for tasks, with templates, references and scripts.";
    std::iter::once(first).chain(offered).collect::<Vec<_>>().join(" ")
}
