//! Runs the scripts of skills: which one may run, what it is granted, and the audit entries of the run.
//!
//! Owns the checks before a run ([`check`]), the grants of the operator ([`grants`]), the policy that results from the
//! grants and what the script asks for ([`policy`]), the queue, and the entries for the audit record ([`record`]). Must not know how a guest is
//! compiled or called (that is `guests`), what it can touch once it runs (`sandbox`), the configuration file or MCP.
//!
//! Start reading with [`Scripts::run`], the path of one run: a [`Request`] with its [`input`] becomes a [`Policy`] in `check`,
//! `Scripts::job` turns that into the `Capabilities` (files, arguments, variables, gate) that the guest sees, and what the script
//! wrote is collected as [`outputs`], which the caller can read while they are [`kept`]. Then [`Denied`], all reasons why a script does not run, and
//! [`grants::settle`], the only place that turns a request into a grant.

mod check;
mod compilations;
mod denied;
pub mod grants;
pub mod input;
pub mod kept;
pub mod options;
pub mod outputs;
pub mod patterns;
mod digest;
mod hint;
mod policy;
mod record;
mod refusal;

pub use check::{Request, runs_undeclared};
pub use denied::Denied;
pub use digest::digest_of;
pub use options::{Options, Runner};
pub use policy::Policy;
pub use record::limits;
pub use refusal::{Refusal, ScriptId, Wish};

use audit::{AuditError, Record};
use base::place::{Audience, LocalReason};
use bytes::Bytes;
use call::{Call, Caller};
use catalog::{AskError, Catalog};
use check::{Checked, Wanted};
use compilations::Compilations;
use grants::Grants;
use guests::run::Lost;
use guests::script::{Finished, Guest, Job, ScriptWorld, mount_python, python_argv};
use input::{Input, InputError, InputFile};
use kept::KeptFiles;
use library::resources::ResourceFolder;
use library::roots::SkillRoot;
use outputs::{OutputFile, Outputs};
use packages::installed::Installed;
use packages::{ARCHIVE_FOLDER, ARCHIVE_NAME, DIRECTORY_NAME};
use sandbox::clock_rng::ClockRng;
use sandbox::denials::Denials;
use sandbox::files::disk::Disk;
use sandbox::files::frozen::Frozen;
use sandbox::files::memory::{Memory, Quota};
use sandbox::files::overlay::Overlay;
use sandbox::files::{FileError, Files};
use sandbox::gate::Gate;
use sandbox::output::Output;
use sandbox::state::{Capabilities, Nesting};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// How often progress is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// How long the shutdown waits for cancelled scripts.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(500);

/// Each request holds a script of some megabytes, or a whole skill, while it reads.
const MAX_READING: usize = 2;

/// Beyond this, requests are refused.
const MAX_WAITING: usize = 256;

/// What waiting requests may hand over together.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// Runs scripts. Cheap to clone, once per request.
#[derive(Clone)]
pub struct Scripts {
    inner: Arc<Inner>,
}

struct Inner {
    catalog: Catalog,
    options: Options,
    grants: Arc<Grants>,
    roots: Arc<[SkillRoot]>,
    world: Arc<ScriptWorld>,
    packages: Installed,
    record: Arc<Record>,
    /// Requests that may read files for their checks at the same time.
    reading: Semaphore,
    compilations: Compilations,
    slots: Semaphore,
    /// Requests that were neither answered nor given a slot.
    waiting: AtomicUsize,
    /// What the waiting requests hand over.
    waiting_bytes: AtomicUsize,
    kept: Arc<KeptFiles>,
}

/// A script did not run, or its result was lost.
#[derive(Debug)]
pub enum ScriptError {
    /// The caller, the author or the operator can act on it.
    Denied(Denied),
    Catalog(AskError),
    /// Too many requests wait.
    Busy,
    /// Before it began.
    Cancelled,
    Lost(Lost),
    Unrecorded(LocalReason),
}

impl ScriptError {
    pub fn for_audience(&self, audience: Audience) -> String {
        match self {
            Self::Denied(denied) => denied.for_audience(audience),
            Self::Catalog(error) => error.to_string(),
            Self::Busy => format!(
                "{MAX_WAITING} scripts are already waiting to run\nhint: wait for the results of earlier calls, then try again; the operator can raise `scripts.runs_at_once`"
            ),
            Self::Cancelled => "the call was cancelled".to_owned(),
            Self::Lost(error) => error.to_string(),
            Self::Unrecorded(reason) => format!("the run cannot be recorded: {}", reason.for_audience(audience)),
        }
    }
}

impl From<Denied> for ScriptError {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

/// A finished run, with the policy it ran under.
pub struct CompletedRun {
    pub policy: Policy,
    pub finished: Finished,
    pub outputs: Outputs,
    /// How many outputs were saved, or which one could not be.
    pub saved: Option<Result<usize, (String, FileError)>>,
    /// The script itself.
    source: Bytes,
}

impl Scripts {
    pub fn new(
        catalog: Catalog,
        options: Options,
        grants: Arc<Grants>,
        roots: Arc<[SkillRoot]>,
        world: Arc<ScriptWorld>,
        packages: Installed,
        record: Arc<Record>,
    ) -> Self {
        let inner = Inner {
            slots: Semaphore::new(options.runs_at_once),
            reading: Semaphore::new(MAX_READING),
            compilations: Compilations::new(),
            waiting: AtomicUsize::new(0),
            waiting_bytes: AtomicUsize::new(0),
            kept: Arc::default(),
            catalog,
            options,
            grants,
            roots,
            world,
            packages,
            record,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the policy that a script would run under, without compiling or running it.
    pub async fn dry_run(&self, request: Request, call: &Call) -> Result<Policy, ScriptError> {
        let _queued = self.queue(&request)?;
        self.checked(&request, check::preview(&self.inner, &request, &call.cancelled)).await
    }

    /// Runs a script. Its beginning is recorded before it runs, and then its end.
    pub async fn run(&self, request: Request, call: &Call) -> Result<CompletedRun, ScriptError> {
        let queued = self.queue(&request)?;
        let check = async || self.checked(&request, check::check(&self.inner, &request, &call.cancelled)).await;
        let mut checked = check().await?;
        let _slot = if let Ok(slot) = self.inner.slots.try_acquire() {
            slot
        } else {
            // The bytes that were checked are the bytes that run, so what waits without them is checked again.
            drop(checked);
            let slot = self.slot(call).await.ok_or(ScriptError::Cancelled)?;
            checked = check().await?;
            slot
        };
        drop(queued);
        if call.cancelled.is_cancelled() {
            return Err(ScriptError::Cancelled);
        }
        let Checked { policy, guest, script, access, input, wanted } = checked;
        let source = script.bytes.clone();
        let job = self.job(&policy, guest, &script, access, input)?;
        let began = self.inner.record.begin(record::run_entry(&policy)).await.map_err(unrecorded)?;
        let running = self.inner.world.run(job, call.cancelled.clone());
        tokio::pin!(running);
        let mut seconds = 0.0;
        let finished = loop {
            if let Ok(finished) = tokio::time::timeout(PROGRESS_INTERVAL, &mut running).await {
                break finished;
            }
            seconds += PROGRESS_INTERVAL.as_secs_f64();
            call.progress.report(seconds, format!("running `{}` for {seconds} s", policy.script));
        };
        let entry = record::ended_entry(&policy, finished.as_ref().ok());
        self.inner.record.end(began, entry).await.map_err(unrecorded)?;
        for refusal in record::refusal_entries(&policy, finished.as_ref().ok()) {
            self.inner.record.count(refusal).await.map_err(unrecorded)?;
        }
        let finished = finished.map_err(ScriptError::Lost)?;
        if finished.files.are_unchanged() {
            return Ok(collect(policy, finished, source, &wanted));
        }
        // Files can be many megabytes, and those of a working folder are read from disk.
        let collecting = tokio::task::spawn_blocking(move || collect(policy, finished, source, &wanted));
        Ok(collecting.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())))
    }

    /// Keeps files of a run for its caller, and forgets them in time even if no other call comes. Returns the name of the run, for [`kept::uri_of`].
    pub fn keep(&self, caller: &Caller, files: Vec<OutputFile>) -> String {
        let kept = Arc::clone(&self.inner.kept);
        let run = kept.keep(caller, files);
        tokio::spawn(async move {
            let _ = tokio::time::timeout(KeptFiles::kept_for(), std::future::pending::<()>()).await;
            kept.forget_old();
        });
        run
    }

    /// Returns a file that a run of this caller left behind.
    pub fn kept_file(&self, caller: &Caller, uri: &str) -> Option<OutputFile> {
        self.inner.kept.get(caller, uri)
    }

    /// Names what runs a file, if scripts of its extension run.
    pub fn runtime_of(&self, file: &str, audience: Audience) -> Option<String> {
        self.inner.options.runtime_of(file, audience)
    }

    /// Waits briefly for cancelled scripts, so that their runs are recorded.
    pub async fn drain(&self) {
        let all = u32::try_from(self.inner.options.runs_at_once).unwrap_or(u32::MAX);
        drop(tokio::time::timeout(SHUTDOWN_GRACE, self.inner.slots.acquire_many(all)).await);
    }

    /// Counts a request as waiting, unless too many are, or what they hand over is too much to hold.
    fn queue(&self, request: &Request) -> Result<QueueEntry<'_>, ScriptError> {
        let (waiting, held, bytes) = (&self.inner.waiting, &self.inner.waiting_bytes, request.input.bytes());
        let number = waiting.fetch_add(1, Ordering::Relaxed);
        let held_before = held.fetch_add(bytes, Ordering::Relaxed);
        let entry = QueueEntry { waiting, held, bytes };
        let fits = number < MAX_WAITING && (held_before == 0 || held_before + bytes <= MAX_WAITING_BYTES);
        if fits { Ok(entry) } else { Err(ScriptError::Busy) }
    }

    /// Awaits the checks of a request. A refusal is recorded too.
    async fn checked<T>(
        &self,
        request: &Request,
        checks: impl Future<Output = Result<T, ScriptError>>,
    ) -> Result<T, ScriptError> {
        if let Record::Broken(reason) = &*self.inner.record {
            return Err(Denied::NoRecord(reason.clone()).into());
        }
        match checks.await {
            Err(ScriptError::Denied(denied)) => {
                self.inner.record.count(record::refused_entry(request, &denied)).await.map_err(unrecorded)?;
                Err(denied.into())
            }
            other => other,
        }
    }

    /// Waits for a free slot, unless the call is cancelled. First come, first served.
    async fn slot(&self, call: &Call) -> Option<tokio::sync::SemaphorePermit<'_>> {
        let acquiring = self.inner.slots.acquire();
        tokio::pin!(acquiring);
        let mut count = 0.0;
        loop {
            let waiting = self.inner.waiting.load(Ordering::Relaxed);
            call.progress.report(count, format!("waiting for a free slot; {waiting} in the queue"));
            count += 0.001;
            tokio::select! {
                () = call.cancelled.cancelled() => break None,
                slot = tokio::time::timeout(PROGRESS_INTERVAL, &mut acquiring) => if let Ok(slot) = slot { break slot.ok() },
            }
        }
    }

    fn job(
        &self,
        policy: &Policy,
        guest: Guest,
        script: &check::Script,
        access: policy::GrantedAccess,
        input: Input,
    ) -> Result<Job, Denied> {
        let denials = Denials::default();
        let mut files = Files::new(denials.clone());
        let quota = Quota::new(policy.limits.scratch_bytes, policy.limits.scratch_files);
        let skill = || {
            let quota = Arc::clone(&quota);
            match (&access.frozen, &script.folder) {
                (Some(frozen), _) => Overlay::new(Memory::frozen(frozen.clone()), quota),
                (None, ResourceFolder::OnDisk(folder)) => {
                    let folder = Disk::skill(Arc::clone(folder)).with_checked(&script.file, script.bytes.clone());
                    Overlay::new(folder, quota)
                }
                (None, ResourceFolder::Frozen(folder)) => Overlay::new(Frozen(folder.clone()), quota),
            }
        };
        files.mount("skill", skill());
        let mut scratch = Memory::scratch(Arc::clone(&quota));
        if access.work.is_empty() {
            let mut work = skill();
            add_files(&input.files, |path, bytes| work.add_file(path, bytes))?;
            files.mount("work", work);
        } else {
            add_files(&input.files, |path, bytes| scratch.add_file(&format!("files/{path}"), bytes))?;
        }
        files.mount("tmp", scratch);
        for part in access.work {
            let at = if part.at.is_empty() { "work".to_owned() } else { format!("work/{}", part.at) };
            files.mount(&at, Disk::writable(part.folder, part.writable, access.protected.clone()));
        }
        let is_cpython = matches!(policy.runner, Runner::Bundled(language) if language.is_cpython());
        if is_cpython {
            mount_python(&mut files);
        }
        if let Some(archive) = &access.packages {
            let both = [(ARCHIVE_NAME, &archive.bytes), (DIRECTORY_NAME, &archive.directory)];
            files.mount(ARCHIVE_FOLDER, Memory::frozen(both.map(|(name, bytes)| (name.to_owned(), bytes.clone()))));
        }
        let file = format!("/skill/{}", script.file);
        let mut variables = access.variables;
        let fixed = [
            ("SKILL_DIR", "/skill"),
            ("SKILL_PATH", &*policy.skill_path),
            ("PWD", "/work"),
            ("HOME", "/tmp"),
            ("TMPDIR", "/tmp"),
        ];
        variables.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let mut argv = vec![file.clone()];
        argv.extend(input.argv);
        if is_cpython {
            argv = python_argv(&argv, Some(&script.bytes));
        }
        let capabilities = Capabilities {
            files,
            argv,
            variables,
            stdin: input.stdin,
            stdout: Output::new(policy.limits.output),
            stderr: Output::new(policy.limits.output),
            clock_rng: ClockRng::new(self.inner.options.deterministic),
            gate: Gate::new(&policy.hosts, denials.clone()),
            denials,
            nesting: Nesting { depth: 0, runtimes: self.inner.options.bundled_runtimes() },
        };
        Ok(Job { guest, file, capabilities, limits: policy.limits, quota })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn unrecorded(error: AuditError) -> ScriptError {
    ScriptError::Unrecorded(LocalReason(error.to_string()))
}

/// Adds the files of a call to a folder of the sandbox.
fn add_files(files: &[InputFile], mut add: impl FnMut(&str, Bytes) -> Result<(), FileError>) -> Result<(), Denied> {
    for (index, InputFile { path, bytes }) in files.iter().enumerate() {
        let path = path.clone();
        add(&path, bytes.clone()).map_err(|_| Denied::Input(InputError::OfSkill { index, path }))?;
    }
    Ok(())
}

/// Collects and saves the files of a finished run.
fn collect(policy: Policy, mut finished: Finished, source: Bytes, wanted: &Wanted) -> CompletedRun {
    let outputs = Outputs::collect(&mut finished.files, wanted.outputs.as_deref());
    let saved = wanted.save_to.as_deref().map(|folder| outputs.save(&mut finished.files, folder));
    CompletedRun { policy, finished, outputs, saved, source }
}

/// Leaves the queue when it is dropped.
struct QueueEntry<'queue> {
    waiting: &'queue AtomicUsize,
    held: &'queue AtomicUsize,
    bytes: usize,
}

impl Drop for QueueEntry<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
