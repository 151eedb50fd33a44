//! `read_skill`: a skill by its name, with the files it mentions as paths that can be opened.

use crate::analytics::Event;
use crate::bindings::catalog::{Called, FoundSkill, LookupError, Reference};
use crate::library::snapshot::Snapshot;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use std::sync::Arc;

pub async fn read_skill(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let name = arguments.required_text("name")?;
    arguments.finish()?;
    let wanted = name.clone();
    let limit = server.config.operator.max_size_bytes;
    let question =
        move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| Mentioning::find(engine, snapshot, &wanted, limit);
    let answered = server.catalog.ask_fresh(question, |found| {
        let found = found.as_ref().ok()?;
        Some(vec![found.skill.summary.file.clone()])
    });
    Ok(match answered.await? {
        Ok(found) => {
            server.usage.raise(Event::served_by_name(&found.skill.summary.address));
            Answer::Text(found.resolved(server))
        }
        Err(error) => Answer::no_skill(&name, &error),
    })
}

/// A skill, and where it mentions files of its own.
struct Mentioning {
    skill: FoundSkill,
    text: Arc<str>,
    references: Vec<Reference>,
}

impl Mentioning {
    fn find(
        engine: &mut EngineInstance,
        snapshot: &Snapshot,
        name: &str,
        limit: u64,
    ) -> Result<Result<Self, LookupError>, Broken> {
        let skill = match engine.skill_of(name, Called::ByName)? {
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
            // The engine looks below the root. A link may lead from the skill to somewhere else in there.
            references.retain(|reference| folder.has_file(&reference.file));
        }
        Ok(Ok(Self { skill, text, references }))
    }

    fn resolved(&self, server: &Skillcell) -> String {
        let mut resolved = String::with_capacity(self.text.len());
        let mut done = 0;
        for reference in &self.references {
            // The places come from the engine, so they may be anything.
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
