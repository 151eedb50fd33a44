//! Selects bashkit's commands for scripts, and adapts their arguments.

use bashkit::hooks::{HookAction, ToolEvent};

use crate::{dates, sourced};

/// Disabled: commands that need a network or another user, and bashkit inventions that other systems lack. A script
/// that calls one of those means something else.
const WITHHELD: &[&str] = &[
    "assert", "busybox", "csv", "curl", "dotenv", "glob", "http", "json", "log", "man", "retry", "semver", "sudo",
    "template", "verify", "watch", "wget",
];

pub fn is_offered(command: &str) -> bool {
    !WITHHELD.contains(&command)
}

/// Rewrites arguments to forms that bashkit understands.
pub fn adapt_arguments(mut call: ToolEvent) -> HookAction<ToolEvent> {
    match call.name.as_str() {
        "date" | "touch" => call.args = dates::resolve_dates(call.args),
        "jq" if reads_standard_input(&call.args) => drop(call.args.pop()),
        "split" => call.args = call.args.into_iter().flat_map(split_option).collect(),
        "source" | "." | "bash" | "sh" => {
            if let Some(file) = call.args.iter().find(|argument| !argument.starts_with('-')) {
                sourced::announce(file);
            }
        }
        _ => {}
    }
    HookAction::Continue(call)
}

/// Whether the last argument is the file `-`, which is what jq reads without a file.
fn reads_standard_input(arguments: &[String]) -> bool {
    let is_value = |option: &String| matches!(option.as_str(), "--arg" | "--argjson");
    matches!(arguments, [.., last] if last == "-") && !arguments.iter().rev().nth(2).is_some_and(is_value)
}

/// Splits `-l5` into `-l 5`.
fn split_option(argument: String) -> Vec<String> {
    let number = ["-l", "-b", "-n", "-a"].iter().find_map(|option| {
        let number = argument.strip_prefix(option).filter(|number| !number.is_empty())?;
        Some(vec![(*option).to_owned(), number.to_owned()])
    });
    number.unwrap_or_else(|| vec![argument])
}
