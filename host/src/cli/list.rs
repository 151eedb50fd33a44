//! `skillcell list`: lists every skill, as the tool `skills_list` does.

use super::table::{self, end_of};
use super::{Roots, hidden};
use crate::compose::{self, App};
use crate::config;
use base::printable::{counted, printable_up_to};
use clap::Args;
use std::process::ExitCode;
use std::sync::Arc;
use terminal::{self, Output};
use views::list::{ListOptions, ListView};
use views::skill::{SkillView, model_name};

#[derive(Args)]
pub struct List {
    /// Print JSON in the format of the tool `skills_list`
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    roots: Roots,
}

/// The longest text in a cell, in characters: as long as any description that is served.
const MAX_LENGTH: usize = 4_096;

pub fn run(arguments: List) -> anyhow::Result<ExitCode> {
    let options = arguments.roots.to_shell();
    let config = config::resolve_unranked(arguments.roots.cli_args())?;
    let (listed, hidden) = compose::with_app(config, async |app: &App| {
        let wanted = ListOptions { model: app.config.surface.only_model, ..ListOptions::everything() };
        let listed = ListView::of(&app.catalog, &app.terms.roots, wanted, Vec::new()).await?;
        let hidden = app.catalog.hidden_skills(Arc::clone(&app.terms.roots)).await?;
        Ok((listed, hidden::note(&hidden, &app.config.roots.working_folder)))
    })?;
    if arguments.json {
        terminal::print_json(&listed)?;
    } else {
        terminal::print_lines(&lines(&listed.skills, Output::standard()))?;
    }
    if let Some(hidden) = &hidden {
        terminal::print_note(hidden);
    }
    if arguments.json {
        return Ok(ExitCode::SUCCESS);
    }
    match (listed.skills.is_empty(), listed.problems.len()) {
        (_, problems @ 1..) => {
            let problems = counted(problems, "problem");
            terminal::print_note(&format!(
                "{problems} in the files of skills\nhint: `skillcell lint{options}` lists them"
            ));
        }
        (true, 0) if hidden.is_none() => {
            terminal::print_note(&format!(
                "there are no skills\nhint: `skillcell doctor{options}` shows which folders are read"
            ));
        }
        (_, 0) => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(skills: &[SkillView], output: Output) -> Vec<String> {
    let row = |skill: &SkillView| {
        let name = printable_up_to(&skill.display_name, MAX_LENGTH);
        // Keeps at least half of the line for the description.
        let name = output.columns.map_or(name.clone(), |columns| end_of(&name, columns / 2));
        vec![name, model_name(skill.model).to_owned(), printable_up_to(&skill.meta.description, MAX_LENGTH)]
    };
    table::list(output, &["NAME", "KIND", "DESCRIPTION"], skills.iter().map(row))
}
