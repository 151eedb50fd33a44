//! `CommonJS`: `require`, `module`, and their cache.

use std::cell::{OnceCell, RefCell};
use std::path::Path;

use boa_engine::native_function::NativeFunctionPointer;
use boa_engine::object::builtins::JsArray;
use boa_engine::object::{FunctionObjectBuilder, ObjectInitializer};
use boa_engine::property::{Attribute, PropertyDescriptor};
use boa_engine::{
    Context, JsArgs, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, Script,
    Source as EngineSource, js_string,
};

use crate::builtins;
use crate::host::Host;
use crate::modules;
use crate::native::text;
use crate::positions::Shift;
use crate::resolve::{ImportKind, Target, folder_of, resolve};
use crate::source::{Kind, Source, unsupported_syntax};

#[derive(Default)]
pub struct CommonModules {
    /// `require.cache`: scripts may delete from it.
    cache: OnceCell<JsObject>,
    main: RefCell<Option<JsObject>>,
}

/// On the first line of the file, so that line numbers are unchanged.
const WRAPPER: &str = "(function (exports, require, module, __filename, __dirname) { ";

/// For Node's `module`.
pub const FUNCTIONS: &[(&str, NativeFunctionPointer)] = &[
    ("require", |_, arguments, context| Ok(new_require(&text(arguments, 0, context)?, context).into())),
    ("names", |_, _, context| {
        let names = builtins::names().map(|name| JsValue::from(js_string!(name)));
        Ok(JsArray::from_iter(names, context).into())
    }),
];

pub fn start(file: &str, source: Source, context: &mut Context) -> JsResult<()> {
    let module = new_module(file, ".", JsValue::null(), context);
    *Host::of(context).common.main.borrow_mut() = Some(module.clone());
    cache(context).set(js_string!(file), module.clone(), false, context)?;
    evaluate(file, source, &module, context)
}

/// Returns the exports of a file, which is run on first use.
pub fn load(file: &str, from: &str, context: &mut Context) -> JsResult<JsValue> {
    if let Some(exports) = cached(file, context)? {
        return Ok(exports);
    }
    if file.ends_with(".json") {
        let module = register(file, from, context)?;
        let text = std::fs::read_to_string(file)
            .map_err(|error| crate::native::files::failure(&error, "open", file, context))?;
        let text = js_string!(text.strip_prefix('\u{feff}').unwrap_or(&text));
        let exports = parse_json(text, context).map_err(|error| {
            let message = format!("{file}: {error}");
            forget(file, context);
            JsNativeError::syntax().with_message(message)
        })?;
        module.set(js_string!("exports"), exports.clone(), false, context)?;
        return Ok(exports);
    }
    let source = modules::read(file, context)?;
    load_source(file, from, source, context)
}

pub fn load_source(file: &str, from: &str, source: Source, context: &mut Context) -> JsResult<JsValue> {
    if let Some(exports) = cached(file, context)? {
        return Ok(exports);
    }
    if source.kind == Kind::Module {
        return Ok(modules::require(file, source, context)?.into());
    }
    let module = register(file, from, context)?;
    if let Err(error) = evaluate(file, source, &module, context) {
        forget(file, context);
        return Err(error);
    }
    module.get(js_string!("exports"), context)
}

/// Defines the names of `CommonJS` for a TypeScript module. Hidden, because Node's `import.meta` does not have them.
pub fn define_commonjs_names(meta: &JsObject, file: &str, context: &mut Context) {
    let host = Host::of(context);
    let id = if file == host.main { "." } else { file };
    let module = new_module(file, id, JsValue::null(), context);
    if file == host.main {
        *host.common.main.borrow_mut() = Some(module.clone());
    }
    let exports = module.get(js_string!("exports"), context).unwrap_or_default();
    let lent: [(&str, JsValue); 5] = [
        ("require", new_require(file, context).into()),
        ("module", module.into()),
        ("exports", exports),
        ("__filename", js_string!(file).into()),
        ("__dirname", js_string!(folder_of(file)).into()),
    ];
    for (name, value) in lent {
        let hidden = PropertyDescriptor::builder().value(value).writable(true).enumerable(false).configurable(true);
        // A new `import.meta` accepts any property.
        _ = meta.define_property_or_throw(js_string!(name), hidden, context);
    }
}

/// Creates a `require` relative to this file.
pub fn new_require(file: &str, context: &mut Context) -> JsObject {
    let call = |_: &JsValue, arguments: &[JsValue], from: &JsString, context: &mut Context| {
        let specifier = specifier(arguments, context)?;
        let from = from.to_std_string_lossy();
        match resolve(&specifier, &from, ImportKind::Require, context)? {
            Target::Builtin(name) => builtins::require(name, context),
            Target::File(file) => load(&file, &from, context),
        }
    };
    let find = |_: &JsValue, arguments: &[JsValue], from: &JsString, context: &mut Context| {
        let specifier = specifier(arguments, context)?;
        Ok(match resolve(&specifier, &from.to_std_string_lossy(), ImportKind::Require, context)? {
            Target::Builtin(_) => js_string!(specifier).into(),
            Target::File(file) => js_string!(file).into(),
        })
    };
    let realm = context.realm().clone();
    let function = |function: NativeFunction, name: &'static str| {
        FunctionObjectBuilder::new(&realm, function).name(js_string!(name)).length(1).build()
    };
    let require = function(NativeFunction::from_copy_closure_with_captures(call, js_string!(file)), "require");
    let find = function(NativeFunction::from_copy_closure_with_captures(find, js_string!(file)), "resolve");
    let main = Host::of(context).common.main.borrow().clone().map_or(JsValue::undefined(), JsValue::from);
    let cache = cache(context);
    for (name, value) in [("resolve", find.into()), ("main", main), ("cache", cache.into())] {
        // A new function accepts any property.
        _ = require.create_data_property(js_string!(name), value, context);
    }
    require.into()
}

pub fn parse_json(text: JsString, context: &mut Context) -> JsResult<JsValue> {
    let json = context.intrinsics().objects().json();
    let parse = json.get(js_string!("parse"), context)?;
    let parse = parse.as_callable().ok_or_else(|| JsNativeError::typ().with_message("JSON.parse is not a function"))?;
    parse.call(&json.into(), &[text.into()], context)
}

fn specifier(arguments: &[JsValue], context: &mut Context) -> JsResult<String> {
    if !arguments.get_or_undefined(0).is_string() {
        let message = "The \"id\" argument must be of type string";
        return Err(JsNativeError::typ().with_message(message).into());
    }
    text(arguments, 0, context)
}

fn evaluate(file: &str, source: Source, module: &JsObject, context: &mut Context) -> JsResult<()> {
    let width = u32::try_from(WRAPPER.len()).expect("one line");
    let shift = source.map.map_or(Shift::FirstLine(width), |map| Shift::Generated(Box::new(map), width));
    Host::of(context).positions.remember(file, shift);
    let wrapped = format!("{WRAPPER}{}\n}})", source.text);
    let script = Script::parse(EngineSource::from_bytes(&wrapped).with_path(Path::new(file)), None, context)
        .map_err(|error| unsupported_syntax(file, error, context))?;
    let function = script.evaluate(context)?;
    let function =
        function.as_callable().ok_or_else(|| JsNativeError::syntax().with_message("Unexpected token '}'"))?;
    let exports = module.get(js_string!("exports"), context)?;
    let require = new_require(file, context);
    let folder = js_string!(folder_of(file));
    let arguments = [exports.clone(), require.into(), module.clone().into(), js_string!(file).into(), folder.into()];
    function.call(&exports, &arguments, context)?;
    module.set(js_string!("loaded"), true, false, context)?;
    Ok(())
}

fn new_module(file: &str, id: &str, parent: JsValue, context: &mut Context) -> JsObject {
    let exports = JsObject::with_object_proto(context.intrinsics());
    ObjectInitializer::new(context)
        .property(js_string!("id"), js_string!(id), Attribute::all())
        .property(js_string!("path"), js_string!(folder_of(file)), Attribute::all())
        .property(js_string!("exports"), exports, Attribute::all())
        .property(js_string!("filename"), js_string!(file), Attribute::all())
        .property(js_string!("loaded"), false, Attribute::all())
        .property(js_string!("parent"), parent, Attribute::all())
        .build()
}

fn register(file: &str, from: &str, context: &mut Context) -> JsResult<JsObject> {
    let parent = cache(context).get(js_string!(from), context)?;
    let module = new_module(file, file, parent, context);
    cache(context).set(js_string!(file), module.clone(), false, context)?;
    Ok(module)
}

fn cached(file: &str, context: &mut Context) -> JsResult<Option<JsValue>> {
    let module = cache(context).get(js_string!(file), context)?;
    module.as_object().map(|module| module.get(js_string!("exports"), context)).transpose()
}

/// Removes a failed module, so that the next `require` runs it again.
fn forget(file: &str, context: &mut Context) {
    // Deletion fails only if the script froze the cache.
    _ = cache(context).delete_property_or_throw(js_string!(file), context);
}

fn cache(context: &Context) -> JsObject {
    Host::of(context).common.cache.get_or_init(JsObject::with_null_proto).clone()
}
