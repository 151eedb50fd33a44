//! The texts that depend on which skills there are: instructions, descriptions, and how to tell that a list changed.

use crate::bindings::types::Summary;
use crate::catalog::{Index, Listed};
use crate::mcp::catalog_text::{Entry, catalog_text, plain_line};
use crate::mcp::resources;
use crate::mcp::surface::{CatalogFormat, MOST_CHARACTERS, Surface};
use crate::mcp::tools::{self, ToolName};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// First words of the prompt that loads any skill.
const SKILL_PROMPT: &str = "Load a skill by name.";

/// The texts of one generation.
pub struct Texts {
    pub generation: u64,
    pub instructions: String,
    /// What comes after the first words of the tool `skill`, if anything does.
    pub tool_catalog: Option<String>,
    pub prompt_description: String,
    pub prints: Prints,
}

/// What each list comes to. Equal numbers mean equal answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prints {
    pub tools: u64,
    pub prompts: u64,
    pub resources: u64,
}

impl Texts {
    /// `location` says where the file of a skill is.
    pub fn new(index: &Index, surface: &Surface, location: impl Fn(&Summary) -> String) -> Self {
        let mut entries = Vec::with_capacity(index.skills.len());
        for skill in &index.skills {
            let location = if surface.format == CatalogFormat::Xml { location(skill) } else { String::new() };
            entries.push(Entry { name: &skill.shown_name, description: &skill.description, location });
        }
        let search = surface.tools.contains(&ToolName::SkillsSearch);
        let search = search.then(|| ToolName::SkillsSearch.name_in(surface));
        // The catalog after this many characters of other words.
        let catalog = |most: Option<usize>, before: usize| {
            let room = most.map(|most| most.saturating_sub(before));
            let none = "There are no skills yet. They appear here as soon as they are on disk.".to_owned();
            if entries.is_empty() { none } else { catalog_text(&entries, surface.format, room, search) }
        };
        let introduction = introduction(surface);
        let instructions = if surface.catalog.in_instructions() {
            let most = surface.most_characters.unwrap_or(MOST_CHARACTERS);
            format!("{introduction}\n\n{}", catalog(Some(most), introduction.chars().count() + 2))
        } else if index.skills.is_empty() {
            format!("{introduction}\n\n{}", catalog(None, 0))
        } else {
            introduction
        };
        let tool_catalog = (surface.catalog.in_description() && surface.tools.contains(&ToolName::Skill))
            .then(|| catalog(surface.most_characters, tools::words_before_catalog(surface)));
        let prompt_description =
            format!("{SKILL_PROMPT}\n\n{}", catalog(surface.most_characters, SKILL_PROMPT.len() + 2));
        let prints = Prints {
            tools: print(&tool_catalog),
            prompts: print(&(
                &prompt_description,
                index.skills.iter().map(|skill| of(skill, surface)[0]).collect::<Vec<_>>(),
            )),
            resources: print(&index.skills.iter().map(|skill| of(skill, surface)[1]).collect::<Vec<_>>()),
        };
        Self { generation: index.generation, instructions, tool_catalog, prompt_description, prints }
    }
}

fn print(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// What prompts and resources say about one skill.
fn of(skill: &Listed, surface: &Surface) -> [u64; 2] {
    *skill.prints.get_or_init(|| {
        let prompt = (&skill.shown_name, plain_line(&skill.description));
        let name = plain_line(resources::document_name(skill));
        let (title, description) = (plain_line(&skill.shown_name), resources::word_for_word(&skill.description));
        [print(&prompt), print(&(resources::document_uri(surface, skill), name, title, description))]
    })
}

/// What the server says about itself before it knows the skills. Clients show this to the model before any tool.
pub fn introduction(surface: &Surface) -> String {
    if let Some(words) = surface.instructions {
        return words.to_owned();
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
    let offered = sentences.iter().filter(|(tool, _)| surface.tools.contains(tool)).map(|(_, words)| *words);
    let first = "This server holds the team's skills: instructions for tasks, with templates, references and scripts.";
    std::iter::once(first).chain(offered).collect::<Vec<_>>().join(" ")
}

/// The texts of the newest generation that anybody asked for.
#[derive(Default)]
pub struct Cache {
    last: std::sync::Mutex<Option<Arc<Texts>>>,
}

impl Cache {
    pub fn get(&self, generation: u64) -> Option<Arc<Texts>> {
        let last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        last.clone().filter(|texts| texts.generation == generation)
    }

    pub fn keep(&self, texts: &Arc<Texts>) {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.as_ref().is_none_or(|last| last.generation < texts.generation) {
            *last = Some(Arc::clone(texts));
        }
    }
}
