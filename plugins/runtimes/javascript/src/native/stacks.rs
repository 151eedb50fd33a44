//! `stack` of errors like Node's: the message first, then positions in the source files.

use boa_engine::object::FunctionObjectBuilder;
use boa_engine::object::builtins::JsFunction;
use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsArgs, JsNativeError, JsResult, JsValue, NativeFunction, js_string};

use crate::host::Host;

pub fn install(context: &mut Context) {
    let error = context.intrinsics().constructors().error();
    let (constructor, prototype) = (error.constructor(), error.prototype());
    let original = prototype.borrow().properties().get(&js_string!("stack").into());
    let original = original.and_then(|property| Some((property.get()?.as_function()?, property.set()?.clone())));
    let Some((frames, set)) = original else { return };
    let get = |this: &JsValue, _: &[JsValue], frames: &JsFunction, context: &mut Context| stack(this, frames, context);
    let get = NativeFunction::from_copy_closure_with_captures(get, frames.clone());
    let get = FunctionObjectBuilder::new(context.realm(), get).build();
    let property = PropertyDescriptor::builder().get(get).set(set).enumerable(false).configurable(true).build();
    prototype
        .define_property_or_throw(js_string!("stack"), property, context)
        .expect("built-in properties can be changed");
    let capture = NativeFunction::from_copy_closure_with_captures(capture, frames);
    let capture = FunctionObjectBuilder::new(context.realm(), capture).name(js_string!("captureStackTrace")).build();
    for (name, value) in [("captureStackTrace", capture.into()), ("stackTraceLimit", JsValue::from(10))] {
        constructor.create_data_property_or_throw(js_string!(name), value, context).expect("built-in objects can grow");
    }
}

fn stack(this: &JsValue, frames: &JsFunction, context: &mut Context) -> JsResult<JsValue> {
    let frames = frames.call(this, &[], context)?;
    let Some(frames) = frames.as_string() else { return Ok(frames) };
    let title = this.to_string(context)?.to_std_string_lossy();
    let frames = Host::of(context).positions.rewrite(&frames.to_std_string_lossy());
    Ok(if frames.is_empty() { js_string!(title) } else { js_string!(format!("{title}\n{frames}")) }.into())
}

/// Errors already have their stack, so only other objects get one.
fn capture(_: &JsValue, arguments: &[JsValue], frames: &JsFunction, context: &mut Context) -> JsResult<JsValue> {
    let target = arguments.get_or_undefined(0).to_object(context)?;
    if !target.is::<boa_engine::builtins::error::Error>() {
        let error = JsNativeError::error().into_opaque(context);
        let value = stack(&error.into(), frames, context)?;
        target.create_data_property_or_throw(js_string!("stack"), value, context)?;
    }
    Ok(JsValue::undefined())
}
