//! Reports failures of a script on standard error.

use std::fmt::Write as _;

use boa_engine::builtins::promise::PromiseState;
use boa_engine::error::EngineError;
use boa_engine::{Context, JsError, JsNativeError, JsResult, JsValue, js_string};

use crate::builtins;
use crate::console::write_error;
use crate::event_loop::Fault;
use crate::host::Host;
use crate::positions::Place;

/// As many as Node shows. After a stack overflow there are many more, all alike.
const FRAMES: usize = 10;

/// Passes a fault to listeners of `uncaughtException` and `unhandledRejection`, or prints it.
///
/// An error means that the script is over: with a new fault if a listener failed, else already reported.
pub fn handle(fault: Fault, context: &mut Context) -> Result<(), Option<Fault>> {
    let (value, origin) = match fault {
        Fault::Thrown(error) => (opaque(error, context), "uncaughtException"),
        Fault::Rejected(promise) => match promise.state() {
            PromiseState::Rejected(reason) => (reason, "unhandledRejection"),
            _ => return Ok(()),
        },
    };
    let listener = Host::of(context).builtins.on_fault.borrow().clone();
    if let Some(listener) = listener {
        let arguments = [value.clone(), js_string!(origin).into()];
        match listener.call(&JsValue::undefined(), &arguments, context) {
            Ok(heard) if heard.to_boolean() => return Ok(()),
            Ok(_) => {}
            Err(error) => {
                thrown(error, context);
                return Err(None);
            }
        }
    }
    print(&value, origin == "unhandledRejection", context);
    Err(None)
}

pub fn thrown(error: JsError, context: &mut Context) {
    if Host::of(context).events.exit.get().is_none() {
        let value = opaque(error, context);
        print(&value, false, context);
    }
}

/// The engine ends deep recursion with an error that scripts cannot catch; it is shown as Node's `RangeError`.
fn opaque(error: JsError, context: &mut Context) -> JsValue {
    error.into_opaque(context).unwrap_or_else(|error| {
        let text = error.to_string();
        let (title, frames) = text.split_once('\n').unwrap_or((&text, ""));
        let title = match error.as_engine() {
            Some(EngineError::RuntimeLimit(_)) => "Maximum call stack size exceeded",
            _ => title,
        };
        let object = JsNativeError::range().with_message(title.to_owned()).into_opaque(context);
        let frames: Vec<_> = frames.lines().take(FRAMES).collect();
        let frames = Host::of(context).positions.rewrite(&frames.join("\n"));
        let stack = js_string!(format!("RangeError: {title}\n{frames}"));
        // A new error object accepts any property.
        _ = object.create_data_property(js_string!("stack"), stack, context);
        object.into()
    })
}

fn print(value: &JsValue, rejected: bool, context: &mut Context) {
    let stack = stack(value, context).unwrap_or_default();
    // Stacks of syntax errors start with the position.
    let mut text = if stack.starts_with('/') { String::new() } else { excerpt(&stack) };
    let is_error = !stack.is_empty();
    let shown = inspect(value, context).unwrap_or_else(|_| value.display().to_string());
    match (is_error, rejected) {
        (true, _) => _ = writeln!(text, "{shown}"),
        (false, false) => _ = writeln!(text, "Uncaught {shown}"),
        (false, true) => {
            _ = writeln!(
                text,
                "[UnhandledPromiseRejection: This error originated either by throwing inside of an async function without \
                 a catch block, or by rejecting a promise which was not handled with .catch(). The promise rejected with \
                 the reason {shown}.] {{\n  code: 'ERR_UNHANDLED_REJECTION'\n}}"
            );
        }
    }
    write_error(&text);
}

fn stack(value: &JsValue, context: &mut Context) -> Option<String> {
    let stack = value.as_object()?.get(js_string!("stack"), context).ok()?;
    Some(stack.as_string()?.to_std_string_lossy())
}

fn inspect(value: &JsValue, context: &mut Context) -> JsResult<String> {
    let inspect = builtins::function("internal/inspect", "inspect", context)?;
    let text = inspect.call(&JsValue::undefined(), std::slice::from_ref(value), context)?;
    Ok(text.to_string(context)?.to_std_string_lossy())
}

/// Returns the position and the line, with a marker below it.
fn excerpt(stack: &str) -> String {
    let Some(place) = Place::first_in(stack) else { return String::new() };
    let Ok(text) = std::fs::read_to_string(place.file) else { return String::new() };
    let Some(line) = text.lines().nth(place.line as usize - 1) else { return String::new() };
    pointer(place.file, place.line, place.column, line)
}

/// Formats a position like compilers do.
pub fn pointer(file: &str, line: u32, column: u32, text: &str) -> String {
    /// Lines of minified code would bury the message.
    const LINE_CHARS: usize = 200;
    if text.chars().count() > LINE_CHARS {
        return format!("{file}:{line}:{column}\n\n");
    }
    let lead: String = text.chars().take(column as usize - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    format!("{file}:{line}\n{text}\n{lead}^\n\n")
}
