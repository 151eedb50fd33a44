//! `refresh_skills`: what changed on disk and in repositories, now.

use crate::analytics::Event;
use crate::git::{Outcome, Wanted};
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
        server.catalog.bring_in(None).await;
        let skills_reindexed = server.catalog.index().await?.skills.len();
        server.usage.raise(Event::Refresh {
            mode: "local",
            success: true,
            commit_hash: None,
            files_changed: None,
            skills_reindexed: Some(skills_reindexed),
        });
        return Ok(Answer::json(&Local {
            success: true,
            mode: "local",
            skills_reindexed,
            message: "Reindexed from local directory (no git sync configured).",
        }));
    }
    let Some(outcomes) = server.repositories.sync(Wanted::Now, &server.catalog).await else {
        return Ok(skipped(server));
    };
    let skills_reindexed = server.catalog.index().await?.skills.len();
    let refreshed = refreshed(outcomes, skills_reindexed, |message| server.shown_message(message));
    server.usage.raise(Event::Refresh {
        mode: "git",
        success: refreshed.success,
        commit_hash: refreshed.commit_hash.clone(),
        files_changed: Some(refreshed.files_changed),
        skills_reindexed: Some(skills_reindexed),
    });
    Ok(Answer::json(&refreshed))
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
    message: &'static str,
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

fn refreshed(outcomes: Vec<Outcome>, skills_reindexed: usize, shown: impl Fn(String) -> String) -> Refreshed {
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
    let messages: Vec<&str> = repositories.iter().filter_map(|repository| repository.message.as_deref()).collect();
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
        let answer = to_value(refreshed(vec![outcome("a", 3, None)], 24, |text| text)).unwrap();
        let expected = json!({"success": true, "commit_hash": "a", "files_changed": 3, "skills_reindexed": 24,
            "last_sync": "2023-11-14T22:13:20.123Z"});
        assert_eq!(answer, expected);
    }

    #[test]
    fn several_are_summed_and_told_one_by_one() {
        let outcomes = vec![outcome("a", 3, None), outcome("b", 0, Some("it is gone"))];
        let answer = to_value(refreshed(outcomes, 24, |text| text.replace("https://h", "there"))).unwrap();
        assert_eq!(answer["success"], false);
        assert_eq!(answer["files_changed"], 3);
        assert_eq!(answer["commit_hash"], "a");
        assert_eq!(answer["message"], "it is gone");
        assert_eq!(answer["repositories"][0]["success"], true);
        assert_eq!(answer["repositories"][1]["url"], "there/b");
    }
}
