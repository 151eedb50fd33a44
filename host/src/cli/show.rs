//! `skillcell show`: one skill as its file is, or as a model gets it.

use super::open::{self, Opened};
use super::{Roots, refused};
use crate::bindings::catalog::{Answer, Request};
use crate::catalog::{Served, no_skill};
use crate::config::{self, ScorerChoice};
use crate::mcp::tools::get_skill::FoundView;
use crate::mcp::tools::skill_view::SkillView;
use crate::printable::{printable, printable_text};
use crate::terminal::{self, Output};
use anyhow::bail;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct Show {
    /// The skill, by a name that `skillcell list` shows, or by its path
    name: String,
    /// Show what a model gets: the instructions with those that the skill inherits
    #[arg(long)]
    aggregated: bool,
    /// Print JSON: the skill as `list` has it, with its file in `text`; with `--aggregated` as the tool `get_skill` answers
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    roots: Roots,
}

/// A skill by its name, and where its file is.
#[derive(Serialize)]
struct ShownView {
    #[serde(flatten)]
    skill: SkillView,
    file: PathBuf,
    text: String,
}

/// What is shown, or why there is no such skill.
type Shown = Result<Found, String>;

enum Found {
    File(Box<ShownView>),
    Aggregated(Box<Answer>),
}

pub fn run(arguments: Show) -> anyhow::Result<ExitCode> {
    let mut config = config::resolve(arguments.roots.told())?;
    // Nothing is ranked here.
    config.scorer = ScorerChoice::Keyword;
    let (name, aggregated) = (arguments.name, arguments.aggregated);
    let shown = open::once(config, async |opened: &Opened| find(opened, &name, aggregated).await)?;
    match shown {
        Err(reason) => return refused::tell(&reason, arguments.json),
        Ok(Found::File(file)) if arguments.json => terminal::print_json(&file)?,
        Ok(Found::Aggregated(found)) if arguments.json => terminal::print_json(&FoundView::plain(*found))?,
        Ok(Found::File(file)) => print(&file.text)?,
        Ok(Found::Aggregated(found)) => match *found {
            Answer::Matched(found) => print(&format!("{}\n", found.content.trim_end()))?,
            Answer::NoMatch | Answer::Ambiguous(_) => bail!("a skill was chosen, and another question answered"),
        },
    }
    Ok(ExitCode::SUCCESS)
}

async fn find(opened: &Opened, name: &str, aggregated: bool) -> anyhow::Result<Shown> {
    let served = match opened.catalog.skill(name).await? {
        Ok(served) => served,
        Err(error) => return Ok(Err(no_skill(&printable(name), &error))),
    };
    if !aggregated {
        return Ok(Ok(Found::File(Box::new(view(opened, &served)))));
    }
    let request = Request { context: String::new(), chosen: Some(served.skill.summary.address.clone()) };
    let found = opened.catalog.ask_all(move |engine, _| engine.find(&request, None)).await?;
    Ok(match found {
        Ok(found) => Ok(Found::Aggregated(Box::new(found))),
        Err(error) => Err(no_skill(&printable(name), &error)),
    })
}

fn view(opened: &Opened, served: &Served) -> ShownView {
    let summary = served.skill.summary.clone();
    let root = opened.terms.roots.get(summary.file.root as usize);
    let file = root.map(|root| root.path().join(&summary.file.path)).unwrap_or_default();
    ShownView { skill: summary.into(), file, text: served.text.as_ref().to_owned() }
}

/// Exactly as it is, except that nothing in it can command a terminal.
fn print(text: &str) -> anyhow::Result<()> {
    if Output::standard().is_terminal() { terminal::print(&printable_text(text)) } else { terminal::print(text) }
}
