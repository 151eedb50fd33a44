//! The event loop: ticks, promise jobs, timers, immediates and requests, in Node's order.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use boa_engine::builtins::promise::{OperationType, Promise};
use boa_engine::context::HostHooks;
use boa_engine::job::{Job, JobExecutor, NativeAsyncJob, PromiseJob};
use boa_engine::object::builtins::{JsFunction, JsPromise};
use boa_engine::{Context, JsArgs, JsError, JsNativeError, JsObject, JsResult, JsValue};

use crate::host::Host;
use crate::http::Requests;

#[derive(Default)]
pub struct EventLoop {
    promise_jobs: RefCell<VecDeque<PromiseJob>>,
    async_jobs: RefCell<VecDeque<NativeAsyncJob>>,
    ticks: RefCell<VecDeque<Callback>>,
    immediates: RefCell<VecDeque<(u32, Callback)>>,
    timers: RefCell<BTreeMap<(Instant, u32), Timer>>,
    next_id: Cell<u32>,
    rejections: RefCell<Vec<JsObject<Promise>>>,
    pub requests: Requests,
    /// Set when the script exits. The engine may swallow the error inside a promise job.
    pub exit: Cell<Option<u8>>,
}

/// What ends a script unless a listener handles it.
pub enum Fault {
    Thrown(JsError),
    Rejected(JsPromise),
}

impl From<JsError> for Fault {
    fn from(error: JsError) -> Self {
        Self::Thrown(error)
    }
}

#[derive(Clone)]
pub struct Callback {
    pub function: JsFunction,
    pub arguments: Vec<JsValue>,
}

#[derive(Clone)]
struct Timer {
    callback: Callback,
    repeat: Option<Duration>,
    /// Whether it keeps the script alive; `unref` clears this.
    awaited: bool,
}

impl EventLoop {
    /// Runs until no callback is pending, or an error is not handled.
    pub fn run(&self, context: &mut Context) -> Result<(), Fault> {
        loop {
            self.settle(context)?;
            if self.exit.get().is_some() {
                return Ok(());
            }
            if let Some(promise) = self.unhandled_rejection() {
                return Err(Fault::Rejected(promise));
            }
            if let Some(callback) = self.due_timer() {
                callback.call(context)?;
            } else if let Some((_, callback)) = self.pop_immediate() {
                callback.call(context)?;
            } else if !self.wait(context)? {
                return Ok(());
            }
        }
    }

    /// Runs ticks and promise jobs until there are none.
    pub fn settle(&self, context: &mut Context) -> JsResult<()> {
        while self.exit.get().is_none() {
            let tick = self.ticks.borrow_mut().pop_front();
            if let Some(tick) = tick {
                tick.call(context)?;
            } else if !self.run_promise_jobs(context)? && !self.run_async_job(context)? {
                context.clear_kept_objects();
                break;
            }
        }
        Ok(())
    }

    fn unhandled_rejection(&self) -> Option<JsPromise> {
        let mut rejections = self.rejections.borrow_mut();
        (!rejections.is_empty())
            .then(|| rejections.remove(0).upcast())
            .and_then(|object| JsPromise::from_object(object).ok())
    }

    pub fn push_tick(&self, callback: Callback) {
        self.ticks.borrow_mut().push_back(callback);
    }

    pub fn push_immediate(&self, callback: Callback) -> u32 {
        let id = self.new_id();
        self.immediates.borrow_mut().push_back((id, callback));
        id
    }

    pub fn push_timer(&self, callback: Callback, delay: Duration, repeats: bool) -> u32 {
        let id = self.new_id();
        let timer = Timer { callback, repeat: repeats.then_some(delay), awaited: true };
        self.timers.borrow_mut().insert((Instant::now() + delay, id), timer);
        id
    }

    pub fn cancel(&self, id: u32) {
        self.immediates.borrow_mut().retain(|(other, _)| *other != id);
        self.timers.borrow_mut().retain(|(_, other), _| *other != id);
    }

    pub fn set_awaited(&self, id: u32, awaited: bool) {
        let mut timers = self.timers.borrow_mut();
        timers.iter_mut().filter(|((_, other), _)| *other == id).for_each(|(_, timer)| timer.awaited = awaited);
    }

    fn new_id(&self) -> u32 {
        self.next_id.set(self.next_id.get() + 1);
        self.next_id.get()
    }

    /// Stops at the next tick: Node finishes promise jobs before it checks ticks again.
    fn run_promise_jobs(&self, context: &mut Context) -> JsResult<bool> {
        let mut ran = false;
        while self.exit.get().is_none() {
            let job = self.promise_jobs.borrow_mut().pop_front();
            let Some(job) = job else { break };
            job.call(context)?;
            ran = true;
        }
        Ok(ran)
    }

    fn run_async_job(&self, context: &mut Context) -> JsResult<bool> {
        let job = self.async_jobs.borrow_mut().pop_front();
        let Some(job) = job else { return Ok(false) };
        let shared = RefCell::new(context);
        let future = pin!(job.call(&shared));
        // Only modules are loaded this way, and reading a file completes immediately.
        if let Poll::Ready(result) = future.poll(&mut std::task::Context::from_waker(Waker::noop())) {
            result?;
        }
        Ok(true)
    }

    fn due_timer(&self) -> Option<Callback> {
        let mut timers = self.timers.borrow_mut();
        let (&(due, id), timer) = timers.first_key_value()?;
        let now = Instant::now();
        if due > now {
            return None;
        }
        let timer = timer.clone();
        timers.remove(&(due, id));
        let callback = timer.callback.clone();
        if let Some(period) = timer.repeat {
            timers.insert((now + period, id), timer);
        }
        Some(callback)
    }

    fn pop_immediate(&self) -> Option<(u32, Callback)> {
        self.immediates.borrow_mut().pop_front()
    }

    /// Sleeps until something is due. Returns false if nothing is pending.
    fn wait(&self, context: &mut Context) -> JsResult<bool> {
        let (next, awaited) = {
            let timers = self.timers.borrow();
            (timers.keys().next().map(|(due, _)| *due), timers.values().any(|timer| timer.awaited))
        };
        let remaining = next.map(|due| due.saturating_duration_since(Instant::now()));
        if !self.requests.is_empty() {
            self.requests.wait(remaining, context)?;
            return Ok(true);
        }
        match remaining {
            Some(remaining) if awaited => {
                sleep(remaining);
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "`setTimeout` is a wait for time")]
fn sleep(time: Duration) {
    std::thread::sleep(time);
}

impl Callback {
    /// Reads a function and its arguments.
    pub fn from_arguments(arguments: &[JsValue], index: usize) -> JsResult<Self> {
        let function = arguments
            .get_or_undefined(index)
            .as_function()
            .ok_or_else(|| JsNativeError::typ().with_message("The \"callback\" argument must be of type function"))?;
        Ok(Self { function, arguments: arguments.get(index + 1..).unwrap_or_default().to_vec() })
    }

    fn call(self, context: &mut Context) -> JsResult<()> {
        self.function.call(&JsValue::undefined(), &self.arguments, context).map(drop)
    }
}

impl JobExecutor for EventLoop {
    fn enqueue_job(self: Rc<Self>, job: Job, _: &mut Context) {
        match job {
            Job::PromiseJob(job) => self.promise_jobs.borrow_mut().push_back(job),
            Job::AsyncJob(job) => self.async_jobs.borrow_mut().push_back(job),
            // Timers are handled here, and finalizers do not run at the end of a script.
            _ => {}
        }
    }

    fn run_jobs(self: Rc<Self>, context: &mut Context) -> JsResult<()> {
        self.settle(context)
    }
}

/// Stores rejections until they are handled.
pub struct RejectionTracker;

impl HostHooks for RejectionTracker {
    fn promise_rejection_tracker(&self, promise: &JsObject<Promise>, operation: OperationType, context: &mut Context) {
        let host = Host::of(context);
        let mut rejections = host.events.rejections.borrow_mut();
        match operation {
            OperationType::Reject => rejections.push(promise.clone()),
            OperationType::Handle => rejections.retain(|other| !JsObject::equals(other, promise)),
        }
    }
}
