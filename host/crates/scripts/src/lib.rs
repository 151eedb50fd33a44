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

use audit::{AuditError, Record};
use base::place::{Audience, LocalReason};
use bytes::Bytes;
use call::{Call, Caller};
use catalog::{AskError, Catalog};
use check::{Checked, Wanted};
use grants::Grants;
use guests::run::Lost;
use guests::script::{Finished, Guest, Job, ScriptWorld, mount_stdlib};
use input::{Input, InputError, InputFile};
use kept::KeptFiles;
use library::resources::ResourceFolder;
use library::roots::SkillRoot;
use outputs::{OutputFile, Outputs};
use sandbox::clock_rng::ClockRng;
use sandbox::denials::Denials;
use sandbox::files::{FileError, Files};
use sandbox::files::disk::Disk;
use sandbox::files::frozen::Frozen;
use sandbox::files::memory::{Memory, Quota};
use sandbox::files::overlay::Overlay;
use sandbox::gate::Gate;
use sandbox::output::Output;
use sandbox::state::Capabilities;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// How often progress is reported.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// How long the shutdown waits for cancelled scripts.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(100);

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
    world: ScriptWorld,
    record: Arc<Record>,
    slots: Semaphore,
    /// One compilation at a time: it takes all cores and much memory.
    compiling: Arc<Semaphore>,
    waiting: AtomicUsize,
    kept: Arc<KeptFiles>,
}

/// A script did not run, or its result was lost.
#[derive(Debug)]
pub enum ScriptError {
    /// The caller, the author or the operator can act on it.
    Denied(Denied),
    Catalog(AskError),
    Lost(Lost),
    Unrecorded(LocalReason),
}

impl ScriptError {
    pub fn for_audience(&self, audience: Audience) -> String {
        match self {
            Self::Denied(denied) => denied.for_audience(audience),
            Self::Catalog(error) => error.to_string(),
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
        world: ScriptWorld,
        record: Arc<Record>,
    ) -> Self {
        let inner = Inner {
            slots: Semaphore::new(options.runs_at_once),
            compiling: Arc::new(Semaphore::new(1)),
            waiting: AtomicUsize::new(0),
            kept: Arc::default(),
            catalog,
            options,
            grants,
            roots,
            world,
            record,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the policy that a script would run under, without running it.
    pub async fn dry_run(&self, request: Request, call: &Call) -> Result<Policy, ScriptError> {
        Ok(self.check(request, call).await?.policy)
    }

    /// Runs a script. Its beginning is recorded before it runs, and then its end.
    pub async fn run(&self, request: Request, call: &Call) -> Result<CompletedRun, ScriptError> {
        let Checked { policy, guest, script, access, input, wanted } = self.check(request, call).await?;
        let _slot = self.slot(call).await;
        let source = script.bytes.clone();
        let job = self.job(&policy, guest, script, access, input)?;
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
        // Files of a working folder are read from disk.
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

    /// Checks a request. A refusal is recorded too.
    async fn check(&self, request: Request, call: &Call) -> Result<Checked, ScriptError> {
        if let Record::Broken(reason) = &*self.inner.record {
            return Err(Denied::NoRecord(reason.clone()).into());
        }
        match check::check(&self.inner, request.clone(), &call.cancelled).await {
            Err(ScriptError::Denied(denied)) => {
                self.inner.record.count(record::refused_entry(&request, &denied)).await.map_err(unrecorded)?;
                Err(denied.into())
            }
            other => other,
        }
    }

    /// Waits for a free slot. First come, first served.
    async fn slot(&self, call: &Call) -> Option<tokio::sync::SemaphorePermit<'_>> {
        let inner = &self.inner;
        if let Ok(slot) = inner.slots.try_acquire() {
            return Some(slot);
        }
        inner.waiting.fetch_add(1, Ordering::Relaxed);
        let _queued = QueueEntry(&inner.waiting);
        let acquiring = inner.slots.acquire();
        tokio::pin!(acquiring);
        let mut count = 0.0;
        loop {
            let waiting = inner.waiting.load(Ordering::Relaxed);
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
        script: check::Script,
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
            mount_stdlib(&mut files);
        }
        let file = format!("/skill/{}", script.file);
        let mut variables = access.variables;
        let fixed = [("SKILL_DIR", "/skill"), ("SKILL_PATH", &*policy.skill_path), ("PWD", "/work"), ("HOME", "/tmp"), ("TMPDIR", "/tmp")];
        variables.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let interpreter = is_cpython.then(|| "python3".to_owned());
        let capabilities = Capabilities {
            files,
            argv: interpreter.into_iter().chain([file.clone()]).chain(input.argv).collect(),
            variables,
            stdin: input.stdin,
            stdout: Output::new(policy.limits.output),
            stderr: Output::new(policy.limits.output),
            clock_rng: ClockRng::new(self.inner.options.deterministic),
            gate: Gate::new(&policy.hosts, denials.clone()),
            denials,
        };
        Ok(Job { guest, file, capabilities, limits: policy.limits, quota })
    }
}

fn unrecorded(error: AuditError) -> ScriptError {
    ScriptError::Unrecorded(LocalReason(error.to_string()))
}

/// Adds the files of a call to a folder of the sandbox.
fn add_files(
    files: &[InputFile],
    mut add: impl FnMut(&str, Bytes) -> Result<(), FileError>,
) -> Result<(), Denied> {
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
struct QueueEntry<'queue>(&'queue AtomicUsize);

impl Drop for QueueEntry<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
