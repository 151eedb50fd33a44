//! Objects whose remaining properties are loaded from the library on first use.

use boa_engine::object::builtins::JsProxy;
use boa_engine::property::{PropertyDescriptor, PropertyKey};
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, js_string};

use crate::{builtins, globals, process};

/// Where the remaining properties come from.
struct Rest {
    knows: fn(&str) -> bool,
    load: fn(&str, &mut Context) -> JsResult<JsValue>,
    /// The standard stream that also has the properties whose keys are symbols, such as that of `for await`.
    stream: Option<&'static str>,
}

pub const GLOBAL: usize = 0;
pub const PROCESS: usize = 1;
pub const STDIN: usize = 2;
pub const STDOUT: usize = 3;
pub const STDERR: usize = 4;

const RESTS: [Rest; 5] = [
    Rest { knows: globals::knows, load: globals::load, stream: None },
    Rest { knows: process::knows, load: |name, context| member("internal/process", name, context), stream: None },
    stream("stdin", |name, context| stream_member("stdin", js_string!(name), context)),
    stream("stdout", |name, context| stream_member("stdout", js_string!(name), context)),
    stream("stderr", |name, context| stream_member("stderr", js_string!(name), context)),
];

const fn stream(name: &'static str, load: fn(&str, &mut Context) -> JsResult<JsValue>) -> Rest {
    Rest { knows: |_| true, load, stream: Some(name) }
}

/// Uses a proxy as prototype: a getter would have to replace itself, which breaks boa's inline caches.
pub fn complete<const REST: usize>(object: &JsObject, context: &mut Context) {
    let target = object.prototype().unwrap_or_else(JsObject::with_null_proto);
    let prototype = JsProxy::builder(target).get(get::<REST>).has(has::<REST>).build(context);
    object.set_prototype(prototype.ok().map(JsObject::from));
}

/// `get(target, key, receiver)`
fn get<const REST: usize>(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let key = arguments.get_or_undefined(1).to_property_key(context)?;
    let name = arguments.get_or_undefined(1).as_string().map(|name| name.to_std_string_lossy());
    let Some(name) = name.filter(|name| (RESTS[REST].knows)(name)) else {
        return match RESTS[REST].stream {
            Some(stream) => stream_member(stream, key, context),
            None => arguments.get_or_undefined(0).to_object(context)?.get(key, context),
        };
    };
    let value = (RESTS[REST].load)(&name, context)?;
    if let Some(receiver) = arguments.get_or_undefined(2).as_object() {
        define(&receiver, &name, value.clone(), context)?;
    }
    Ok(value)
}

/// `has(target, key)`
fn has<const REST: usize>(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = arguments.get_or_undefined(1).as_string().map(|name| name.to_std_string_lossy());
    if REST <= PROCESS && name.is_some_and(|name| (RESTS[REST].knows)(&name)) {
        return Ok(true.into());
    }
    let key = arguments.get_or_undefined(1).to_property_key(context)?;
    Ok(arguments.get_or_undefined(0).to_object(context)?.has_property(key, context)?.into())
}

pub fn define(object: &JsObject, name: &str, value: JsValue, context: &mut Context) -> JsResult<()> {
    let property = PropertyDescriptor::builder().value(value).writable(true).enumerable(false).configurable(true);
    object.define_property_or_throw(js_string!(name), property, context).map(drop)
}

fn member(module: &'static str, name: &str, context: &mut Context) -> JsResult<JsValue> {
    builtins::require(module, context)?.to_object(context)?.get(js_string!(name), context)
}

/// Methods of streams have private state, so they are called on the stream itself.
fn stream_member(stream: &str, key: impl Into<PropertyKey>, context: &mut Context) -> JsResult<JsValue> {
    let stream = member("internal/stdio", stream, context)?;
    let value = stream.to_object(context)?.get(key, context)?;
    let Some(function) = value.as_object().filter(JsObject::is_callable) else { return Ok(value) };
    let bind = function.get(js_string!("bind"), context)?;
    match bind.as_callable() {
        Some(bind) => bind.call(&value, &[stream], context),
        None => Ok(value),
    }
}
