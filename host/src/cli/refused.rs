//! Telling that the answer is no: people on standard error, programs on standard output too.

use crate::terminal;
use serde_json::json;
use std::process::ExitCode;

/// Tells why, and ends with the exit code for it.
pub fn tell(message: &str, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        let (error, hint) = message.split_once("\nhint: ").map_or((message, None), |(error, hint)| (error, Some(hint)));
        terminal::print_json(&json!({"error": error, "hint": hint}))?;
    }
    terminal::complain(message);
    Ok(ExitCode::from(1))
}
