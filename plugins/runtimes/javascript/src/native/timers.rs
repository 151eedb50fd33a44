//! Adds functions to the queues of the event loop.

use std::time::Duration;

use boa_engine::job::{Job, PromiseJob};
use boa_engine::{Context, JsArgs, JsResult, JsValue};

use super::Functions;
use crate::event_loop::Callback;
use crate::host::Host;

pub const FUNCTIONS: Functions = &[
    ("start", start),
    ("startImmediate", start_immediate),
    ("stop", stop),
    ("await", set_awaited),
    ("microtask", microtask),
];

/// `start(delay, repeats, function, ...arguments)`
fn start(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    /// Node replaces delays beyond 31 bits by one millisecond.
    const MAX_DELAY: f64 = 2_147_483_647.0;
    let delay = arguments.get_or_undefined(0).to_number(context)?;
    let delay = if (1.0..=MAX_DELAY).contains(&delay) { delay } else { 1.0 };
    let repeats = arguments.get_or_undefined(1).to_boolean();
    let callback = Callback::from_arguments(arguments, 2)?;
    Ok(Host::of(context).events.push_timer(callback, Duration::from_secs_f64(delay / 1000.0), repeats).into())
}

fn start_immediate(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(Host::of(context).events.push_immediate(Callback::from_arguments(arguments, 0)?).into())
}

fn stop(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = arguments.get_or_undefined(0).to_u32(context)?;
    Host::of(context).events.cancel(id);
    Ok(JsValue::undefined())
}

fn set_awaited(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = arguments.get_or_undefined(0).to_u32(context)?;
    Host::of(context).events.set_awaited(id, arguments.get_or_undefined(1).to_boolean());
    Ok(JsValue::undefined())
}

fn microtask(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Callback { function, .. } = Callback::from_arguments(arguments, 0)?;
    let job = PromiseJob::new(move |context| function.call(&JsValue::undefined(), &[], context));
    context.enqueue_job(Job::PromiseJob(job));
    Ok(JsValue::undefined())
}
