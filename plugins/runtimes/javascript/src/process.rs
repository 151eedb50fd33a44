//! The common parts of `process`. The rest is in `node/internal/process.js`.

use boa_engine::object::ObjectInitializer;
use boa_engine::object::builtins::JsArray;
use boa_engine::property::Attribute;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, NativeFunction, js_string};

use crate::console::Stream;
use crate::event_loop::Callback;
use crate::host::Host;
use crate::{console, lazy, native};

const VERSION: &str = "22.0.0";

/// Implemented in JavaScript.
const REST: [&str; 35] = [
    "addListener",
    "off",
    "on",
    "once",
    "emit",
    "eventNames",
    "listenerCount",
    "listeners",
    "prependListener",
    "prependOnceListener",
    "rawListeners",
    "removeAllListeners",
    "removeListener",
    "setMaxListeners",
    "getMaxListeners",
    "abort",
    "allowedNodeEnvironmentFlags",
    "config",
    "cpuUsage",
    "emitWarning",
    "features",
    "getBuiltinModule",
    "getegid",
    "geteuid",
    "getgid",
    "getuid",
    "hrtime",
    "kill",
    "memoryUsage",
    "reallyExit",
    "release",
    "resourceUsage",
    "umask",
    "uptime",
    "versions",
];

pub fn knows(name: &str) -> bool {
    REST.contains(&name)
}

pub fn object(context: &mut Context) -> JsObject {
    let host = Host::of(context);
    let environment = JsObject::with_object_proto(context.intrinsics());
    for (name, value) in std::env::vars() {
        environment
            .create_data_property_or_throw(js_string!(name), js_string!(value), context)
            .expect("a fresh object");
    }
    // The first argument is the script, which the host names by its absolute path.
    let given = std::env::args().skip(1).map(|argument| js_string!(argument));
    let arguments = [js_string!("node"), js_string!(host.main.as_str())].into_iter().chain(given);
    let arguments = JsArray::from_iter(arguments.map(JsValue::from), context);
    let flags = JsArray::from_iter([], context);
    let streams = [
        stream::<{ lazy::STDIN }>(0, None, context),
        stream::<{ lazy::STDOUT }>(1, Some(write_output), context),
        stream::<{ lazy::STDERR }>(2, Some(write_errors), context),
    ];
    let [stdin, stdout, stderr] = streams;
    let all = Attribute::all();
    let process = ObjectInitializer::new(context)
        .property(js_string!("title"), js_string!("node"), all)
        .property(js_string!("version"), js_string!(format!("v{VERSION}")), all)
        .property(js_string!("arch"), js_string!("wasm32"), all)
        .property(js_string!("platform"), js_string!("linux"), all)
        .property(js_string!("argv"), arguments, all)
        .property(js_string!("argv0"), js_string!("node"), all)
        .property(js_string!("execArgv"), flags, all)
        .property(js_string!("execPath"), js_string!("/usr/bin/node"), all)
        .property(js_string!("env"), environment, all)
        .property(js_string!("pid"), 1, all)
        .property(js_string!("ppid"), 0, all)
        .property(js_string!("exitCode"), JsValue::undefined(), all)
        .property(js_string!("stdin"), stdin, all)
        .property(js_string!("stdout"), stdout, all)
        .property(js_string!("stderr"), stderr, all)
        .function(NativeFunction::from_fn_ptr(native::process::folder), js_string!("cwd"), 0)
        .function(NativeFunction::from_fn_ptr(native::process::enter), js_string!("chdir"), 1)
        .function(NativeFunction::from_fn_ptr(exit), js_string!("exit"), 1)
        .function(NativeFunction::from_fn_ptr(next_tick), js_string!("nextTick"), 1)
        .build();
    lazy::complete::<{ lazy::PROCESS }>(&process, context);
    *host.builtins.process.borrow_mut() = Some(process.clone());
    process
}

fn stream<const REST: usize>(
    number: i32,
    write: Option<boa_engine::native_function::NativeFunctionPointer>,
    context: &mut Context,
) -> JsObject {
    let mut stream = ObjectInitializer::new(context);
    stream.property(js_string!("fd"), number, Attribute::all()).property(js_string!("isTTY"), false, Attribute::all());
    if let Some(write) = write {
        stream.function(NativeFunction::from_fn_ptr(write), js_string!("write"), 1);
    }
    let stream = stream.build();
    lazy::complete::<REST>(&stream, context);
    stream
}

fn write_output(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    write(Stream::Output, this, arguments, context)
}

fn write_errors(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    write(Stream::Errors, this, arguments, context)
}

/// Writes plain text; the full stream handles encodings and callbacks.
fn write(stream: Stream, this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if let ([text], Some(_)) = (arguments, arguments.get_or_undefined(0).as_string()) {
        console::write(stream, text.to_string(context)?.to_std_string_lossy().as_bytes());
        return Ok(true.into());
    }
    let whole = this.to_object(context)?.get(js_string!("writeAny"), context)?;
    match whole.as_callable() {
        Some(whole) => whole.call(this, arguments, context),
        None => Ok(false.into()),
    }
}

fn exit(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let host = Host::of(context);
    let code = arguments.get_or_undefined(0);
    let process = host.builtins.process.borrow().clone();
    if let Some(process) = process.filter(|_| !code.is_undefined()) {
        process.set(js_string!("exitCode"), code.clone(), false, context)?;
    }
    let code = final_code(0, context)?;
    Err(host.exit(code))
}

/// Returns the final exit code, which listeners of `exit` may change.
pub fn final_code(code: u8, context: &mut Context) -> JsResult<u8> {
    let host = Host::of(context);
    let Some(process) = host.builtins.process.borrow().clone() else { return Ok(code) };
    let listener = host.builtins.on_exit.borrow_mut().take();
    if let Some(listener) = listener {
        return listener.call(&JsValue::undefined(), &[code.into()], context)?.to_uint8(context);
    }
    let wanted = process.get(js_string!("exitCode"), context)?;
    if code == 0 && !wanted.is_null_or_undefined() { wanted.to_uint8(context) } else { Ok(code) }
}

fn next_tick(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let callback = Callback::from_arguments(arguments, 0)?;
    Host::of(context).events.push_tick(callback);
    Ok(JsValue::undefined())
}
