//! `read_skill`: a skill by name, with the paths of the files that it mentions.

use super::{Hints, Tool, ToolName};
use crate::answer::{self, Answer, Result, failed};
use crate::server::Server;
use analytics::Event;
use bindings::catalog::{FoundSkill, LookupKind, Reference};
use call::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize, JsonSchema)]
pub struct ReadSkill {
    name: String,
}

impl Tool for ReadSkill {
    const NAME: &'static str = "read_skill";
    const TITLE: &'static str = "Read a skill with its file references";
    const PURPOSE: &'static str = "Read a skill by name, with its `@file` references as paths.";
    const HINTS: Hints = &[(ToolName::Skill, "load it as it is written")];

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        let (name, limit) = (self.name.clone(), server.terms.operator.max_size_bytes);
        let asked = server.catalog.ask_fresh(
            move |engine, snapshot| {
                let skill = match engine.skill_of(&name, LookupKind::Name)? {
                    Ok(skill) => skill,
                    Err(error) => return Ok(Err(error)),
                };
                let file = &skill.summary.file;
                let known = snapshot.root(file.root).map(|root| root.file(&file.path, limit));
                let text = known.and_then(|file| file.text.clone().ok()).unwrap_or_default();
                let folder = skill.resources.as_ref().and_then(|resources| snapshot.open(resources).ok());
                let mut references = Vec::new();
                if let Some(folder) = folder.filter(|_| text.contains('@')) {
                    references = engine.references_of(file)?;
                    // The engine looks below the root, where a link may lead out of the skill.
                    references.retain(|reference| folder.has_file(&reference.file));
                }
                Ok(Ok(SkillText { skill, text, references }))
            },
            |found| Some(vec![found.as_ref().ok()?.skill.summary.file.clone()]),
        );
        Ok(match asked.await.map_err(failed)? {
            Ok(found) => {
                call.usage.record(Event::served_by_name(&found.skill.summary.address));
                answer::text(found.resolved(server))
            }
            Err(error) => answer::no_skill(&self.name, &error),
        })
    }
}

/// A skill, and its references to files of its own.
struct SkillText {
    skill: FoundSkill,
    text: Arc<str>,
    references: Vec<Reference>,
}

impl SkillText {
    fn resolved(&self, server: &Server) -> String {
        let mut resolved = String::with_capacity(self.text.len());
        let mut done = 0;
        for reference in &self.references {
            // The offsets come from the engine, so they may be anything.
            let (start, end) = (reference.start as usize, reference.end as usize);
            let (Some(before), true) = (self.text.get(done..start), self.text.is_char_boundary(end) && end >= start)
            else {
                continue;
            };
            resolved.push_str(before);
            resolved.push_str(&server.shown_file(&self.skill, &reference.file));
            done = end;
        }
        resolved.push_str(&self.text[done..]);
        resolved
    }
}
