//! Native functions for the JavaScript in `node/`, in named groups.

pub mod files;
pub mod descriptors;
mod encodings;
mod digests;
pub mod process;
mod programs;
mod timers;
pub mod urls;
mod values;
pub mod stacks;
pub mod locale;
pub mod dates;

use boa_engine::native_function::NativeFunctionPointer;
use boa_engine::object::ObjectInitializer;
use boa_engine::object::builtins::{AlignedVec, JsArrayBuffer, JsUint8Array};
use boa_engine::{Context, JsArgs, JsNativeError, JsObject, JsResult, JsValue, NativeFunction, js_string};

type Functions = &'static [(&'static str, NativeFunctionPointer)];

/// `native(name)` in JavaScript.
pub fn group(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = text(arguments, 0, context)?;
    let functions: Functions = match name.as_str() {
        "files" => files::FUNCTIONS,
        "descriptors" => descriptors::FUNCTIONS,
        "encodings" => encodings::FUNCTIONS,
        "digests" => digests::FUNCTIONS,
        "process" => process::FUNCTIONS,
        "programs" => programs::FUNCTIONS,
        "timers" => timers::FUNCTIONS,
        "urls" => urls::FUNCTIONS,
        "values" => values::FUNCTIONS,
        "modules" => crate::commonjs::FUNCTIONS,
        "http" => crate::http::FUNCTIONS,
        _ => return Err(JsNativeError::error().with_message(format!("there is no group {name}")).into()),
    };
    Ok(object(functions, context).into())
}

fn object(functions: Functions, context: &mut Context) -> JsObject {
    let mut object = ObjectInitializer::new(context);
    for (name, function) in functions {
        object.function(NativeFunction::from_fn_ptr(*function), js_string!(*name), 0);
    }
    object.build()
}

pub fn text(arguments: &[JsValue], index: usize, context: &mut Context) -> JsResult<String> {
    Ok(arguments.get_or_undefined(index).to_string(context)?.to_std_string_lossy())
}

/// Returns the bytes of a `Uint8Array`, or of a text in UTF-8.
pub fn bytes(arguments: &[JsValue], index: usize, context: &mut Context) -> JsResult<Vec<u8>> {
    let value = arguments.get_or_undefined(index);
    match value.as_object() {
        Some(object) => JsUint8Array::from_object(object)?.to_vec(context),
        None => Ok(text(arguments, index, context)?.into_bytes()),
    }
}

pub fn byte_array(bytes: &[u8], context: &mut Context) -> JsResult<JsValue> {
    let block = AlignedVec::from_iter(0, bytes.iter().copied());
    let buffer = JsArrayBuffer::from_byte_block(block, context)?;
    Ok(JsUint8Array::from_array_buffer(buffer, context)?.into())
}
