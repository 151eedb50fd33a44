//! `skillcell match`: what `get_skill` would answer, and why, without leaving an event.

#![expect(clippy::print_stdout, reason = "here a person reads standard output; no server is running")]

mod explanation;
mod panel;

use super::{Roots, open};
use crate::bindings::catalog::{Answer, Candidate, Request};
use crate::catalog::Ranker;
use crate::config::{self, Config};
use crate::mcp::tools::get_skill::FoundView;
use crate::printable::{escaped, printable};
use anyhow::{Context as _, bail};
use clap::Args;
use explanation::Explanation;
use panel::Panel;
use serde::Serialize;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Args)]
pub struct Match {
    /// The task, in one argument or in several
    #[arg(value_name = "CONTEXT", required = true)]
    context: Vec<String>,
    /// Show for the ten best candidates what each scorer gives them, and why
    #[arg(long)]
    explain: bool,
    /// Print the whole answer as JSON, with what each scorer gives in `explain`
    #[arg(long)]
    json: bool,
    /// What ranks skills: `keyword`, `bm25`, `hybrid`, a name of the configuration, or a component of world `scorer`
    #[arg(long, value_name = "NAME|FILE")]
    scorer: Option<String>,
    #[command(flatten)]
    roots: Roots,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    answer: FoundView,
    explain: Explanation,
}

pub fn run(arguments: Match) -> anyhow::Result<ExitCode> {
    let mut told = arguments.roots.told();
    told.scorer = arguments.scorer;
    let config = config::resolve(told)?;
    let context = arguments.context.join(" ");
    if context.trim().is_empty() {
        bail!("the task is empty\nhint: say what is to be done, as in `skillcell match \"build a login form\"`");
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    let answered = runtime.block_on(answer(config, context, arguments.explain || arguments.json));
    runtime.shutdown_background();
    let (found, explained) = answered?;
    let nothing = matches!(found, Answer::NoMatch);
    let text = match explained {
        Some(explain) if arguments.json => {
            serde_json::to_string_pretty(&Whole { answer: FoundView::plain(found), explain })?
        }
        Some(explain) => [headline(&found), explain.lines()].concat().join("\n"),
        None => [headline(&found), content(&found)].concat().join("\n"),
    };
    println!("{text}");
    Ok(ExitCode::from(u8::from(nothing)))
}

/// What is found for a task, and why if that is wanted.
async fn answer(config: Config, context: String, explain: bool) -> anyhow::Result<(Answer, Option<Explanation>)> {
    let opened = open::ready(config).await?;
    let panel = explain.then(|| Panel::load(&opened.config)).transpose()?.map(Arc::new);
    let request = Request { context, chosen: None };
    let question = move |ranker: &mut Ranker<'_>, _: &_| {
        let found = ranker.find(&request)?;
        let explained = panel.as_ref().map(|panel| panel.explain(ranker.engine, &request.context)).transpose()?;
        Ok((found, explained))
    };
    let (found, explained) = opened.catalog.rank_all(question).await?;
    Ok((found.map_err(|_| anyhow::anyhow!("a skill was looked up, and none was named"))?, explained))
}

/// The instructions of the skill that matched, as a terminal can show them.
fn content(found: &Answer) -> Vec<String> {
    let Answer::Matched(found) = found else { return Vec::new() };
    // A tab is harmless.
    let shown =
        |line: &str| line.split('\t').map(|part| part.chars().flat_map(escaped).collect()).collect::<Vec<String>>();
    std::iter::once(String::new()).chain(found.content.trim_end().lines().map(|line| shown(line).join("\t"))).collect()
}

/// The answer in a line for each skill.
fn headline(found: &Answer) -> Vec<String> {
    match found {
        Answer::NoMatch => vec!["no skill matches".to_owned()],
        Answer::Matched(found) => vec![named(&found.candidate)],
        Answer::Ambiguous(candidates) => {
            let choice = candidates.iter().map(|candidate| format!("  {}", named(candidate)));
            std::iter::once("several skills match, so the model is asked to choose:".to_owned()).chain(choice).collect()
        }
    }
}

fn named(candidate: &Candidate) -> String {
    let words = candidate.matched_keywords.join(", ");
    let reason = if words.is_empty() { String::new() } else { format!(", for {}", printable(&words)) };
    format!("{} (score {:.3}{reason})", printable(&candidate.address), candidate.score)
}
