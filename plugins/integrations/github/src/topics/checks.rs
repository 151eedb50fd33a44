//! Checks of a branch, a commit or a pull request: check runs and legacy commit statuses.

pub mod run;

use crate::hub::{Hub, Repo};
use crate::pull::{self, Found, short};
use integration_kit::http::encode;
use integration_kit::json::{Json, Value};
use integration_kit::text::{Answer, count};
use integration_kit::{Missing, QueryError};
use run::{Outcome, Run};

/// Maximum number of failed runs whose annotations are read, each with one request.
const WITH_ANNOTATIONS: usize = 5;

/// A commit, and its name in the answer.
struct Target {
    repo: Repo,
    commit: String,
    name: String,
    note: Option<String>,
}

pub fn answer(hub: &Hub) -> Result<String, QueryError> {
    let target = match target(hub)? {
        Ok(target) => target,
        Err(text) => return Ok(text),
    };
    let mut runs = read(hub, &target)?;
    runs.0.sort_by(|a, b| (a.outcome, &a.name).cmp(&(b.outcome, &b.name)));
    let (runs, is_cut) = runs;
    let only_failing = hub.intent.has("failing") && !hub.intent.has("passing");

    let mut answer = Answer::new(&format!("{} on {} of {}", verdict(&runs), target.name, target.repo));
    if !runs.is_empty() {
        answer.line(&totals(&runs));
    }
    for outcome in [Outcome::Failed, Outcome::Running, Outcome::Passed, Outcome::Skipped] {
        let group: Vec<_> = runs.iter().filter(|run| run.outcome == outcome).collect();
        if group.is_empty() || (only_failing && outcome != Outcome::Failed) {
            continue;
        }
        answer.section(outcome.title());
        for (at, run) in group.into_iter().enumerate() {
            let annotations = if outcome == Outcome::Failed && at < WITH_ANNOTATIONS {
                annotations(hub, &target.repo, run)?
            } else {
                Vec::new()
            };
            run.show(hub.now(), &annotations, &mut answer);
        }
    }
    answer.note_cut(is_cut, runs.len(), "checks");
    if let Some(note) = &target.note {
        answer.note(note);
    }
    Ok(answer.finish())
}

/// Returns the commit that is meant, or a text if there are several pull requests.
fn target(hub: &Hub) -> Result<Result<Target, String>, QueryError> {
    let intent = &hub.intent;
    if intent.number.is_some() || (intent.has("pr") && intent.branch.is_none()) {
        return of_pull(hub);
    }
    let repo = hub.repo()?;
    let commit = hub.commit().filter(|_| intent.commit.is_some() || intent.has("commit") || hub.branch().is_none());
    if let Some(commit) = commit.filter(|_| !intent.has("default")) {
        let name = format!("commit `{}`", short(commit));
        return Ok(Ok(Target { repo, commit: commit.to_owned(), name, note: None }));
    }
    let branch = match hub.branch().filter(|_| !intent.has("default")) {
        Some(branch) => branch.to_owned(),
        None if intent.has("default") || !hub.is_here() => default_branch(hub, &repo)?,
        None => return Err(QueryError::Missing(Missing::Branch)),
    };
    of_branch(hub, repo, &branch).map(Ok)
}

fn of_pull(hub: &Hub) -> Result<Result<Target, String>, QueryError> {
    let pull = match pull::find(hub)? {
        Found::One(pull) => pull,
        Found::Several(text) => return Ok(Err(text)),
    };
    let name = format!("pull request {}", pull::title(&pull.value));
    let unknown = || QueryError::Failed(format!("GitHub does not say which commit {name} has"));
    let commit = pull.value.text("head.sha").ok_or_else(unknown)?.to_owned();
    let name = format!("{name} (commit `{}`)", short(&commit));
    Ok(Ok(Target { repo: pull.repo, commit, name, note: None }))
}

fn of_branch(hub: &Hub, repo: Repo, branch: &str) -> Result<Target, QueryError> {
    let what = format!("branch `{branch}` of {repo}");
    // Git does not allow such names, and they would change the URL.
    if branch.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        return Err(QueryError::NotFound(what));
    }
    hub.progress(&format!("looking up {what}"));
    let path: Vec<_> = branch.split('/').map(encode).collect();
    let reference = hub.get(&repo.path(&format!("/git/ref/heads/{}", path.join("/"))), &what)?;
    let unknown = || QueryError::Failed(format!("GitHub does not say which commit {what} has"));
    let commit = reference.text("object.sha").ok_or_else(unknown)?.to_owned();
    let here = hub.commit().filter(|here| *here != commit && hub.branch() == Some(branch));
    let note = here.map(|here| {
        format!(
            "Your commit is `{}`. GitHub has `{}` on this branch, so push or fetch to compare.",
            short(here),
            short(&commit)
        )
    });
    Ok(Target { repo, name: format!("branch `{branch}` (commit `{}`)", short(&commit)), commit, note })
}

fn default_branch(hub: &Hub, repo: &Repo) -> Result<String, QueryError> {
    let facts = hub.get(&repo.path(""), &format!("repository {repo}"))?;
    Ok(facts.text("default_branch").unwrap_or("main").to_owned())
}

fn read(hub: &Hub, target: &Target) -> Result<(Vec<Run>, bool), QueryError> {
    hub.progress(&format!("reading checks of {}", target.name));
    let what = format!("commit `{}` of {}; it may not be pushed yet", short(&target.commit), target.repo);
    let commit = target.repo.path(&format!("/commits/{}", encode(&target.commit)));
    let runs = hub.list(&format!("{commit}/check-runs"), "check_runs", &what)?;
    let statuses = hub.list(&format!("{commit}/status"), "statuses", &what)?;
    let all = runs.items.iter().map(Run::of_check_run).chain(statuses.items.iter().map(Run::of_status));
    Ok((all.collect(), runs.cut || statuses.cut))
}

/// Returns the annotations of a failed run.
fn annotations(hub: &Hub, repo: &Repo, run: &Run) -> Result<Vec<Value>, QueryError> {
    let Some(id) = run.annotated else { return Ok(Vec::new()) };
    hub.progress(&format!("reading annotations of check {}", run.name));
    let found = hub.find(&repo.path(&format!("/check-runs/{id}/annotations?per_page=50")))?;
    Ok(found.map(|value| value.list("").to_vec()).unwrap_or_default())
}

fn verdict(runs: &[Run]) -> String {
    let number = |outcome| runs.iter().filter(|run| run.outcome == outcome).count();
    match (number(Outcome::Failed), number(Outcome::Running)) {
        _ if runs.is_empty() => "No checks".to_owned(),
        (0, 0) => "All checks pass".to_owned(),
        (0, running) => format!("No failing checks, {running} not finished,"),
        (failed, _) => count(failed, "failing check"),
    }
}

fn totals(runs: &[Run]) -> String {
    let outcomes = [Outcome::Failed, Outcome::Running, Outcome::Passed, Outcome::Skipped];
    let counted = outcomes.map(|outcome| (runs.iter().filter(|run| run.outcome == outcome).count(), outcome));
    let parts = counted
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, outcome)| format!("{number} {}", outcome.title().to_lowercase()));
    format!("{} in all: {}", count(runs.len(), "check"), parts.collect::<Vec<_>>().join(", "))
}
