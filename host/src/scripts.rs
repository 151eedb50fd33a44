//! Running the scripts of skills: the checks, the policy, the sandbox, the record.
//!
//! A request passes the checks in [`check`], which end in a script that may run or in a reason why not. [`policy`] settles
//! what it gets. Then it waits for a slot, runs in the [`sandbox`](crate::sandbox), and is written down by [`record`].

mod check;
mod digest;
mod policy;
mod record;

pub use check::{Denied, Request};
pub use digest::digest_of;
pub use policy::{Policy, runtime_name};
pub use record::limits;

use crate::audit::{AuditError, Record};
use crate::catalog::{AskError, Catalog};
use crate::config::{Config, Runner};
use crate::library::resources::ResourceFolder;
use crate::library::roots::SkillRoot;
use crate::sandbox::denials::Denials;
use crate::sandbox::files::Files;
use crate::sandbox::files::disk::Disk;
use crate::sandbox::files::held::Held;
use crate::sandbox::files::memory::{Memory, Quota};
use crate::sandbox::gate::Gate;
use crate::sandbox::nature::Nature;
use crate::sandbox::output::Output;
use crate::sandbox::run::{self, Finished, Job, Lost};
use crate::sandbox::runtimes::{Language, Runtimes, lend_library};
use crate::sandbox::state::Lent;
use check::Checked;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// How often somebody who waits is told how it goes.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// How long the end of the server waits for scripts that were told to stop.
const LAST_MOMENT: Duration = Duration::from_millis(100);

/// Everything that running a script needs. Cloned for each request.
#[derive(Clone)]
pub struct Scripts {
    shared: Arc<Shared>,
}

struct Shared {
    catalog: Catalog,
    config: Arc<Config>,
    roots: Arc<[SkillRoot]>,
    runtimes: Arc<Runtimes>,
    record: Arc<Record>,
    slots: Semaphore,
    /// One compilation at a time: it takes all cores and much memory.
    compiling: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A script was not run, or its run was lost.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Somebody can act on it.
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error(transparent)]
    Catalog(#[from] AskError),
    #[error(transparent)]
    Lost(#[from] Lost),
    #[error(transparent)]
    Audit(#[from] AuditError),
}

/// A run that ended, with what it was allowed.
pub struct Ran {
    pub policy: Policy,
    pub finished: Finished,
}

/// Told while somebody waits: a number that grows, and a sentence.
pub type Progress = Arc<dyn Fn(f64, String) + Send + Sync>;

impl Scripts {
    pub fn new(
        catalog: Catalog,
        config: Arc<Config>,
        roots: Arc<[SkillRoot]>,
        runtimes: Arc<Runtimes>,
        record: Arc<Record>,
    ) -> Self {
        let slots = Semaphore::new(config.scripts.runs_at_once);
        let waiting = AtomicUsize::new(0);
        Self {
            shared: Arc::new(Shared {
                catalog,
                config,
                roots,
                runtimes,
                record,
                slots,
                compiling: Arc::new(Semaphore::new(1)),
                waiting,
            }),
        }
    }

    /// What a script would get, without running it.
    pub async fn dry_run(&self, request: Request) -> Result<Policy, ScriptError> {
        let checked = self.checked(request, &CancellationToken::new()).await?;
        Ok(checked.policy)
    }

    /// Runs a script and writes that down.
    pub async fn run(
        &self,
        request: Request,
        cancelled: CancellationToken,
        progress: Progress,
    ) -> Result<Ran, ScriptError> {
        let checked = self.checked(request, &cancelled).await?;
        let _slot = self.slot(&cancelled, &progress).await;
        let Checked { policy, guest, script, lent } = checked;
        let job = self.job(&policy, guest, script, lent);
        let running = run::run(job, cancelled);
        tokio::pin!(running);
        let mut seconds = 0.0;
        let finished = loop {
            if let Ok(finished) = tokio::time::timeout(TELL_EVERY, &mut running).await {
                break finished;
            }
            seconds += TELL_EVERY.as_secs_f64();
            progress(seconds, format!("running `{}` for {seconds} s", policy.script));
        };
        self.write_down(record::ran(&policy, finished.as_ref().ok())).await?;
        for refusal in record::refusals(&policy, finished.as_ref().ok()) {
            self.write_down(refusal).await?;
        }
        Ok(Ran { policy, finished: finished? })
    }

    /// Waits a moment for scripts that are being stopped, so that their ends are written down.
    pub async fn ended(&self) {
        let all = u32::try_from(self.shared.config.scripts.runs_at_once).unwrap_or(u32::MAX);
        drop(tokio::time::timeout(LAST_MOMENT, self.shared.slots.acquire_many(all)).await);
    }

    /// Checks a request. That one was refused is written down too.
    async fn checked(&self, request: Request, cancelled: &CancellationToken) -> Result<Checked, ScriptError> {
        if let Record::Broken(reason) = &*self.shared.record {
            return Err(Denied::NoRecord(reason.clone()).into());
        }
        let noted = record::Noted::of(&request);
        match check::check(&self.shared, request, cancelled).await {
            Err(ScriptError::Denied(denied)) => {
                self.write_down(noted.refused(&denied)).await?;
                Err(denied.into())
            }
            other => other,
        }
    }

    /// Waits until fewer scripts run than may at once. First come, first served.
    async fn slot(
        &self,
        cancelled: &CancellationToken,
        progress: &Progress,
    ) -> Option<tokio::sync::SemaphorePermit<'_>> {
        let shared = &self.shared;
        if let Ok(slot) = shared.slots.try_acquire() {
            return Some(slot);
        }
        let _waiting = Waiting::begin(&shared.waiting);
        let acquiring = shared.slots.acquire();
        tokio::pin!(acquiring);
        let mut told = 0.0;
        loop {
            progress(told, format!("waiting for a free slot; {} in the queue", shared.waiting.load(Ordering::Relaxed)));
            told += 0.001;
            tokio::select! {
                () = cancelled.cancelled() => break None,
                slot = tokio::time::timeout(TELL_EVERY, &mut acquiring) => if let Ok(slot) = slot { break slot.ok() },
            }
        }
    }

    fn job(&self, policy: &Policy, guest: check::Ready, script: check::Script, lent: policy::Lendable) -> Job {
        let denials = Denials::default();
        let mut files = Files::new(denials.clone());
        match (lent.frozen, script.folder) {
            (Some(frozen), _) => files.mount("skill", Memory::frozen(frozen)),
            (None, ResourceFolder::OnDisk(folder)) => {
                files.mount("skill", Disk::skill(folder).with_checked(&script.file, script.bytes));
            }
            (None, ResourceFolder::Held(folder)) => files.mount("skill", Held::skill(folder)),
        }
        let quota = Quota::new(policy.limits.scratch_bytes, policy.limits.scratch_files);
        files.mount("tmp", Memory::scratch(Arc::clone(&quota)));
        let has_work = lent.work.is_some();
        for part in lent.work.into_iter().flat_map(|work| work.parts) {
            let at = if part.at.is_empty() { "work".to_owned() } else { format!("work/{}", part.at) };
            files.mount(&at, Disk::writable(part.folder, part.writable));
        }
        if guest.runner == Runner::Bundled(Language::Python) {
            lend_library(&mut files);
        }
        let file = format!("/skill/{}", script.file);
        let mut variables = lent.variables;
        variables.extend([
            ("SKILL_DIR".to_owned(), "/skill".to_owned()),
            ("SKILL_PATH".to_owned(), policy.skill_path.clone()),
            ("PWD".to_owned(), if has_work { "/work" } else { "/skill" }.to_owned()),
            ("HOME".to_owned(), "/tmp".to_owned()),
            ("TMPDIR".to_owned(), "/tmp".to_owned()),
        ]);
        let interpreter =
            if guest.runner == Runner::Bundled(Language::Python) { Some("python3".to_owned()) } else { None };
        let lent = Lent {
            files,
            arguments: interpreter.into_iter().chain([file.clone()]).collect(),
            variables,
            stdout: Output::new(policy.limits.output),
            stderr: Output::new(policy.limits.output),
            nature: Nature::new(self.shared.config.scripts.deterministic),
            gate: Gate::new(&policy.hosts, denials.clone()),
            denials,
        };
        Job { guest: guest.guest, file, lent, limits: policy.limits, quota, ticker: self.shared.runtimes.ticker() }
    }

    async fn write_down(&self, entry: serde_json::Map<String, serde_json::Value>) -> Result<(), ScriptError> {
        Ok(self.shared.record.write(entry).await?)
    }
}

/// One who waits for a slot, for as long as it waits.
struct Waiting<'count>(&'count AtomicUsize);

impl<'count> Waiting<'count> {
    fn begin(count: &'count AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
