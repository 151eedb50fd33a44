//! Pending requests of `fetch`.

#[cfg_attr(target_family = "wasm", path = "http/outgoing.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "http/absent.rs")]
mod outgoing;

use std::cell::{Cell, RefCell};
use std::time::Duration;

use boa_engine::object::builtins::{JsArray, JsFunction};
use boa_engine::{Context, JsArgs, JsError, JsNativeError, JsResult, JsValue, js_string};

use crate::host::Host;
use crate::native::{byte_array, bytes, text};
use outgoing::Exchange;

pub const FUNCTIONS: &[(&str, boa_engine::native_function::NativeFunctionPointer)] =
    &[("send", send), ("cancel", cancel)];

#[derive(Default)]
pub struct Requests {
    pending: RefCell<Vec<Pending>>,
    next_id: Cell<u32>,
}

struct Pending {
    id: u32,
    exchange: Exchange,
    host: String,
    resolve: JsFunction,
    reject: JsFunction,
}

#[cfg_attr(not(target_family = "wasm"), expect(dead_code, reason = "only the sandbox has a network"))]
struct Request {
    method: String,
    secure: bool,
    authority: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Why a request failed.
#[cfg_attr(not(target_family = "wasm"), expect(dead_code, reason = "only the sandbox has a network"))]
enum Failure {
    /// The host is not granted to the script.
    Denied,
    /// The connection or the server failed.
    Broken { code: &'static str, detail: String },
}

impl Requests {
    pub fn is_empty(&self) -> bool {
        self.pending.borrow().is_empty()
    }

    /// Waits for the first response, up to a limit, and delivers what arrived.
    pub fn wait(&self, limit: Option<Duration>, context: &mut Context) -> JsResult<()> {
        let ready = {
            let pending = self.pending.borrow();
            let exchanges: Vec<_> = pending.iter().map(|pending| &pending.exchange).collect();
            let ready = outgoing::wait(&exchanges, limit);
            ready.into_iter().map(|index| pending[index].id).collect::<Vec<_>>()
        };
        for id in ready {
            let Some(pending) = self.take(id) else { continue };
            let (function, value) = match pending.exchange.finish() {
                Ok(answer) => (pending.resolve, describe(answer, context)?),
                Err(failure) => (pending.reject, failed(&failure, &pending.host, context)),
            };
            function.call(&JsValue::undefined(), &[value], context)?;
        }
        Ok(())
    }

    fn take(&self, id: u32) -> Option<Pending> {
        let mut pending = self.pending.borrow_mut();
        let index = pending.iter().position(|pending| pending.id == id)?;
        Some(pending.remove(index))
    }
}

/// `send(method, secure, authority, path, headers, body, resolve, reject)` returns a number for `cancel`.
fn send(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut headers = Vec::new();
    let list = JsArray::from_object(arguments.get_or_undefined(4).to_object(context)?)?;
    for index in (0..list.length(context)?).step_by(2) {
        let mut item = |index| list.get(index, context)?.to_string(context).map(|text| text.to_std_string_lossy());
        headers.push((item(index)?, item(index + 1)?));
    }
    let request = Request {
        method: text(arguments, 0, context)?,
        secure: arguments.get_or_undefined(1).to_boolean(),
        authority: text(arguments, 2, context)?,
        path: text(arguments, 3, context)?,
        headers,
        body: bytes(arguments, 5, context)?,
    };
    let callback = |index: usize| {
        arguments
            .get_or_undefined(index)
            .as_function()
            .ok_or_else(|| JsNativeError::typ().with_message("not a function"))
    };
    let (resolve, reject) = (callback(6)?, callback(7)?);
    let host = request.authority.clone();
    let exchange =
        outgoing::send(&request).map_err(|failure| JsError::from_opaque(failed(&failure, &host, context)))?;
    let events = Host::of(context).events.clone();
    let id = events.requests.next_id.get();
    events.requests.next_id.set(id + 1);
    events.requests.pending.borrow_mut().push(Pending { id, exchange, host, resolve, reject });
    Ok(id.into())
}

fn cancel(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = arguments.get_or_undefined(0).to_u32(context)?;
    Host::of(context).events.requests.take(id);
    Ok(JsValue::undefined())
}

/// Returns the status, alternating names and values of headers, and the body.
fn describe(answer: Answer, context: &mut Context) -> JsResult<JsValue> {
    let headers = answer.headers.into_iter().flat_map(|(name, value)| [name, value]);
    let headers = JsArray::from_iter(headers.map(|text| JsValue::from(js_string!(text))), context);
    let body = byte_array(&answer.body, context)?;
    Ok(JsArray::from_iter([answer.status.into(), headers.into(), body], context).into())
}

fn failed(failure: &Failure, host: &str, context: &mut Context) -> JsValue {
    let (code, message) = match failure {
        Failure::Denied => (
            "HTTP-request-denied",
            format!("fetch failed: the host `{host}` is not granted to this skill (HTTP-request-denied)"),
        ),
        Failure::Broken { code, detail } => (*code, format!("fetch failed: `{host}`: {detail}")),
    };
    let error = JsNativeError::typ().with_message(message).into_opaque(context);
    // A new error object accepts any property.
    _ = error.create_data_property(js_string!("code"), js_string!(code), context);
    error.into()
}
