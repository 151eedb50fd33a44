//! `skillcell show`: prints the file of a skill, or the text a model gets.

use super::{Roots, failure, untrusted};
use crate::compose::{self, App};
use crate::config;
use anyhow::bail;
use base::printable::printable;
use bindings::catalog::{Answer, LookupError, Request};
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

enum Text {
    File(Box<FileView>),
    Aggregated(Box<Answer>, Box<FoundView>),
}

pub fn run(arguments: Show) -> anyhow::Result<ExitCode> {
    let Show { name, aggregated, json, roots } = arguments;
    let config = config::resolve_unranked(roots.cli_args())?;
    match compose::with_app(config, async |app: &App| find(app, &name, aggregated).await)? {
        Err(error) => return failure::report(&no_skill(&printable(&name), &error), json),
        Ok(Text::File(file)) if json => terminal::print_json(&file)?,
        Ok(Text::Aggregated(_, view)) if json => terminal::print_json(&view)?,
        Ok(Text::File(file)) => print(&file.text)?,
        Ok(Text::Aggregated(found, _)) => match *found {
            Answer::Matched(found) => print(&format!("{}\n", found.content.trim_end()))?,
            Answer::NoMatch | Answer::Ambiguous(_) => bail!("the engine did not return the chosen skill"),
        },
    }
    Ok(ExitCode::SUCCESS)
}

async fn find(app: &App, name: &str, aggregated: bool) -> anyhow::Result<Result<Text, LookupError>> {
    let served = match app.catalog.skill(name).await? {
        Ok(served) if aggregated => served,
        Ok(served) => return Ok(Ok(Text::File(Box::new(view(app, &served))))),
        Err(error) => return Ok(Err(error)),
    };
    let request = Request { context: String::new(), chosen: Some(served.skill.summary.address.clone()) };
    let found = app.catalog.ask_all(move |engine, _| engine.find(&request, None)).await?;
    Ok(match found {
        Ok(found) => {
            let no_task = String::new();
            let view = FoundView::local(found.clone(), no_task, &app.catalog, &app.config.scripts, &app.terms.roots);
            Ok(Text::Aggregated(Box::new(found), Box::new(view.await?)))
        }
        Err(error) => Err(error),
    })
}

fn view(app: &App, served: &Served) -> FileView {
    let summary = served.skill.summary.clone();
    let root = app.terms.roots.get(summary.file.root as usize);
    let file = root.map(|root| root.path().join(&summary.file.path)).unwrap_or_default();
    FileView { skill: summary.into(), file, text: served.text.as_ref().to_owned() }
}

fn print(text: &str) -> anyhow::Result<()> {
    terminal::print(&untrusted::text_for(Output::standard(), text))
}
