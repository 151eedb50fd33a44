//! `skillcell match`: shows what `get_skill` would return, and why, without recording an event.

mod explanation;

use super::Roots;
use crate::compose::{self, App};
use crate::config;
use anyhow::bail;
use base::printable::{printable, printable_text};
use bindings::catalog::{Answer, Candidate};
use catalog::scorers::explanation::Explanation;
use catalog::scorers::panel::{self, Panel};
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;
use std::sync::Arc;
use terminal::progress::Progress;
use terminal::{self, Output, Tone};
use views::found::FoundView;

#[derive(Args)]
pub struct Match {
    /// The task, in one argument or several
    #[arg(value_name = "CONTEXT", required = true)]
    context: Vec<String>,
    /// Show the scores of the ten best candidates by each scorer, with reasons
    #[arg(long)]
    explain: bool,
    /// Print the whole answer as JSON, with the scores by each scorer in `explain`
    #[arg(long)]
    json: bool,
    /// The scorer that ranks skills: `keyword`, `bm25`, `hybrid`, a configured name, or a component of world `scorer`
    #[arg(long, value_name = "NAME|FILE")]
    scorer: Option<String>,
    #[command(flatten)]
    roots: Roots,
}

#[derive(Serialize)]
struct MatchView {
    #[serde(flatten)]
    answer: FoundView,
    explain: Explanation,
}

pub fn run(arguments: Match) -> anyhow::Result<ExitCode> {
    let mut cli_args = arguments.roots.cli_args();
    cli_args.scorer = arguments.scorer;
    let config = config::resolve(cli_args)?;
    let context = arguments.context.join(" ");
    if context.trim().is_empty() {
        bail!("the task is empty\nhint: describe the task, as in `skillcell match \"build a login form\"`");
    }
    let explain = arguments.explain || arguments.json;
    let as_json = arguments.json;
    let (found, view, explained) = compose::with_app(config, async |app: &App| {
        let (found, explained) = find_skill(app, context.clone(), explain).await?;
        let view = FoundView::local(found.clone(), context, &app.catalog, &app.config.scripts, &app.terms.roots);
        let view = if as_json { Some(view.await?) } else { None };
        Ok((found, view, explained))
    })?;
    let no_match = matches!(found, Answer::NoMatch);
    let output = Output::standard();
    match (explained, view) {
        (Some(explain), Some(answer)) => terminal::print_json(&MatchView { answer, explain })?,
        (Some(explain), None) => {
            terminal::print_lines(&[headline(&found, output), explanation::lines(&explain, output)].concat())?;
        }
        (None, _) => terminal::print_lines(&[headline(&found, output), content(&found)].concat())?,
    }
    Ok(ExitCode::from(u8::from(no_match)))
}

/// Finds the skill for a task, with an explanation if requested.
async fn find_skill(app: &App, context: String, explain: bool) -> anyhow::Result<(Answer, Option<Explanation>)> {
    let _progress = explain.then(|| Progress::start_indeterminate("asking every scorer"));
    // Why a model cannot be used is logged and listed as a problem.
    let model = || compose::installed_model(&app.config).ok().flatten();
    let load = || Panel::load(&app.config.scorers, compose::code_cache(app.config.user_folders.as_ref()), model());
    let panel = explain.then(load).transpose().map_err(compose::wasm_error)?;
    Ok(panel::answer(&app.catalog, panel.map(Arc::new), context).await?)
}

/// The instructions of the matched skill, with control characters escaped.
fn content(found: &Answer) -> Vec<String> {
    let Answer::Matched(found) = found else { return Vec::new() };
    vec![String::new(), printable_text(found.content.trim_end()).into_owned()]
}

/// One line per matched skill.
fn headline(found: &Answer, output: Output) -> Vec<String> {
    match found {
        Answer::NoMatch => vec!["no skill matches".to_owned()],
        Answer::Matched(found) => vec![candidate_line(&found.candidate, output)],
        Answer::Ambiguous(candidates) => {
            let choice = candidates.iter().map(|candidate| format!("  {}", candidate_line(candidate, output)));
            std::iter::once("several skills match, so the model is asked to choose:".to_owned()).chain(choice).collect()
        }
    }
}

fn candidate_line(candidate: &Candidate, output: Output) -> String {
    let keywords = candidate.matched_keywords.join(", ");
    let reason = if keywords.is_empty() { String::new() } else { format!(", for {}", printable(&keywords)) };
    let name = output.paint(Tone::Heading, &printable(&candidate.address));
    format!("{name} (score {:.3}{reason})", candidate.score)
}
