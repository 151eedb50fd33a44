//! ES modules: files of the skill, and other modules wrapped as ES modules.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use boa_engine::module::{Module, ModuleLoader, ModuleRequest, Referrer, SyntheticModuleInitializer};
use boa_engine::object::builtins::JsPromise;
use boa_engine::property::PropertyKey;
use boa_engine::{Context, JsNativeError, JsObject, JsResult, JsString, JsValue, Source as EngineSource, js_string};

use crate::commonjs;
use crate::host::Host;
use crate::positions::Shift;
use crate::resolve::{ImportKind, Target, folder_of, resolve};
use crate::source::{Kind, Source, prepare, unsupported_syntax};
use crate::{builtins, native};

#[derive(Default)]
pub struct Loader {
    /// By path or by name of a built-in module.
    modules: RefCell<HashMap<String, Module>>,
}

/// Starts the main file. The event loop settles the promise of a module.
pub fn start(file: &str, context: &mut Context) -> JsResult<Option<JsPromise>> {
    let source = read(file, context)?;
    if source.kind == Kind::Common {
        commonjs::start(file, source, context)?;
        return Ok(None);
    }
    let loader = loader(context);
    let module = loader.parse(file, source, context)?;
    Ok(Some(module.load_link_evaluate(context)))
}

pub fn read(file: &str, context: &mut Context) -> JsResult<Source> {
    let bytes = std::fs::read(file).map_err(|error| native::files::failure(&error, "open", file, context))?;
    prepare(file, &bytes).map_err(|fault| fault.into_error(context))
}

/// Runs an ES module for `require`, which is synchronous, so pending jobs are run here.
pub fn require(file: &str, source: Source, context: &mut Context) -> JsResult<JsObject> {
    use boa_engine::builtins::promise::PromiseState;
    let module = loader(context).parse(file, source, context)?;
    let promise = module.load_link_evaluate(context);
    Host::of(context).events.settle(context)?;
    match promise.state() {
        PromiseState::Fulfilled(_) => Ok(module.namespace(context)),
        PromiseState::Rejected(reason) => {
            // Marks the rejection as handled.
            let ignore = boa_engine::NativeFunction::from_fn_ptr(|_, _, _| Ok(JsValue::undefined()));
            let ignore = ignore.to_js_function(context.realm());
            promise.catch(ignore, context)?;
            Err(boa_engine::JsError::from_opaque(reason))
        }
        PromiseState::Pending => {
            let message =
                format!("require() cannot be used on {file}, which waits at its top level: use import() instead");
            Err(JsNativeError::error().with_message(message).into())
        }
    }
}

fn loader(context: &Context) -> Rc<Loader> {
    context.downcast_module_loader::<Loader>().expect("`run` built the context with it")
}

impl Loader {
    fn load(&self, specifier: &str, from: &str, context: &mut Context) -> JsResult<Module> {
        let target = resolve(specifier, from, ImportKind::Import, context)?;
        let key = match &target {
            Target::Builtin(name) => *name,
            Target::File(file) => file,
        };
        if let Some(module) = self.modules.borrow().get(key) {
            return Ok(module.clone());
        }
        let exports = match &target {
            Target::Builtin(name) => builtins::require(name, context)?,
            Target::File(file) if file.ends_with(".json") => commonjs::load(file, from, context)?,
            Target::File(file) => {
                let source = read(file, context)?;
                match source.kind {
                    Kind::Module => return self.parse(file, source, context),
                    Kind::Common => commonjs::load_source(file, from, source, context)?,
                }
            }
        };
        let module = wrap_exports(exports, context)?;
        self.modules.borrow_mut().insert(key.to_owned(), module.clone());
        Ok(module)
    }

    fn parse(&self, file: &str, source: Source, context: &mut Context) -> JsResult<Module> {
        if let Some(module) = self.modules.borrow().get(file) {
            return Ok(module.clone());
        }
        let lead: String =
            source.commonjs_names.iter().map(|name| format!("const {name} = import.meta[{name:?}]; ")).collect();
        let width = u32::try_from(lead.len()).expect("five short declarations");
        if let Some(map) = source.map {
            Host::of(context).positions.remember(file, Shift::Generated(Box::new(map), width));
        }
        let text = lead + &source.text;
        let module = Module::parse(EngineSource::from_bytes(&text).with_path(Path::new(file)), None, context)
            .map_err(|error| unsupported_syntax(file, error, context))?;
        self.modules.borrow_mut().insert(file.to_owned(), module.clone());
        Ok(module)
    }
}

/// Wraps exports of another kind as an ES module: the value as `default`, and its properties by name.
fn wrap_exports(exports: JsValue, context: &mut Context) -> JsResult<Module> {
    let default = js_string!("default");
    let mut names = vec![default.clone()];
    if let Some(object) = exports.as_object() {
        for key in object.own_property_keys(context)? {
            let PropertyKey::String(name) = key else { continue };
            if name != default {
                names.push(name);
            }
        }
    }
    let initializer = SyntheticModuleInitializer::from_copy_closure_with_captures(
        |module, (exports, names): &(JsValue, Vec<JsString>), context| {
            module.set_export(&names[0], exports.clone())?;
            if let Some(object) = exports.as_object() {
                for name in &names[1..] {
                    let value = object.get(name.clone(), context)?;
                    module.set_export(name, value)?;
                }
            }
            Ok(())
        },
        (exports, names.clone()),
    );
    Ok(Module::synthetic(&names, initializer, None, None, context))
}

impl ModuleLoader for Loader {
    async fn load_imported_module(
        self: Rc<Self>,
        referrer: Referrer,
        request: ModuleRequest,
        context: &RefCell<&mut Context>,
    ) -> JsResult<Module> {
        let context = &mut context.borrow_mut();
        let from = referrer.path().and_then(Path::to_str).map_or_else(|| Host::of(context).main.clone(), str::to_owned);
        self.load(&request.specifier().to_std_string_lossy(), &from, context)
    }

    fn init_import_meta(self: Rc<Self>, meta: &JsObject, module: &Module, context: &mut Context) {
        let Some(file) = module.path().and_then(Path::to_str) else { return };
        let mut set = |name: &str, value: JsValue| _ = meta.create_data_property(js_string!(name), value, context);
        set("dirname", js_string!(folder_of(file)).into());
        set("filename", js_string!(file).into());
        set("url", js_string!(native::urls::of_file(file)).into());
        commonjs::define_commonjs_names(meta, file, context);
    }
}
