//! `refresh_skills`: what changed on disk and in repositories, now.

use crate::analytics::Event;
use crate::catalog::{Brought, Look};
use crate::git::{Outcome, Round, Wanted};
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use crate::moment;
use serde::Serialize;

pub async fn refresh_skills(server: &Skillcell, arguments: Arguments) -> Result<Answer, ToolError> {
    arguments.finish()?;
    if server.config.frozen {
        server.usage.raise(no_refresh(server));
        let message =
            "The server was started with --static: its skills stay as they were then. Start it anew to refresh.";
        return Ok(Answer::json(&Frozen { success: false, message }));
    }
    // Whoever comes second is told at once, and does not wait for the first.
    let Ok(_refreshing) = server.refreshing.try_lock() else { return Ok(skipped(server)) };
    if server.repositories.is_empty() {
        let failure = failure(server, server.catalog.bring_in(Look::Everything).await);
        let skills_reindexed = reindexed(server, failure.as_ref()).await?;
        server.usage.raise(Event::Refresh {
            mode: "local",
            success: failure.is_none(),
            commit_hash: None,
            files_changed: None,
            skills_reindexed: Some(skills_reindexed),
        });
        return Ok(Answer::json(&local(skills_reindexed, failure)));
    }
    let Some(Round { outcomes, brought }) = server.repositories.sync(Wanted::Now, &server.catalog).await else {
        return Ok(skipped(server));
    };
    let failure = failure(server, brought);
    let skills_reindexed = reindexed(server, failure.as_ref()).await?;
    let refreshed = refreshed(outcomes, skills_reindexed, failure.as_deref(), |message| server.shown_message(message));
    server.usage.raise(Event::Refresh {
        mode: "git",
        success: refreshed.success,
        commit_hash: refreshed.commit_hash.clone(),
        files_changed: Some(refreshed.files_changed),
        skills_reindexed: Some(skills_reindexed),
    });
    Ok(Answer::json(&refreshed))
}

/// Why what is on disk is not served, if it is not.
fn failure(server: &Skillcell, brought: Brought) -> Option<String> {
    let reason = || server.catalog.failure().map_or_else(|| "the log says why".to_owned(), |reason| reason.to_string());
    let told = || format!("The skills stay as they were, because they could not be read anew: {}", reason());
    (brought == Brought::Failed).then(|| server.shown_message(told()))
}

/// How many skills were read. None when everything stays as it was.
async fn reindexed(server: &Skillcell, failure: Option<&String>) -> Result<usize, ToolError> {
    if failure.is_some() { Ok(0) } else { Ok(server.catalog.index().await?.skills.len()) }
}

fn local(skills_reindexed: usize, failure: Option<String>) -> Local {
    let success = failure.is_none();
    let message = failure.unwrap_or_else(|| "Reindexed from local directory (no git sync configured).".to_owned());
    Local { success, mode: "local", skills_reindexed, message }
}

fn skipped(server: &Skillcell) -> Answer {
    server.usage.raise(no_refresh(server));
    Answer::json(&Skipped { success: false })
}

/// Somebody asked in vain.
fn no_refresh(server: &Skillcell) -> Event {
    let mode = if server.repositories.is_empty() { "local" } else { "git" };
    Event::Refresh { mode, success: false, commit_hash: None, files_changed: None, skills_reindexed: None }
}

#[derive(Serialize)]
struct Skipped {
    success: bool,
}

#[derive(Serialize)]
struct Frozen {
    success: bool,
    message: &'static str,
}

#[derive(Serialize)]
struct Local {
    success: bool,
    mode: &'static str,
    skills_reindexed: usize,
    message: String,
}

/// All repositories together. What is said of one commit is said of the first repository's.
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
    /// Each of them, when there are several.
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

fn refreshed(
    outcomes: Vec<Outcome>,
    skills_reindexed: usize,
    failure: Option<&str>,
    shown: impl Fn(String) -> String,
) -> Refreshed {
    let several = outcomes.len() > 1;
    let repositories: Vec<Repository> = outcomes
        .into_iter()
        .map(|outcome| Repository {
            url: shown(outcome.address),
            success: outcome.problem.is_none(),
            commit_hash: outcome.commit,
            files_changed: outcome.files_changed,
            last_sync: outcome.last_sync.map(moment::exactly),
            message: outcome.problem.map(&shown),
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
    use serde_json::{json, to_value};
    use std::time::Duration;

    fn outcome(commit: &str, files_changed: usize, problem: Option<&str>) -> Outcome {
        Outcome {
            address: format!("https://h/{commit}"),
            commit: Some(commit.to_owned()),
            files_changed,
            last_sync: Some(Duration::from_millis(1_700_000_000_123)),
            problem: problem.map(str::to_owned),
        }
    }

    #[test]
    fn one_repository_gives_the_five_fields() {
        let answer = to_value(refreshed(vec![outcome("a", 3, None)], 24, None, |text| text)).unwrap();
        let expected = json!({"success": true, "commit_hash": "a", "files_changed": 3, "skills_reindexed": 24,
            "last_sync": "2023-11-14T22:13:20.123Z"});
        assert_eq!(answer, expected);
    }

    #[test]
    fn several_are_summed_and_told_one_by_one() {
        let outcomes = vec![outcome("a", 3, None), outcome("b", 0, Some("it is gone"))];
        let answer = to_value(refreshed(outcomes, 24, None, |text| text.replace("https://h", "there"))).unwrap();
        assert_eq!(answer["success"], false);
        assert_eq!(answer["files_changed"], 3);
        assert_eq!(answer["commit_hash"], "a");
        assert_eq!(answer["message"], "it is gone");
        assert_eq!(answer["repositories"][0]["success"], true);
        assert_eq!(answer["repositories"][1]["url"], "there/b");
    }

    #[test]
    fn skills_that_cannot_be_read_are_no_success() {
        let answer = to_value(refreshed(vec![outcome("a", 3, None)], 0, Some("it broke"), |text| text)).unwrap();
        let expected = json!({"success": false, "commit_hash": "a", "files_changed": 3, "skills_reindexed": 0,
            "last_sync": "2023-11-14T22:13:20.123Z", "message": "it broke"});
        assert_eq!(answer, expected);
        let answer = to_value(local(0, Some("it broke".to_owned()))).unwrap();
        assert_eq!(answer, json!({"success": false, "mode": "local", "skills_reindexed": 0, "message": "it broke"}));
    }
}
