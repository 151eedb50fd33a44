//! The checks before a script runs, in order, each with its own message.

use super::policy::{self, Lendable, Policy};
use super::{ScriptError, Shared, digest};
use crate::bindings::catalog::{self, Execution, FoundScript, ScriptTerms, Settings};
use crate::bindings::library::ReadError;
use crate::bindings::types::Location;
use crate::catalog::no_skill;
use crate::config::Runner;
use crate::library::resources::ResourceFolder;
use crate::library::snapshot::Snapshot;
use crate::printable::{printable, quoted};
use crate::sandbox::runtimes::{Guest, Language, LoadError, Role};
use crate::sha256::Sha256;
use crate::worlds::engine::EngineInstance;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Largest script that is read, in bytes. One that is WebAssembly may be larger.
const LARGEST_SCRIPT: u64 = 4 << 20;

/// Longest wait for a script or a runtime to be compiled.
const COMPILE_TIME: Duration = Duration::from_mins(1);

/// Someone wants a script to run.
#[derive(Debug, Clone)]
pub struct Request {
    pub skill: String,
    pub file: String,
    pub arguments: BTreeMap<String, String>,
    pub working_folder: Option<PathBuf>,
    /// Tell what would happen, and run nothing.
    pub dry_run: bool,
}

/// A script may not run, or cannot. Told to whoever asked, with what to do.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    #[error("scripts are disabled globally\nhint: the operator can set `scripts.enabled: true`")]
    Disabled,
    #[error("no script runs while its audit record cannot be kept: {0}")]
    NoRecord(String),
    #[error("{0}")]
    NoSkill(String),
    #[error(
        "path traversal: `{0}` leaves the skill\nhint: use a path below its resource folder, such as `scripts/check.py`"
    )]
    Traversal(String),
    #[error("script `{file}` is not declared in `{skill}`\nhint: {hint}")]
    NotDeclared { skill: String, file: String, hint: String },
    #[error(
        "scripts are switched off in the `config.yaml` of the root `{0}`\nhint: read the script with get_asset and do its work yourself"
    )]
    SwitchedOff(String),
    #[error(
        "script `{0}` has `execution: claude`, so the server does not run it\nhint: read it with get_asset and run it with bash"
    )]
    ForTheAgent(String),
    #[error("script `{file}` needs the arguments {missing}\nhint: give each in `args`")]
    MissingArguments { file: String, missing: String },
    #[error("{0}")]
    WrongArguments(String),
    #[error(
        "the extension `{extension}` is not allowed for scripts\nhint: allowed are {allowed}; the operator can change `scripts.allowed_extensions`"
    )]
    Extension { extension: String, allowed: String },
    #[error("script `{file}` {what}\nhint: {hint}")]
    File { file: String, what: String, hint: &'static str },
    #[error("no runner is configured for `{0}`\nhint: the operator can name one in `scripts.runners`")]
    NoRunner(String),
    #[error(
        "the runner `{path}` for `{extension}` cannot be used: {reason}\nhint: the operator has to mend `scripts.runners`"
    )]
    BadRunner { extension: String, path: String, reason: String },
    #[error(
        "script `{file}` cannot run: {reason}\nhint: build it as a WASI 0.2 command component or a WASI 0.1 module"
    )]
    BadProgram { file: String, reason: LoadError },
    #[error("{0}")]
    Host(LoadError),
    #[error("`cwd` is `{0}`, which is no folder\nhint: give the absolute path of a folder")]
    WorkingFolder(String),
}

/// A script that may run.
pub struct Checked {
    pub policy: Policy,
    pub guest: Ready,
    pub script: Script,
    pub lent: Lendable,
}

pub struct Ready {
    pub guest: Guest,
    pub runner: Runner,
}

/// The bytes that were checked, which are the bytes that run.
pub struct Script {
    /// The resource folder.
    pub folder: ResourceFolder,
    pub file: String,
    pub bytes: Bytes,
}

/// What the engine and the disk say about a script.
pub struct Found {
    pub what: FoundScript,
    pub terms: ScriptTerms,
    /// The resource folder, or why it cannot be opened.
    pub folder: Result<ResourceFolder, ReadError>,
    /// The Markdown file of the skill that owns the script.
    pub skill_text: String,
}

/// What runs the script, before it is ready.
enum Unloaded {
    Bundled(Language),
    Bytes { bytes: Vec<u8>, digest: Sha256, role: Role },
}

pub(super) async fn check(
    shared: &Arc<Shared>,
    request: Request,
    cancelled: &CancellationToken,
) -> Result<Checked, ScriptError> {
    if !shared.config.scripts.enabled {
        return Err(Denied::Disabled.into());
    }
    let found = find(shared, &request).await?;
    let for_disk = Arc::clone(shared);
    // Reading is not for threads that answer requests.
    let looked = tokio::task::spawn_blocking(move || on_disk(&for_disk, &request, found)).await;
    let looked = looked.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    let OnDisk { policy, unloaded, runner, script, lent } = looked?;
    let is_program = runner == Runner::Itself;
    let guest = load(shared, unloaded, cancelled).await.map_err(|reason| match &runner {
        _ if is_program => Denied::BadProgram { file: printable(&script.file), reason },
        Runner::Component(path) => Denied::BadRunner {
            extension: extension(&script.file),
            path: path.display().to_string(),
            reason: reason.to_string(),
        },
        _ => Denied::Host(reason),
    })?;
    Ok(Checked { policy, guest: Ready { guest, runner }, script, lent })
}

/// Makes the guest ready. Compiling happens on a thread of its own, one at a time, and is not waited for forever.
async fn load(shared: &Arc<Shared>, unloaded: Unloaded, cancelled: &CancellationToken) -> Result<Guest, LoadError> {
    let (bytes, digest, role) = match unloaded {
        Unloaded::Bundled(language) => {
            let shared = Arc::clone(shared);
            let loaded = tokio::task::spawn_blocking(move || shared.runtimes.bundled(language)).await;
            return loaded.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        }
        Unloaded::Bytes { bytes, digest, role } => (bytes, digest, role),
    };
    if let Some(guest) = shared.runtimes.ready(&digest, role) {
        return Ok(guest);
    }
    let compile = async {
        let turn = Arc::clone(&shared.compiling).acquire_owned().await.map_err(|_| LoadError::GivenUp)?;
        let (told, compiled) = tokio::sync::oneshot::channel();
        let shared = Arc::clone(shared);
        let work = move || {
            let _ = told.send(shared.runtimes.load(&bytes, digest, role));
            drop(turn);
        };
        std::thread::Builder::new().name("compiler".to_owned()).spawn(work).map_err(|_| LoadError::GivenUp)?;
        compiled.await.map_err(|_| LoadError::GivenUp)?
    };
    tokio::select! {
        () = cancelled.cancelled() => Err(LoadError::GivenUp),
        compiled = tokio::time::timeout(COMPILE_TIME, compile) => compiled.unwrap_or(Err(LoadError::GivenUp)),
    }
}

/// What the disk says about a script that may run.
struct OnDisk {
    policy: Policy,
    unloaded: Unloaded,
    runner: Runner,
    script: Script,
    lent: Lendable,
}

/// Asks the engine, on the newest files, which script is meant.
async fn find(shared: &Shared, request: &Request) -> Result<Found, ScriptError> {
    let (skill, file) = (request.skill.clone(), request.file.clone());
    let question = move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| {
        let mut found = match engine.script_of(&skill, &file)? {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        let root = found.script.folder.root;
        let Settings { scripts: terms, sources, .. } = engine.settings_of(root)?;
        found.sources.extend(sources);
        let folder = snapshot.open(&found.script.folder);
        let Location { root, path } = &found.skill_file;
        let text = snapshot.root(*root).map(|root| root.file(path, u64::MAX).text.clone());
        let skill_text = text.and_then(Result::ok).map(|text| text.to_string()).unwrap_or_default();
        Ok(Ok(Found { what: found, terms, folder, skill_text }))
    };
    let answered = shared
        .catalog
        .ask_fresh(question, |answer| answer.as_ref().ok().map(|found| found.what.sources.clone()))
        .await?;
    let (skill, file) = (printable(&request.skill), printable(&request.file));
    answered.map_err(|error| {
        ScriptError::Denied(match error {
            catalog::ScriptError::NoSkill(error) => Denied::NoSkill(no_skill(&skill, &error)),
            catalog::ScriptError::UnsafePath => Denied::Traversal(file),
            catalog::ScriptError::NotDeclared(offered) => {
                let hint = match &offered[..] {
                    [] => "it declares no scripts".to_owned(),
                    _ => format!("it declares {}", quoted(&offered)),
                };
                Denied::NotDeclared { skill, file, hint }
            }
        })
    })
}

/// The checks that need the disk, and what a script gets.
fn on_disk(shared: &Shared, request: &Request, found: Found) -> Result<OnDisk, Denied> {
    let Found { what: found, terms, folder, skill_text } = found;
    let script = &found.script;
    let file = printable(&script.file);
    if !terms.enabled {
        let label = shared.roots.get(script.folder.root as usize).map(|root| root.label.clone());
        return Err(Denied::SwitchedOff(label.unwrap_or_default()));
    }
    if script.execution != Execution::Server {
        return Err(Denied::ForTheAgent(file));
    }
    let missing = script.arguments.iter().filter(|argument| argument.required);
    let missing: Vec<String> =
        missing.map(|argument| argument.name.clone()).filter(|name| !request.arguments.contains_key(name)).collect();
    if !missing.is_empty() {
        return Err(Denied::MissingArguments { file, missing: quoted(&missing) });
    }
    let arguments = policy::argument_variables(&request.arguments).map_err(Denied::WrongArguments)?;
    let extension = extension(&script.file);
    if !terms.allowed_extensions.contains(&extension) {
        return Err(Denied::Extension { extension, allowed: quoted(&terms.allowed_extensions) });
    }
    let limit = if extension == ".wasm" { Role::Program.largest() } else { LARGEST_SCRIPT };
    let read = folder.and_then(|folder| Ok((folder.read(&script.file, limit)?, folder)));
    let (bytes, folder) = read.map_err(|error| unreadable(&file, &error))?;
    let runner =
        shared.config.scripts.runners.get(&extension).cloned().ok_or_else(|| Denied::NoRunner(extension.clone()))?;
    let digest = Sha256::of(&bytes);
    let (unloaded, runtime_digest) = unloaded(&runner, &extension, &bytes, digest)?;
    if let Some(path) = &request.working_folder
        && (!path.is_absolute() || !path.is_dir())
    {
        return Err(Denied::WorkingFolder(printable(&path.display().to_string())));
    }
    let root = &shared.roots[script.folder.root as usize];
    let inputs = policy::Inputs {
        config: &shared.config,
        root,
        found: &found,
        terms: &terms,
        working_folder: request.working_folder.as_deref(),
        arguments,
        runner: &runner,
        runtime_digest,
        script_digest: digest,
        digest_wanted: request.dry_run,
    };
    let bytes = Bytes::from(bytes);
    let skill = || digest::Skill::read(&folder, &skill_text, &script.file, &bytes);
    let (policy, lent) = policy::decide(inputs, skill);
    let script = Script { folder, file: script.file.clone(), bytes: bytes.clone() };
    Ok(OnDisk { policy, unloaded, runner, script, lent })
}

/// What runs the script, and its digest where it comes from a file of the operator's.
fn unloaded(
    runner: &Runner,
    extension: &str,
    script: &[u8],
    script_digest: Sha256,
) -> Result<(Unloaded, Option<Sha256>), Denied> {
    match runner {
        Runner::Bundled(language) => Ok((Unloaded::Bundled(*language), None)),
        Runner::Itself => {
            Ok((Unloaded::Bytes { bytes: script.to_vec(), digest: script_digest, role: Role::Program }, None))
        }
        Runner::Component(path) => {
            let bad = |reason: String| Denied::BadRunner {
                extension: extension.to_owned(),
                path: path.display().to_string(),
                reason,
            };
            let (size, limit) =
                (std::fs::metadata(path).map_err(|error| bad(error.to_string()))?.len(), Role::Runtime.largest());
            if size > limit {
                return Err(bad(LoadError::TooLarge { size, limit }.to_string()));
            }
            let bytes = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
            let digest = Sha256::of(&bytes);
            Ok((Unloaded::Bytes { bytes, digest, role: Role::Runtime }, Some(digest)))
        }
    }
}

/// With its dot, in lower case; empty for a file without one.
fn extension(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rfind('.').map_or(String::new(), |dot| name[dot..].to_ascii_lowercase())
}

fn unreadable(file: &str, error: &ReadError) -> Denied {
    let (what, hint) = match error {
        ReadError::NotFound | ReadError::NotText(_) | ReadError::SetAside(_) => {
            ("is declared but missing on disk".to_owned(), "the skill's author has to add the file or remove the entry")
        }
        ReadError::TooLarge(size) => {
            (format!("has {} bytes, and the limit is {}", size.size, size.limit), "the skill's author has to split it")
        }
        ReadError::OutsideRoot => (
            "is a link that leaves the skill, so it does not run".to_owned(),
            "the skill's author has to put the file in place of the link",
        ),
        ReadError::NotAFile => ("is no regular file".to_owned(), "the skill's author has to declare a file"),
        ReadError::NoPermission => ("may not be read by the server".to_owned(), "check its permissions"),
        ReadError::Failed(message) => (format!("could not be read: {message}"), "check the disk"),
    };
    Denied::File { file: file.to_owned(), what, hint }
}
