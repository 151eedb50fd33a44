//! Runs the scripts of skills: which one may run, what it is granted, and the audit entries of the run.
//!
//! Owns the checks before a run ([`check`]), the grants of the operator ([`grants`]), the policy that results from the
//! grants and what the script asks for ([`policy`]), the queue, and the entries for the audit record ([`record`]). Must not know how a guest is
//! compiled or called (that is `guests`), what it can touch once it runs (`sandbox`), the configuration file or MCP.
//!
//! Start reading with [`Scripts::run`], the path of one run: a [`Request`] becomes a [`Policy`] in `check`, and `Scripts::job`
//! turns that into the `Capabilities` (files, arguments, variables, gate) that the guest sees. Then [`Denied`], all reasons why a script does not run, and
//! [`grants::settle`], the only place that turns a request into a grant.

mod check;
mod denied;
pub mod grants;
pub mod options;
mod digest;
mod policy;
mod record;
mod refusal;

pub use check::Request;
pub use denied::Denied;
pub use digest::digest_of;
pub use options::{Options, Runner};
pub use policy::Policy;
pub use record::limits;

use audit::{AuditError, Record};
use base::place::{Audience, LocalReason};
use call::Call;
use catalog::{AskError, Catalog};
use check::Checked;
use grants::Grants;
use guests::run::Lost;
use guests::script::{Finished, Guest, Job, ScriptWorld, mount_stdlib};
use library::resources::ResourceFolder;
use library::roots::SkillRoot;
use sandbox::clock_rng::ClockRng;
use sandbox::denials::Denials;
use sandbox::files::Files;
use sandbox::files::disk::Disk;
use sandbox::files::frozen::Frozen;
use sandbox::files::memory::{Memory, Quota};
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
        let Checked { policy, guest, script, access } = self.check(request, call).await?;
        let _slot = self.slot(call).await;
        let began = self.inner.record.begin(record::run_entry(&policy)).await.map_err(unrecorded)?;
        let running = self.inner.world.run(self.job(&policy, guest, script, access), call.cancelled.clone());
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
        Ok(CompletedRun { policy, finished: finished.map_err(ScriptError::Lost)? })
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

    fn job(&self, policy: &Policy, guest: Guest, script: check::Script, access: policy::GrantedAccess) -> Job {
        let denials = Denials::default();
        let mut files = Files::new(denials.clone());
        match (access.frozen, script.folder) {
            (Some(frozen), _) => files.mount("skill", Memory::frozen(frozen)),
            (None, ResourceFolder::OnDisk(folder)) => {
                files.mount("skill", Disk::skill(folder).with_checked(&script.file, script.bytes));
            }
            (None, ResourceFolder::Frozen(folder)) => files.mount("skill", Frozen(folder)),
        }
        let quota = Quota::new(policy.limits.scratch_bytes, policy.limits.scratch_files);
        files.mount("tmp", Memory::scratch(Arc::clone(&quota)));
        let has_work = !access.work.is_empty();
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
        variables.extend([
            ("SKILL_DIR".to_owned(), "/skill".to_owned()),
            ("SKILL_PATH".to_owned(), policy.skill_path.clone()),
            ("PWD".to_owned(), if has_work { "/work" } else { "/skill" }.to_owned()),
            ("HOME".to_owned(), "/tmp".to_owned()),
            ("TMPDIR".to_owned(), "/tmp".to_owned()),
        ]);
        let interpreter = is_cpython.then(|| "python3".to_owned());
        let capabilities = Capabilities {
            files,
            arguments: interpreter.into_iter().chain([file.clone()]).collect(),
            variables,
            stdout: Output::new(policy.limits.output),
            stderr: Output::new(policy.limits.output),
            clock_rng: ClockRng::new(self.inner.options.deterministic),
            gate: Gate::new(&policy.hosts, denials.clone()),
            denials,
        };
        Job { guest, file, capabilities, limits: policy.limits, quota }
    }
}

fn unrecorded(error: AuditError) -> ScriptError {
    ScriptError::Unrecorded(LocalReason(error.to_string()))
}

/// Leaves the queue when it is dropped.
struct QueueEntry<'queue>(&'queue AtomicUsize);

impl Drop for QueueEntry<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
