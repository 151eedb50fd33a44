//! Node's modules, each loaded on first use.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use boa_engine::object::builtins::JsFunction;
use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsValue, NativeFunction, Script, Source as EngineSource, js_string,
};

use crate::host::Host;
use crate::{native, process};

#[derive(Default)]
pub struct Builtins {
    modules: RefCell<HashMap<&'static str, JsObject>>,
    /// Created natively on first use.
    pub process: RefCell<Option<JsObject>>,
    /// Set by `process`: reports the exit code to listeners and returns the final one.
    pub on_exit: RefCell<Option<JsFunction>>,
    /// Set by `process`: passes an error to listeners and returns whether there were any.
    pub on_fault: RefCell<Option<JsFunction>>,
}

macro_rules! library {
    ($($name:literal => $file:literal),* $(,)?) => {
        /// Each file is the body of a function `(exports, require, module, native)`.
        const LIBRARY: &[(&str, &str)] = &[$(($name, include_str!(concat!("node/", $file)))),*];
    };
}

library! {
    "assert" => "assert.js",
    "assert/strict" => "assert_strict.js",
    "buffer" => "buffer.js",
    "child_process" => "child_process.js",
    "console" => "console_module.js",
    "crypto" => "crypto.js",
    "events" => "events.js",
    "fs" => "fs.js",
    "fs/promises" => "fs_promises.js",
    "module" => "module.js",
    "os" => "os.js",
    "path" => "path.js",
    "path/posix" => "path_posix.js",
    "perf_hooks" => "perf_hooks.js",
    "querystring" => "querystring.js",
    "readline" => "readline.js",
    "readline/promises" => "readline_promises.js",
    "stream" => "stream.js",
    "stream/promises" => "stream_promises.js",
    "string_decoder" => "string_decoder.js",
    "timers" => "timers.js",
    "timers/promises" => "timers_promises.js",
    "tty" => "tty.js",
    "url" => "url.js",
    "util" => "util.js",
    "util/types" => "util_types.js",
    "internal/abort" => "internal/abort.js",
    "internal/clone" => "internal/clone.js",
    "internal/console" => "internal/console.js",
    "internal/fetch" => "internal/fetch.js",
    "internal/format" => "internal/format.js",
    "internal/fs_streams" => "internal/fs_streams.js",
    "internal/fs_trees" => "internal/fs_trees.js",
    "internal/inspect" => "internal/inspect.js",
    "internal/intl" => "internal/intl.js",
    "internal/process" => "internal/process.js",
    "internal/stdio" => "internal/stdio.js",
    "internal/text" => "internal/text.js",
}

const ABSENT: [&str; 25] = [
    "async_hooks",
    "cluster",
    "constants",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "http",
    "http2",
    "https",
    "inspector",
    "net",
    "punycode",
    "repl",
    "sqlite",
    "stream/web",
    "sys",
    "test",
    "tls",
    "trace_events",
    "v8",
    "vm",
    "worker_threads",
    "zlib",
];

const WRAPPER: &str = "(function (exports, require, module, native) { 'use strict'; ";

pub fn names() -> impl Iterator<Item = &'static str> {
    let written = LIBRARY.iter().map(|(name, _)| *name).filter(|name| !name.starts_with("internal/"));
    written.chain(["process"])
}

pub fn find(name: &str) -> Option<&'static str> {
    names().find(|known| *known == name)
}

pub fn is_absent(name: &str) -> bool {
    ABSENT.contains(&name)
}

/// Returns the exports of a library module.
pub fn require(name: &'static str, context: &mut Context) -> JsResult<JsValue> {
    let host = Host::of(context);
    if name == "process" {
        let known = host.builtins.process.borrow().clone();
        return Ok(known.unwrap_or_else(|| process::object(context)).into());
    }
    let module = host.builtins.modules.borrow().get(name).cloned();
    if let Some(module) = module {
        return module.get(js_string!("exports"), context);
    }
    let source = LIBRARY.iter().find(|(known, _)| *known == name).map(|(_, source)| *source);
    let source =
        source.ok_or_else(|| JsNativeError::error().with_message(format!("there is no built-in module {name}")))?;

    let text = format!("{WRAPPER}{source}\n}})");
    let path = format!("node:{name}");
    let script = Script::parse(EngineSource::from_bytes(&text).with_path(Path::new(&path)), None, context)?;
    let function = script.evaluate(context)?;
    let function = function.as_callable().expect("the wrapper is a function");
    let module = JsObject::with_object_proto(context.intrinsics());
    let exports = JsObject::with_object_proto(context.intrinsics());
    module.set(js_string!("exports"), exports.clone(), true, context)?;
    // Before it runs, because library modules may require each other.
    host.builtins.modules.borrow_mut().insert(name, module.clone());
    let realm = context.realm().clone();
    let require = NativeFunction::from_fn_ptr(require_inside).to_js_function(&realm);
    let native = NativeFunction::from_fn_ptr(native::group).to_js_function(&realm);
    let arguments = [exports.clone().into(), require.into(), module.clone().into(), native.into()];
    function.call(&exports.into(), &arguments, context)?;
    module.get(js_string!("exports"), context)
}

/// Returns one function of a library module.
pub fn function(module: &'static str, name: &'static str, context: &mut Context) -> JsResult<JsFunction> {
    let exports = require(module, context)?;
    let function = exports.to_object(context)?.get(js_string!(name), context)?;
    function
        .as_function()
        .ok_or_else(|| JsNativeError::typ().with_message(format!("{module} has no function {name}")).into())
}

fn require_inside(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = native::text(arguments, 0, context)?;
    let known = find(&name).or_else(|| LIBRARY.iter().map(|(known, _)| *known).find(|known| *known == name));
    require(known.ok_or_else(|| JsNativeError::error().with_message(format!("there is no module {name}")))?, context)
}
