//! The `process` of a script.

#![expect(clippy::unnecessary_wraps, reason = "the engine calls functions of this shape")]

use boa_engine::{Context, JsArgs, JsResult, JsValue, js_string};

use super::{Functions, bytes, text};
use crate::console::{self, Stream};
use crate::host::Host;

pub const FUNCTIONS: Functions = &[
    ("exit", exit),
    ("writeOutput", write_output),
    ("writeErrors", write_errors),
    ("nanoseconds", nanoseconds),
    ("indent", indent),
    ("listen", listen),
];

fn exit(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let code = arguments.get_or_undefined(0).to_uint8(context)?;
    Err(Host::of(context).exit(code))
}

pub fn folder(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(js_string!(Host::of(context).folder.borrow().as_str()).into())
}

pub fn enter(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let path = text(arguments, 0, context)?;
    let host = Host::of(context);
    let absolute = host.absolute(&path);
    std::fs::read_dir(&absolute).map_err(|error| super::files::failure(&error, "chdir", &path, context))?;
    *host.folder.borrow_mut() = absolute;
    Ok(JsValue::undefined())
}

fn write_output(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    console::write(Stream::Output, &bytes(arguments, 0, context)?);
    Ok(true.into())
}

fn write_errors(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    console::write(Stream::Errors, &bytes(arguments, 0, context)?);
    Ok(true.into())
}

/// Since the script started.
fn nanoseconds(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    #[expect(clippy::cast_precision_loss, reason = "exact for a hundred days")]
    let nanoseconds = Host::of(context).started.elapsed().as_nanos() as f64;
    Ok(nanoseconds.into())
}

fn indent(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let indentation = text(arguments, 0, context)?;
    *Host::of(context).indentation.borrow_mut() = indentation;
    Ok(JsValue::undefined())
}

/// Registers the callbacks for exit and for unhandled errors.
fn listen(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let host = Host::of(context);
    *host.builtins.on_exit.borrow_mut() = arguments.get_or_undefined(0).as_function();
    *host.builtins.on_fault.borrow_mut() = arguments.get_or_undefined(1).as_function();
    Ok(JsValue::undefined())
}
