//! Which of bashkit's commands a script finds, and what they are told.

use bashkit::hooks::{HookAction, ToolEvent};

use crate::{dates, sourced};

/// Left out: what needs a network or another user, and bashkit's inventions that no other system has. A script that
/// calls one of those meant something else.
const WITHHELD: &[&str] = &[
    "assert", "busybox", "csv", "curl", "dotenv", "glob", "http", "json", "log", "man", "retry", "semver", "sudo",
    "template", "verify", "watch", "wget",
];

pub fn is_offered(command: &str) -> bool {
    !WITHHELD.contains(&command)
}

/// Puts arguments into words that bashkit understands.
pub fn in_bashkit_words(mut call: ToolEvent) -> HookAction<ToolEvent> {
    match call.name.as_str() {
        "date" | "touch" => call.args = dates::in_seconds(call.args),
        "split" => call.args = call.args.into_iter().flat_map(apart).collect(),
        "source" | "." | "bash" | "sh" => {
            if let Some(file) = call.args.iter().find(|argument| !argument.starts_with('-')) {
                sourced::announce(file);
            }
        }
        _ => {}
    }
    HookAction::Continue(call)
}

/// `-l5` as `-l 5`.
fn apart(argument: String) -> Vec<String> {
    let number = ["-l", "-b", "-n", "-a"].iter().find_map(|option| {
        let number = argument.strip_prefix(option).filter(|number| !number.is_empty())?;
        Some(vec![(*option).to_owned(), number.to_owned()])
    });
    number.unwrap_or_else(|| vec![argument])
}
