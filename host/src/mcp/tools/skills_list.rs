//! `skills_list`: every skill with its metadata.

use super::problem_view::ProblemView;
use super::skill_view::SkillView;
use crate::bindings::types::{Problem, SkillModel};
use crate::catalog::{AskError, Catalog};
use crate::library::roots::SkillRoot;
use crate::mcp::answer::{Answer, MOST_BYTES, ToolError, json_length};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use crate::printable::counted;
use serde::Serialize;

/// Most problems in one answer.
const MOST_PROBLEMS: u32 = 50;

/// Skills asked for at once.
const PAGE: u32 = 500;

pub async fn skills_list(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let query = arguments.text("query")?;
    let with_bodies = arguments.boolean("includeBody")?.unwrap_or(false);
    arguments.finish()?;
    let model = server.surface().only_model;
    let wanted = Wanted { query, with_bodies, model, most_bytes: MOST_BYTES, most_problems: MOST_PROBLEMS };
    let listed = ListView::of(&server.catalog, &server.terms.roots, wanted, server.left_out.problems()).await?;
    let mut line = counted(listed.total, "skill");
    if let Some(note) = &listed.note {
        line = format!("{line}; {note}");
    }
    Ok(Answer::data(line, &listed))
}

/// What somebody wants to be told.
pub struct Wanted {
    pub query: Option<String>,
    pub with_bodies: bool,
    pub model: Option<SkillModel>,
    /// Most JSON about skills, in bytes.
    pub most_bytes: usize,
    pub most_problems: u32,
}

impl Wanted {
    /// Every skill and every problem.
    pub fn everything() -> Self {
        Self { query: None, with_bodies: false, model: None, most_bytes: usize::MAX, most_problems: u32::MAX }
    }
}

/// As many skills as one answer holds.
#[derive(Default)]
struct Fitted {
    skills: Vec<SkillView>,
    bytes: usize,
    total: usize,
    full: bool,
}

impl Fitted {
    fn add(&mut self, skill: SkillView, most_bytes: usize) {
        if self.full {
            return;
        }
        let texts =
            [&skill.install_name, &skill.meta.name, &skill.meta.description, &skill.skill_path, &skill.skill_file];
        // Field names and punctuation come on top of the texts.
        let bytes = 100 + texts.into_iter().chain(&skill.body).map(|text| json_length(text)).sum::<usize>();
        if self.bytes + bytes > most_bytes && !self.skills.is_empty() {
            self.full = true;
        } else {
            self.bytes += bytes;
            self.skills.push(skill);
        }
    }
}

#[derive(Serialize)]
pub struct ListView {
    pub skills: Vec<SkillView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProblemView>,
    /// With those that do not fit.
    #[serde(skip)]
    total: usize,
}

impl ListView {
    /// What is there now. Problems that only the caller knows come last.
    pub async fn of(
        catalog: &Catalog,
        roots: &[SkillRoot],
        wanted: Wanted,
        more: Vec<Problem>,
    ) -> Result<Self, AskError> {
        let Wanted { query, with_bodies, model, most_bytes, most_problems } = wanted;
        let asked = catalog.ask_all(move |engine, _| {
            let mut fitted = Fitted::default();
            let mut start = 0;
            loop {
                let page = engine.skills(query.as_deref(), model, start, PAGE)?;
                fitted.total = page.total as usize;
                let last = page.skills.len() < PAGE as usize;
                start += PAGE;
                for skill in page.skills {
                    // One body at a time, because the next may not fit.
                    let body = if with_bodies && !fitted.full { Some(engine.body(&skill.file)?) } else { None };
                    fitted.add(SkillView { body, ..skill.into() }, most_bytes);
                }
                if last || fitted.full {
                    return Ok((fitted, engine.problems(most_problems)?));
                }
            }
        });
        let (Fitted { skills, total, .. }, mut problems) = asked.await?;
        problems.extend(more);
        problems.truncate(most_problems as usize);
        let left_out = total.saturating_sub(skills.len());
        let note = (left_out > 0).then(|| format!("{left_out} more skills do not fit: narrow `query`"));
        let of_files = problems.into_iter().map(|problem| ProblemView::new(problem, roots));
        // The first, because it is about the order of all skills.
        let problems = catalog.scorer_troubles().into_iter().map(ProblemView::from).chain(of_files).collect();
        Ok(Self { skills, note, problems, total })
    }
}
