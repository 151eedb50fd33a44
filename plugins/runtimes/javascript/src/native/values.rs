//! Properties of values that JavaScript code cannot see.

#![expect(clippy::unnecessary_wraps, reason = "the engine calls functions of this shape")]

use boa_engine::builtins::error::Error;
use boa_engine::builtins::function::OrdinaryFunction;
use boa_engine::builtins::promise::PromiseState;
use boa_engine::object::builtins::{
    JsArray, JsArrayBuffer, JsDataView, JsDate, JsGenerator, JsMap, JsPromise, JsProxy, JsRegExp, JsSet, JsTypedArray,
    JsWeakMap, JsWeakSet,
};
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, js_string};

use super::Functions;

pub const FUNCTIONS: Functions = &[("kind", kind), ("promise", promise)];

type Test = fn(&JsObject) -> bool;

const KINDS: [(&str, Test); 15] = [
    ("Array", JsObject::is_array),
    ("Class", is_class),
    ("Function", JsObject::is_callable),
    ("Map", |object| JsMap::from_object(object.clone()).is_ok()),
    ("Set", |object| JsSet::from_object(object.clone()).is_ok()),
    ("Error", |object| object.is::<Error>()),
    ("Date", |object| JsDate::from_object(object.clone()).is_ok()),
    ("RegExp", |object| JsRegExp::from_object(object.clone()).is_ok()),
    ("Promise", |object| JsPromise::from_object(object.clone()).is_ok()),
    ("TypedArray", |object| JsTypedArray::from_object(object.clone()).is_ok()),
    ("ArrayBuffer", |object| JsArrayBuffer::from_object(object.clone()).is_ok()),
    ("DataView", |object| JsDataView::from_object(object.clone()).is_ok()),
    ("WeakMap", |object| JsWeakMap::from_object(object.clone()).is_ok()),
    ("WeakSet", |object| JsWeakSet::from_object(object.clone()).is_ok()),
    ("Generator", |object| JsGenerator::from_object(object.clone()).is_ok()),
];

/// Returns the class of an object regardless of its prototype; `Object` if it has none.
fn kind(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let Some(object) = arguments.get_or_undefined(0).as_object() else { return Ok(JsValue::undefined()) };
    if JsProxy::from_object(object.clone()).is_ok() {
        return Ok(js_string!("Proxy").into());
    }
    let found = KINDS.iter().find(|(_, is)| is(&object)).map_or("Object", |(name, _)| *name);
    Ok(js_string!(found).into())
}

/// Unlike other functions, a class has a read-only prototype.
fn is_class(object: &JsObject) -> bool {
    let prototype = || object.borrow().properties().get(&js_string!("prototype").into());
    object.is::<OrdinaryFunction>() && prototype().is_some_and(|property| property.writable() == Some(false))
}

/// Returns state and value.
fn promise(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let promise = JsPromise::from_object(arguments.get_or_undefined(0).to_object(context)?)?;
    let (state, value) = match promise.state() {
        PromiseState::Pending => ("pending", JsValue::undefined()),
        PromiseState::Fulfilled(value) => ("fulfilled", value),
        PromiseState::Rejected(reason) => ("rejected", reason),
    };
    Ok(JsArray::from_iter([js_string!(state).into(), value], context).into())
}
