//! `skillcell match`: what `get_skill` would answer, and why, without leaving an event.

mod explanation;

use super::Roots;
use super::open::{self, Opened};
use crate::bindings::catalog::{Answer, Candidate};
use crate::config;
use crate::mcp::tools::get_skill::FoundView;
use crate::printable::{printable, printable_text};
use crate::scorers::explanation::Explanation;
use crate::scorers::panel::{self, Panel};
use crate::terminal::progress::Progress;
use crate::terminal::{self, Output, Tone};
use anyhow::bail;
use clap::Args;
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
    let explain = arguments.explain || arguments.json;
    let asked = open::once(config, async |opened: &Opened| answer(opened, context, explain).await);
    let (found, explained) = asked?;
    let nothing = matches!(found, Answer::NoMatch);
    let output = Output::standard();
    match explained {
        Some(explain) if arguments.json => terminal::print_json(&Whole { answer: FoundView::plain(found), explain })?,
        Some(explain) => terminal::print_lines(&[headline(&found, output), explain.lines(output)].concat())?,
        None => terminal::print_lines(&[headline(&found, output), content(&found)].concat())?,
    }
    Ok(ExitCode::from(u8::from(nothing)))
}

/// What is found for a task, and why if that is wanted.
async fn answer(opened: &Opened, context: String, explain: bool) -> anyhow::Result<(Answer, Option<Explanation>)> {
    let broken = |error: wasmtime::Error| anyhow::anyhow!("cannot start WebAssembly: {error:#}");
    let load = || Panel::load(&opened.config, open::cache(opened.config.places.as_ref())).map_err(broken);
    let _asking = explain.then(|| Progress::unknown("asking every scorer"));
    let panel = explain.then(load).transpose()?;
    Ok(panel::answer(&opened.catalog, panel.map(Arc::new), context).await?)
}

/// The instructions of the skill that matched, as a terminal can show them.
fn content(found: &Answer) -> Vec<String> {
    let Answer::Matched(found) = found else { return Vec::new() };
    vec![String::new(), printable_text(found.content.trim_end())]
}

/// The answer in a line for each skill.
fn headline(found: &Answer, output: Output) -> Vec<String> {
    match found {
        Answer::NoMatch => vec!["no skill matches".to_owned()],
        Answer::Matched(found) => vec![named(&found.candidate, output)],
        Answer::Ambiguous(candidates) => {
            let choice = candidates.iter().map(|candidate| format!("  {}", named(candidate, output)));
            std::iter::once("several skills match, so the model is asked to choose:".to_owned()).chain(choice).collect()
        }
    }
}

fn named(candidate: &Candidate, output: Output) -> String {
    let words = candidate.matched_keywords.join(", ");
    let reason = if words.is_empty() { String::new() } else { format!(", for {}", printable(&words)) };
    let name = output.toned(Tone::Heading, &printable(&candidate.address));
    format!("{name} (score {:.3}{reason})", candidate.score)
}
