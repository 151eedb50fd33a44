//! Global names, each loaded on first use.

use boa_engine::{Context, JsResult, JsValue, js_string};

use crate::{builtins, console, lazy, native};

/// The name, its module, and its name there; `*` is the module itself.
const LAZY: [(&str, &str, &str); 31] = [
    ("process", "process", "*"),
    ("Buffer", "buffer", "Buffer"),
    ("atob", "buffer", "atob"),
    ("btoa", "buffer", "btoa"),
    ("Blob", "buffer", "Blob"),
    ("URL", "url", "URL"),
    ("URLSearchParams", "url", "URLSearchParams"),
    ("TextEncoder", "internal/text", "TextEncoder"),
    ("TextDecoder", "internal/text", "TextDecoder"),
    ("structuredClone", "internal/clone", "structuredClone"),
    ("fetch", "internal/fetch", "fetch"),
    ("Headers", "internal/fetch", "Headers"),
    ("Request", "internal/fetch", "Request"),
    ("Response", "internal/fetch", "Response"),
    ("AbortController", "internal/abort", "AbortController"),
    ("AbortSignal", "internal/abort", "AbortSignal"),
    ("DOMException", "internal/abort", "DOMException"),
    ("Event", "internal/abort", "Event"),
    ("EventTarget", "internal/abort", "EventTarget"),
    ("setTimeout", "timers", "setTimeout"),
    ("setInterval", "timers", "setInterval"),
    ("setImmediate", "timers", "setImmediate"),
    ("clearTimeout", "timers", "clearTimeout"),
    ("clearInterval", "timers", "clearInterval"),
    ("clearImmediate", "timers", "clearImmediate"),
    ("queueMicrotask", "timers", "queueMicrotask"),
    ("performance", "perf_hooks", "performance"),
    ("crypto", "crypto", "webcrypto"),
    ("Intl", "internal/intl", "*"),
    ("Performance", "perf_hooks", "Performance"),
    ("FormData", "internal/fetch", "FormData"),
];

pub fn install(context: &mut Context) {
    let global = context.global_object();
    let console = console::object(context);
    for (name, value) in [("console", console.into()), ("global", global.clone().into())] {
        lazy::define(&global, name, value, context).expect("the global object is extensible");
    }
    lazy::complete::<{ lazy::GLOBAL }>(&global, context);
    native::stacks::install(context);
    native::locale::install(context);
    native::dates::install(context);
}

pub fn knows(name: &str) -> bool {
    LAZY.iter().any(|(known, ..)| *known == name)
}

pub fn load(name: &str, context: &mut Context) -> JsResult<JsValue> {
    let Some((_, module, export)) = LAZY.iter().find(|(known, ..)| *known == name) else {
        return Ok(JsValue::undefined());
    };
    let exports = builtins::require(module, context)?;
    if *export == "*" { Ok(exports) } else { exports.to_object(context)?.get(js_string!(*export), context) }
}
