//! `refresh_skills`: applies changes on disk and in repositories now.

use super::{Tool, read_only};
use crate::answer::{self, Answer, Result, failed};
use crate::server::Server;
use analytics::Event;
use base::place::Audience;
use base::timestamp;
use call::Call;
use catalog::Scope;
use git::{Outcome, SyncMode, SyncReport};
use rmcp::model::ToolAnnotations;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
pub struct RefreshSkills {}

impl Tool for RefreshSkills {
    const NAME: &'static str = "refresh_skills";
    const TITLE: &'static str = "Refresh the skills now";
    const PURPOSE: &'static str = "Rescan disk and repositories now, if a change does not show.";

    fn annotations() -> ToolAnnotations {
        read_only().read_only(false).open_world(true)
    }

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        let record = |success, commit_hash, files_changed, skills_reindexed| {
            let mode = if server.repositories.is_empty() { "local" } else { "git" };
            call.usage.record(Event::Refresh { mode, success, commit_hash, files_changed, skills_reindexed });
        };
        let skip = |message: Option<&str>| {
            record(false, None, None, None);
            Ok(answer::json(&Local { message: message.map(str::to_owned), ..Local::default() }))
        };
        if server.frozen {
            let message = "The server was started with --static: its skills do not change. Restart it to refresh.";
            return skip(Some(message));
        }
        // A second call is answered at once instead of waiting for the first.
        let Ok(_refreshing) = server.state.refreshing.try_lock() else { return skip(None) };
        if server.repositories.is_empty() {
            let failure = failure(server, server.catalog.refresh(Scope::Full).await);
            let skills_reindexed = reindexed(server, failure.as_ref()).await?;
            record(failure.is_none(), None, None, Some(skills_reindexed));
            return Ok(answer::json(&local(skills_reindexed, failure)));
        }
        let synced = server.repositories.sync(SyncMode::Always, &server.catalog).await;
        let Some(SyncReport { outcomes, refreshed: applied }) = synced else { return skip(None) };
        let failure = failure(server, applied);
        let skills_reindexed = reindexed(server, failure.as_ref()).await?;
        let answer = refreshed(outcomes, skills_reindexed, failure.as_deref(), server.audience());
        record(answer.success, answer.commit_hash.clone(), Some(answer.files_changed), Some(skills_reindexed));
        Ok(answer::json(&answer))
    }
}

/// Explains why the current files are not served, if they are not.
fn failure(server: &Server, refreshed: catalog::Outcome) -> Option<String> {
    if refreshed != catalog::Outcome::Failed {
        return None;
    }
    let reason = server.catalog.failure().map_or_else(|| "the log says why".to_owned(), |reason| reason.to_string());
    Some(format!("The skills stay as they were, because they could not be reloaded: {reason}"))
}

async fn reindexed(server: &Server, failure: Option<&String>) -> Result<usize> {
    if failure.is_some() { Ok(0) } else { Ok(server.catalog.index().await.map_err(failed)?.skills.len()) }
}

fn local(skills_reindexed: usize, failure: Option<String>) -> Local {
    let success = failure.is_none();
    let message = failure.unwrap_or_else(|| "Reindexed from local directory (no git sync configured).".to_owned());
    Local { success, mode: Some("local"), skills_reindexed: Some(skills_reindexed), message: Some(message) }
}

/// The answer without repositories, and when nothing was refreshed.
#[derive(Default, Serialize)]
struct Local {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skills_reindexed: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// All repositories together. The commit and its time are those of the first.
#[derive(Serialize)]
struct Refreshed {
    success: bool,
    commit_hash: Option<String>,
    files_changed: usize,
    skills_reindexed: usize,
    last_sync: Option<String>,
    /// What went wrong, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Empty if there is only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repositories: Vec<Repository>,
}

#[derive(Serialize)]
struct Repository {
    url: String,
    success: bool,
    commit_hash: Option<String>,
    files_changed: usize,
    last_sync: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

fn refreshed(outcomes: Vec<Outcome>, skills_reindexed: usize, failure: Option<&str>, audience: Audience) -> Refreshed {
    let several = outcomes.len() > 1;
    let repositories: Vec<Repository> = outcomes
        .into_iter()
        .map(|outcome| Repository {
            url: outcome.address.for_audience(audience).into_owned(),
            success: outcome.problem.is_none(),
            commit_hash: outcome.commit,
            files_changed: outcome.files_changed,
            last_sync: outcome.last_sync.map(timestamp::format_millis),
            message: outcome.problem.map(|problem| problem.for_audience(audience)),
        })
        .collect();
    let messages = repositories.iter().filter_map(|repository| repository.message.as_deref());
    let messages: Vec<&str> = messages.chain(failure).collect();
    Refreshed {
        success: messages.is_empty(),
        commit_hash: repositories.first().and_then(|first| first.commit_hash.clone()),
        files_changed: repositories.iter().map(|repository| repository.files_changed).sum(),
        skills_reindexed,
        last_sync: repositories.first().and_then(|first| first.last_sync.clone()),
        message: (!messages.is_empty()).then(|| messages.join("\n")),
        repositories: if several { repositories } else { Vec::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use git::SyncError;
    use git::address::Address;
    use serde_json::{json, to_value};
    use std::time::Duration;

    fn outcome(commit: &str, files_changed: usize, problem: Option<SyncError>) -> Outcome {
        let (address, _) = Address::parse(&format!("/srv/{commit}"), |path| path.into()).unwrap();
        Outcome {
            address,
            commit: Some(commit.to_owned()),
            files_changed,
            last_sync: Some(Duration::from_millis(1_700_000_000_123)),
            problem,
        }
    }

    #[test]
    fn one_repository_gives_the_five_fields() {
        let answer = |failure| to_value(refreshed(vec![outcome("a", 3, None)], 24, failure, Audience::Local)).unwrap();
        let mut expected = json!({"success": true, "commit_hash": "a", "files_changed": 3, "skills_reindexed": 24,
            "last_sync": "2023-11-14T22:13:20.123Z"});
        assert_eq!(answer(None), expected);
        expected["success"] = false.into();
        expected["message"] = "it broke".into();
        assert_eq!(answer(Some("it broke")), expected, "skills that cannot be reloaded are a failure");
        let answer = to_value(local(0, Some("it broke".to_owned()))).unwrap();
        assert_eq!(answer, json!({"success": false, "mode": "local", "skills_reindexed": 0, "message": "it broke"}));
    }

    #[test]
    fn several_repositories_are_summed_and_listed() {
        let outcomes = vec![outcome("a", 3, None), outcome("b", 0, Some(SyncError::Panicked))];
        let answer = to_value(refreshed(outcomes.clone(), 24, None, Audience::Local)).unwrap();
        assert_eq!(answer["success"], false);
        assert_eq!(answer["files_changed"], 3);
        assert_eq!(answer["commit_hash"], "a");
        assert_eq!(answer["message"], "the server panicked during the sync");
        assert_eq!(answer["repositories"][0]["success"], true);
        assert_eq!(answer["repositories"][1]["url"], "/srv/b");
        let answer = to_value(refreshed(outcomes, 24, None, Audience::Remote)).unwrap();
        assert_eq!(answer["repositories"][1]["url"], "repository b");
    }
}
