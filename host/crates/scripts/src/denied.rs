//! Why a script does not run.

use crate::input::InputError;
use crate::policy::ArgumentError;
use base::place::{Audience, LocalReason, Place};
use base::printable::{printable, quoted};
use bindings::catalog::LookupError;
use bindings::library::ReadError;
use catalog::no_skill;
use guests::load::{Fault, LoadError};

/// Why a script does not run, and what to do about it.
#[derive(Debug)]
pub enum Denied {
    Disabled,
    NoRecord(LocalReason),
    NoSkill { name: String, error: LookupError },
    Traversal(String),
    NotDeclared { skill: String, file: String, declared: Vec<String> },
    Undeclared { skill: String, file: String },
    DisabledInRoot(String),
    RunByAgent(String),
    MissingArguments { file: String, missing: Vec<String> },
    InvalidArguments(ArgumentError),
    Input(InputError),
    SaveTo { folder: String, granted: bool },
    Extension { extension: String, allowed: Vec<String> },
    File { file: String, error: ReadError },
    NoRunner(String),
    BadRunner { extension: String, component: Place, fault: Box<Fault> },
    BadProgram { file: String, fault: Fault },
    Host(Box<LoadError>),
    RelativeWorkingFolder,
}

impl Denied {
    pub fn for_audience(&self, audience: Audience) -> String {
        match self {
            Self::Disabled => {
                "scripts are disabled globally\nhint: the operator can set `scripts.enabled: true`".to_owned()
            }
            Self::NoRecord(reason) => format!(
                "scripts do not run while the audit record cannot be written: {}",
                reason.for_audience(audience)
            ),
            Self::NoSkill { name, error } => no_skill(&printable(name), error),
            Self::Traversal(file) => format!(
                "path traversal: `{}` leaves the skill\nhint: use a path below its resource folder, such as `scripts/check.py`",
                printable(file)
            ),
            Self::NotDeclared { skill, file, declared } => {
                let hint = match &declared[..] {
                    [] => "it declares no scripts, and has no such file that can run".to_owned(),
                    _ => format!("it declares {}", quoted(declared)),
                };
                format!("script `{}` is not declared in `{}`\nhint: {hint}", printable(file), printable(skill))
            }
            Self::Undeclared { skill, file } => format!(
                "script `{}` is not declared in `{}`, and only declared scripts run here\nhint: read it with get_asset and run it yourself; the operator can set `scripts.undeclared: true`, or the author declare it",
                printable(file),
                printable(skill)
            ),
            Self::DisabledInRoot(label) => format!(
                "scripts are disabled in the `config.yaml` of the root `{label}`\nhint: read the script with get_asset and do its work yourself"
            ),
            Self::RunByAgent(file) => format!(
                "script `{}` has `execution: claude`, so the server does not run it\nhint: read it with get_asset and run it yourself",
                printable(file)
            ),
            Self::MissingArguments { file, missing } => format!(
                "script `{}` needs the arguments {}\nhint: give each in `args`",
                printable(file),
                quoted(missing)
            ),
            Self::InvalidArguments(error) => error.to_string(),
            Self::Input(error) => error.to_string(),
            Self::SaveTo { folder, granted: true } => format!(
                "`save_to` is `{}`, which is not a path below `cwd`\nhint: use a relative path such as `reports`, without `..`",
                printable(folder)
            ),
            Self::SaveTo { folder, granted: false } => format!(
                "outputs cannot be saved to `{}`: no write grant covers that folder of `cwd`\nhint: call it with a `cwd` that the operator granted with `write`, or without `save_to`",
                printable(folder)
            ),
            Self::Extension { extension, allowed } => format!(
                "the extension `{extension}` is not allowed for scripts\nhint: use one of {}; the operator can change `scripts.allowed_extensions`",
                quoted(allowed)
            ),
            Self::File { file, error } => {
                let (what, hint) = explain(error);
                format!("script `{}` {what}\nhint: {hint}", printable(file))
            }
            Self::NoRunner(extension) => format!(
                "no runner is configured for `{extension}`\nhint: the operator can add one to `scripts.runners`"
            ),
            Self::BadRunner { extension, component, fault } => format!(
                "the runner `{}` for `{extension}` cannot be used: it {fault}\nhint: the operator has to fix `scripts.runners`",
                component.for_audience(audience)
            ),
            Self::BadProgram { file, fault } => {
                let hint = match fault {
                    Fault::NotCompiled => "try again",
                    Fault::TooLarge { .. } | Fault::Complex(_) => {
                        "the skill's author has to build it for size and split large functions, or write it in a language with a bundled runtime; the operator can run large programs as a component in `scripts.runners`"
                    }
                    _ => "build it as a WASI 0.2 command component or a WASI 0.1 module",
                };
                format!("script `{}` cannot run: it {fault}\nhint: {hint}", printable(file))
            }
            Self::Host(error) => error.for_audience(audience),
            Self::RelativeWorkingFolder => {
                "`cwd` is not an absolute path\nhint: give the absolute path of a folder".to_owned()
            }
        }
    }
}

/// Says what is wrong with the file of a script, and what to do about it.
fn explain(error: &ReadError) -> (String, &'static str) {
    match error {
        ReadError::NotFound | ReadError::NotText(_) | ReadError::Quarantined(_) => {
            ("is declared but missing on disk".to_owned(), "the skill's author has to add the file or remove the entry")
        }
        ReadError::TooLarge(size) => {
            (format!("has {} bytes, and the limit is {}", size.size, size.limit), "the skill's author has to split it")
        }
        ReadError::OutsideRoot => (
            "is a link that leaves the skill, so it does not run".to_owned(),
            "the skill's author has to replace the link with the file",
        ),
        ReadError::NotAFile => ("is not a regular file".to_owned(), "the skill's author has to declare a file"),
        ReadError::NoPermission => ("is not readable by the server".to_owned(), "check its permissions"),
        ReadError::Failed(message) => (format!("could not be read: {message}"), "check the disk"),
    }
}
