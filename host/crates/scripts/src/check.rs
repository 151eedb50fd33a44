//! The checks before a script runs, in order, each with its own message.

use super::policy::{self, GrantedAccess, Policy};
use super::{Inner, ScriptError, digest};
use crate::compilations::Turn;
use crate::denied::Denied;
use crate::input::{Input, InputError, InputFile};
use crate::options::Runner;
use crate::patterns::Pattern;
use base::digest::Sha256;
use base::place::Place;
use bindings::catalog::{self, Execution, FoundScript, ScriptLimits, Settings};
use bindings::library::ReadError;
use bindings::types::Location;
use bytes::Bytes;
use guests::engine::EngineInstance;
use guests::load::{self, Fault};
use guests::run::lower_priority;
use guests::script::{Guest, Language, Role};
use library::resources::{ResourceFolder, Target};
use library::snapshot::Snapshot;
use sandbox::files::path::{GuestPath, below};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// In bytes. WebAssembly may be larger.
const MAX_SCRIPT_BYTES: u64 = 4 << 20;

const COMPILE_TIMEOUT: Duration = Duration::from_mins(1);

/// A request to run a script.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub skill: String,
    pub file: String,
    pub input: Input,
    pub working_folder: Option<PathBuf>,
    /// Which of the changed files are wanted; `None` for all outside `/tmp`.
    pub outputs: Option<Vec<Pattern>>,
    /// A folder below the working folder that gets a copy of the outputs.
    pub save_to: Option<String>,
    /// Report the policy, and run nothing.
    pub dry_run: bool,
}

/// A script that may run.
pub struct Checked<G = Guest> {
    pub policy: Policy,
    pub guest: G,
    pub script: Script,
    pub access: GrantedAccess,
    pub input: Input,
    pub wanted: Wanted,
}

/// What is to be done with the files that a run leaves behind.
pub struct Wanted {
    pub outputs: Option<Vec<Pattern>>,
    /// Normalized, below `/work`.
    pub save_to: Option<String>,
}

/// The bytes that were checked, which are the bytes that run.
pub struct Script {
    /// The resource folder.
    pub folder: ResourceFolder,
    pub file: String,
    pub bytes: Bytes,
}

/// A declared script, as the engine and the disk know it.
pub struct ResolvedScript {
    pub found: FoundScript,
    pub terms: ScriptLimits,
    /// The resource folder, or why it cannot be opened.
    pub folder: Result<ResourceFolder, ReadError>,
    /// The Markdown file of the skill that owns the script.
    pub skill_text: String,
}

/// Where the guest that runs a script is loaded from.
enum GuestSource {
    Bundled(Language),
    Bytes { bytes: Bytes, digest: Sha256, role: Role },
}

/// Checks a request without loading what would run.
pub(super) async fn preview(
    inner: &Arc<Inner>,
    request: &Request,
    cancelled: &CancellationToken,
) -> Result<Policy, ScriptError> {
    let validate = |inner: &Inner, prepared: &Checked<GuestSource>| match &prepared.guest {
        GuestSource::Bytes { bytes, digest, role } => {
            let valid = inner.world.validate(bytes, digest, *role);
            valid.map_err(|fault| bad_guest(&prepared.policy, fault))
        }
        GuestSource::Bundled(_) => Ok(()),
    };
    Ok(prepare(inner, request, cancelled, validate).await?.policy)
}

/// Checks a request, and loads what runs. What was read is not kept while the request waits for a compilation.
pub(super) async fn check(
    inner: &Arc<Inner>,
    request: &Request,
    cancelled: &CancellationToken,
) -> Result<Checked, ScriptError> {
    let mut turn = None;
    loop {
        let prepared = prepare(inner, request, cancelled, |_, _| Ok(())).await?;
        let Checked { policy, guest, script, access, input, wanted } = prepared;
        let guest = match guest {
            GuestSource::Bundled(language) => {
                let inner = Arc::clone(inner);
                let loaded = blocking(move || inner.world.bundled(language)).await;
                loaded.map_err(|error| Denied::Host(Box::new(error)))?
            }
            GuestSource::Bytes { bytes, digest, role } => {
                let loaded = match (inner.world.loaded(&digest, role), turn.take()) {
                    (Some(guest), _) => Ok(guest),
                    (None, Some(turn)) => compile(inner, turn, bytes, digest, role, cancelled).await,
                    (None, None) => {
                        drop((bytes, script, access, input));
                        let free = compiler(inner, &policy, cancelled).await;
                        turn = Some(free.map_err(|fault| bad_guest(&policy, fault))?);
                        continue;
                    }
                };
                loaded.map_err(|fault| bad_guest(&policy, fault))?
            }
        };
        return Ok(Checked { policy, guest, script, access, input, wanted });
    }
}

/// Waits for the turn of a skill to compile.
async fn compiler(inner: &Inner, policy: &Policy, cancelled: &CancellationToken) -> Result<Turn, Fault> {
    let skill = format!("{}/{}", policy.root, policy.skill_path);
    tokio::select! {
        () = cancelled.cancelled() => Err(Fault::NotCompiled),
        turn = tokio::time::timeout(COMPILE_TIMEOUT, inner.compilations.turn(&skill)) => turn.map_err(|_| Fault::NotCompiled),
    }
}

/// Loads a guest on a thread of its own. A cancelled compilation continues there until its end, which is near: the bounds of
/// `guests` see to that.
async fn compile(
    inner: &Arc<Inner>,
    turn: Turn,
    bytes: Bytes,
    digest: Sha256,
    role: Role,
    cancelled: &CancellationToken,
) -> Result<Guest, Fault> {
    let (sender, compiled) = tokio::sync::oneshot::channel();
    let inner = Arc::clone(inner);
    let work = move || {
        lower_priority();
        let loaded = inner.world.load(&bytes, digest, role);
        drop(turn);
        let _ = sender.send(loaded);
    };
    std::thread::Builder::new().name("compiler".to_owned()).spawn(work).map_err(|_| Fault::NotCompiled)?;
    tokio::select! {
        () = cancelled.cancelled() => Err(Fault::NotCompiled),
        compiled = tokio::time::timeout(COMPILE_TIMEOUT, compiled) => compiled.ok().and_then(Result::ok).unwrap_or(Err(Fault::NotCompiled)),
    }
}

/// Resolves the script and makes the checks that need the disk; `also` is one more of them.
async fn prepare(
    inner: &Arc<Inner>,
    request: &Request,
    cancelled: &CancellationToken,
    also: impl FnOnce(&Inner, &Checked<GuestSource>) -> Result<(), Denied> + Send + 'static,
) -> Result<Checked<GuestSource>, ScriptError> {
    if !inner.options.enabled {
        return Err(Denied::Disabled.into());
    }
    let resolved = find(inner, request).await?;
    policy::check_size(&request.input.named).map_err(Denied::InvalidArguments)?;
    let (inner, request) = (Arc::clone(inner), request.clone());
    // Only some of the threads for blocking work, which engines need as well.
    let _reading = tokio::select! {
        biased;
        () = cancelled.cancelled() => return Err(ScriptError::Cancelled),
        reading = inner.reading.acquire() => reading,
    };
    let for_disk = Arc::clone(&inner);
    let prepared = blocking(move || {
        let prepared = read_and_decide(&for_disk, request, resolved)?;
        also(&for_disk, &prepared)?;
        Ok(prepared)
    });
    prepared.await.map_err(ScriptError::Denied)
}

/// Does work that would block the threads that answer requests.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// Asks the engine, on fresh files, which script is meant.
async fn find(inner: &Inner, request: &Request) -> Result<ResolvedScript, ScriptError> {
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
        Ok(Ok(ResolvedScript { found, terms, folder, skill_text }))
    };
    let answered = inner
        .catalog
        .ask_fresh(question, |answer| answer.as_ref().ok().map(|resolved| resolved.found.sources.clone()))
        .await
        .map_err(ScriptError::Catalog)?;
    let (skill, file) = (request.skill.clone(), request.file.clone());
    answered.map_err(|error| {
        ScriptError::Denied(match error {
            catalog::ScriptError::NoSkill(error) => Denied::NoSkill { name: skill, error },
            catalog::ScriptError::UnsafePath => Denied::Traversal(file),
            catalog::ScriptError::NotDeclared(declared) => Denied::NotDeclared { skill, file, declared },
            catalog::ScriptError::Undeclared => Denied::Undeclared { skill, file },
        })
    })
}

/// Makes the checks that need the disk, and decides the policy.
fn read_and_decide(
    inner: &Inner,
    mut request: Request,
    resolved: ResolvedScript,
) -> Result<Checked<GuestSource>, Denied> {
    let ResolvedScript { found, terms, folder, skill_text } = resolved;
    let script = &found.script;
    let file = script.file.clone();
    if !terms.enabled {
        let label = inner.roots.get(script.folder.root as usize).map(|root| root.label.clone());
        return Err(Denied::DisabledInRoot(label.unwrap_or_default()));
    }
    if script.execution != Execution::Server {
        return Err(Denied::RunByAgent(file));
    }
    let missing = script.arguments.iter().filter(|argument| argument.required);
    let missing: Vec<String> =
        missing.map(|argument| argument.name.clone()).filter(|name| !request.input.named.contains_key(name)).collect();
    if !missing.is_empty() {
        return Err(Denied::MissingArguments { file, missing });
    }
    request.input.check().map_err(Denied::Input)?;
    if let Some(folder) = &request.working_folder {
        request.input.translate_paths(folder);
    }
    let arguments = policy::argument_variables(&request.input.named).map_err(Denied::InvalidArguments)?;
    let extension = extension(&script.file);
    if !terms.allowed_extensions.contains(&extension) {
        return Err(Denied::Extension { extension, allowed: terms.allowed_extensions });
    }
    let limit = if extension == ".wasm" { Role::Program.max_bytes() } else { MAX_SCRIPT_BYTES };
    let read = folder.and_then(|folder| Ok((folder.read(&script.file, limit)?, folder)));
    let (bytes, folder) = read.map_err(|error| Denied::File { file, error })?;
    let runner = inner.options.runners.get(&extension).cloned().ok_or_else(|| Denied::NoRunner(extension.clone()))?;
    let (digest, bytes) = (Sha256::of(&bytes), Bytes::from(bytes));
    let (guest, runtime_digest) = guest_source(&runner, &extension, &bytes, digest)?;
    // Remote clients get the same name for every folder: another would tell where the home folder and the roots are.
    let working_folder = request.working_folder.as_deref().map(|path| Place::new(path, "cwd"));
    if working_folder.as_ref().is_some_and(|place| !place.path().is_absolute()) {
        return Err(Denied::RelativeWorkingFolder);
    }
    let inputs = policy::Inputs {
        found: &found,
        terms: &terms,
        working_folder,
        arguments,
        input: &request.input,
        runner,
        runtime_digest,
        script_digest: digest,
        with_skill_digest: request.dry_run,
    };
    let contents = || digest::SkillContents::read(&folder, &skill_text, &script.file, &bytes);
    let (policy, access) = policy::decide(inner, inputs, contents);
    if access.work.is_empty() {
        check_collisions(&folder, &request.input).map_err(Denied::Input)?;
    }
    let save_to = request.save_to.map(|folder| check_save_to(folder, &access)).transpose()?;
    let script = Script { folder, file: script.file.clone(), bytes };
    let wanted = Wanted { outputs: request.outputs, save_to };
    Ok(Checked { policy, guest, script, access, input: request.input, wanted })
}

/// Refuses files that would replace files of the skill, because a script with grants may act on those.
fn check_collisions(folder: &ResourceFolder, input: &Input) -> Result<(), InputError> {
    for (index, InputFile { path, .. }) in input.files.iter().enumerate() {
        let above = path.match_indices('/').map(|(end, _)| folder.target(&path[..end]));
        let is_blocked = above.flatten().any(|target| target != Target::Folder);
        if is_blocked || folder.target(path).is_some() {
            return Err(InputError::OfSkill { index, path: path.clone() });
        }
    }
    Ok(())
}

/// Checks that outputs can be saved before the script runs, so that nothing is lost after it.
fn check_save_to(folder: String, access: &GrantedAccess) -> Result<String, Denied> {
    let plain = GuestPath::default().join(&folder).ok().filter(|_| !folder.split('/').any(|name| name == ".."));
    let Some(plain) = plain.map(|resolved| resolved.path) else { return Err(Denied::SaveTo { folder, granted: true }) };
    let joined = |at: &str, inside: &str| GuestPath::default().join(&format!("./{at}/{inside}")).ok();
    let covers = |at: &str, inside: &str| {
        joined(at, inside).is_some_and(|writable| below(plain.as_str(), writable.path.as_str()).is_some())
    };
    let granted = access.work.iter().any(|part| part.writable.iter().any(|writable| covers(&part.at, &writable.below)));
    if granted { Ok(plain.as_str().to_owned()) } else { Err(Denied::SaveTo { folder, granted: false }) }
}

fn bad_guest(policy: &Policy, fault: Fault) -> Denied {
    match &policy.runner {
        Runner::Component(path) => bad_runner(path, &extension(&policy.script), fault),
        _ => Denied::BadProgram { file: policy.script.clone(), fault },
    }
}

fn bad_runner(path: &Path, extension: &str, fault: Fault) -> Denied {
    Denied::BadRunner { extension: extension.to_owned(), component: Place::file(path), fault: Box::new(fault) }
}

/// Returns the source of the guest, and its digest if it is a file of the operator.
fn guest_source(
    runner: &Runner,
    extension: &str,
    script: &Bytes,
    script_digest: Sha256,
) -> Result<(GuestSource, Option<Sha256>), Denied> {
    match runner {
        Runner::Bundled(language) => Ok((GuestSource::Bundled(*language), None)),
        Runner::Itself => {
            Ok((GuestSource::Bytes { bytes: script.clone(), digest: script_digest, role: Role::Program }, None))
        }
        Runner::Component(path) => {
            let bytes = load::read(path, Role::Runtime.max_bytes());
            let bytes = bytes.map_err(|fault| bad_runner(path, extension, fault))?;
            let digest = Sha256::of(&bytes);
            Ok((GuestSource::Bytes { bytes: bytes.into(), digest, role: Role::Runtime }, Some(digest)))
        }
    }
}

/// Whether a file of a folder skill runs although the skill does not declare it.
pub fn runs_undeclared(limits: &ScriptLimits, file: &str) -> bool {
    limits.enabled && limits.undeclared && limits.allowed_extensions.contains(&extension(file))
}

/// Returns the extension with its dot, in lower case; empty if there is none.
pub fn extension(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rfind('.').map_or(String::new(), |dot| name[dot..].to_ascii_lowercase())
}
