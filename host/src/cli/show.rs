//! `skillcell show`: prints the file of a skill, or the text a model gets.

use super::{Roots, failure};
use crate::compose::{self, App};
use crate::config;
use anyhow::bail;
use base::printable::{printable, printable_text};
use bindings::catalog::{Answer, Request};
use catalog::scorers::options::ScorerChoice;
use catalog::{Served, no_skill};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use terminal::{self, Output};
use views::found::FoundView;
use views::skill::SkillView;

#[derive(Args)]
pub struct Show {
    /// The name of the skill as `skillcell list` shows it, or its path
    name: String,
    /// Print what a model gets: the instructions, including inherited ones
    #[arg(long)]
    aggregated: bool,
    /// Print JSON: the entry of `list` with the file in `text`; with `--aggregated`, the format of the tool `get_skill`
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    roots: Roots,
}

#[derive(Serialize)]
struct FileView {
    #[serde(flatten)]
    skill: SkillView,
    file: PathBuf,
    text: String,
}

/// The requested text, or why there is no such skill.
type Lookup = Result<Text, String>;

enum Text {
    File(Box<FileView>),
    Aggregated(Box<Answer>),
}

pub fn run(arguments: Show) -> anyhow::Result<ExitCode> {
    let mut config = config::resolve(arguments.roots.cli_args())?;
    // Ranking is not needed.
    config.scorers.choice = ScorerChoice::Keyword;
    let (name, aggregated) = (arguments.name, arguments.aggregated);
    let lookup = compose::with_app(config, async |app: &App| find(app, &name, aggregated).await)?;
    match lookup {
        Err(reason) => return failure::report(&reason, arguments.json),
        Ok(Text::File(file)) if arguments.json => terminal::print_json(&file)?,
        Ok(Text::Aggregated(found)) if arguments.json => terminal::print_json(&FoundView::plain(*found))?,
        Ok(Text::File(file)) => print(&file.text)?,
        Ok(Text::Aggregated(found)) => match *found {
            Answer::Matched(found) => print(&format!("{}\n", found.content.trim_end()))?,
            Answer::NoMatch | Answer::Ambiguous(_) => bail!("the engine did not return the chosen skill"),
        },
    }
    Ok(ExitCode::SUCCESS)
}

async fn find(app: &App, name: &str, aggregated: bool) -> anyhow::Result<Lookup> {
    let served = match app.catalog.skill(name).await? {
        Ok(served) => served,
        Err(error) => return Ok(Err(no_skill(&printable(name), &error))),
    };
    if !aggregated {
        return Ok(Ok(Text::File(Box::new(view(app, &served)))));
    }
    let request = Request { context: String::new(), chosen: Some(served.skill.summary.address.clone()) };
    let found = app.catalog.ask_all(move |engine, _| engine.find(&request, None)).await?;
    Ok(match found {
        Ok(found) => Ok(Text::Aggregated(Box::new(found))),
        Err(error) => Err(no_skill(&printable(name), &error)),
    })
}

fn view(app: &App, served: &Served) -> FileView {
    let summary = served.skill.summary.clone();
    let root = app.terms.roots.get(summary.file.root as usize);
    let file = root.map(|root| root.path().join(&summary.file.path)).unwrap_or_default();
    FileView { skill: summary.into(), file, text: served.text.as_ref().to_owned() }
}

/// Prints a text unchanged, except that control characters are escaped on a terminal.
fn print(text: &str) -> anyhow::Result<()> {
    if Output::standard().is_terminal() { terminal::print(&printable_text(text)) } else { terminal::print(text) }
}
