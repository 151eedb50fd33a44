//! The shape of the answer to `skills_list`.

use crate::problem::ProblemView;
use crate::skill::SkillView;
use bindings::types::{Problem, SkillModel};
use catalog::{AskError, Catalog};
use library::roots::SkillRoot;
use serde::Serialize;

/// Skills per question.
const PAGE: u32 = 500;

/// What a list contains.
pub struct ListOptions {
    pub query: Option<String>,
    pub with_bodies: bool,
    pub model: Option<SkillModel>,
    /// How many to skip.
    pub offset: u32,
    pub max_skills: usize,
    /// Maximum JSON for skills, in bytes.
    pub max_bytes: usize,
    pub max_problems: u32,
}

impl ListOptions {
    /// Every skill and every problem.
    pub fn everything() -> Self {
        Self {
            query: None,
            with_bodies: false,
            model: None,
            offset: 0,
            max_skills: usize::MAX,
            max_bytes: usize::MAX,
            max_problems: u32::MAX,
        }
    }
}

#[derive(Serialize)]
pub struct ListView {
    pub skills: Vec<SkillView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProblemView>,
    /// Including those on other pages.
    #[serde(skip)]
    pub total: usize,
}

impl ListView {
    /// The current skills. Problems that only the caller knows (`more`) come last.
    pub async fn of(
        catalog: &Catalog,
        roots: &[SkillRoot],
        options: ListOptions,
        more: Vec<Problem>,
    ) -> Result<Self, AskError> {
        let ListOptions { query, with_bodies, model, offset, max_skills, max_bytes, max_problems } = options;
        let asked = catalog.ask_all(move |engine, _| {
            let mut skills: Vec<SkillView> = Vec::new();
            let (mut start, mut bytes) = (offset, 0);
            loop {
                let page = engine.skills(query.as_deref(), model, start, PAGE)?;
                let mut is_last = page.skills.len() < PAGE as usize;
                start = start.saturating_add(PAGE);
                for skill in page.skills {
                    // One body at a time: the next may not fit.
                    let body = if with_bodies { Some(engine.body(&skill.file)?) } else { None };
                    let skill = SkillView { body, ..skill.into() };
                    bytes += skill.json_length();
                    if skills.len() == max_skills || bytes > max_bytes && !skills.is_empty() {
                        is_last = true;
                        break;
                    }
                    skills.push(skill);
                }
                if is_last {
                    return Ok((skills, page.total as usize, engine.problems(max_problems)?));
                }
            }
        });
        let (skills, total, mut problems) = asked.await?;
        problems.extend(more);
        problems.truncate(max_problems as usize);
        let next = offset as usize + skills.len();
        let note = match total.saturating_sub(next) {
            0 if next > total => Some(format!("there are only {total}: `offset` is too large")),
            0 => None,
            left => Some(format!("{left} more: call again with `offset` {next}, or narrow `query`")),
        };
        let of_files = problems.into_iter().map(|problem| ProblemView::new(problem, roots));
        // First, because it concerns the order of all skills.
        let problems = catalog.scorer_problems().into_iter().map(ProblemView::from).chain(of_files).collect();
        Ok(Self { skills, note, problems, total })
    }
}
