//! `skillcell list`: every skill, as the tool `skills_list` has it.

use super::Roots;
use super::open::{self, Opened};
use super::table::{self, end_of};
use crate::config::{self, ScorerChoice};
use crate::mcp::tools::skill_view::{SkillView, model_word};
use crate::mcp::tools::skills_list::{ListView, Wanted};
use crate::printable::{counted, printable_up_to};
use crate::terminal::{self, Output};
use clap::Args;
use std::process::ExitCode;

#[derive(Args)]
pub struct List {
    /// Print JSON, as the tool `skills_list` answers
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    roots: Roots,
}

/// Longest description that is printed, in characters: as long as any that is served.
const LONGEST: usize = 4_096;

pub fn run(arguments: List) -> anyhow::Result<ExitCode> {
    let again = arguments.roots.again();
    let mut config = config::resolve(arguments.roots.told())?;
    // Nothing is ranked here.
    config.scorer = ScorerChoice::Keyword;
    let listed = open::once(config, async |opened: &Opened| {
        let wanted = Wanted { model: opened.config.surface.only_model, ..Wanted::everything() };
        Ok(ListView::of(&opened.catalog, &opened.terms.roots, wanted, Vec::new()).await?)
    })?;
    if arguments.json {
        terminal::print_json(&listed)?;
        return Ok(ExitCode::SUCCESS);
    }
    terminal::print_lines(&lines(&listed.skills, Output::standard()))?;
    match (listed.skills.is_empty(), listed.problems.len()) {
        (_, problems @ 1..) => {
            let problems = counted(problems, "problem");
            terminal::note(&format!(
                "{problems} in the files of skills\nhint: `skillcell lint{again}` tells each with its line"
            ));
        }
        (true, 0) => {
            terminal::note(&format!(
                "there are no skills\nhint: `skillcell doctor{again}` tells which folders are looked at"
            ));
        }
        (false, 0) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// A line for each skill, below a heading where people read it.
fn lines(skills: &[SkillView], output: Output) -> Vec<String> {
    let row = |skill: &SkillView| {
        let name = printable_up_to(&skill.shown_name, LONGEST);
        // At least half of the line is for the description.
        let name = output.columns().map_or(name.clone(), |columns| end_of(&name, columns / 2));
        vec![name, model_word(skill.model).to_owned(), printable_up_to(&skill.meta.description, LONGEST)]
    };
    table::list(output, &["NAME", "KIND", "DESCRIPTION"], skills.iter().map(row).collect())
}
