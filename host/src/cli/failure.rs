//! Reports a negative answer: on standard error, and as JSON on standard output if requested.

use serde_json::json;
use std::process::ExitCode;

/// Reports the reason and returns exit code 1.
pub fn report(message: &str, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        let (error, hint) = message.split_once("\nhint: ").map_or((message, None), |(error, hint)| (error, Some(hint)));
        terminal::print_json(&json!({"error": error, "hint": hint}))?;
    }
    terminal::print_error(message);
    Ok(ExitCode::from(1))
}
