//! `refresh_skills`: what changed on disk, now.

use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use serde::Serialize;

pub async fn refresh_skills(server: &Skillcell, arguments: Arguments) -> Result<Answer, ToolError> {
    arguments.finish()?;
    // Whoever comes second is told at once, and does not wait for the first.
    let Ok(_refreshing) = server.refreshing.try_lock() else {
        return Ok(Answer::json(&Skipped { success: false }));
    };
    server.catalog.bring_in(None).await;
    let index = server.catalog.index().await?;
    Ok(Answer::json(&Refreshed {
        success: true,
        mode: "local",
        skills_reindexed: index.skills.len(),
        message: "Reindexed from local directory (no git sync configured).",
    }))
}

#[derive(Serialize)]
struct Skipped {
    success: bool,
}

#[derive(Serialize)]
struct Refreshed {
    success: bool,
    mode: &'static str,
    skills_reindexed: usize,
    message: &'static str,
}
