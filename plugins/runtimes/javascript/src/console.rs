//! `console`. Plain text and numbers are formatted here, everything else by the JavaScript port of Node's rules.

mod plain;

use std::io::Write;

use boa_engine::object::FunctionObjectBuilder;
use boa_engine::{Context, JsObject, JsResult, JsValue, NativeFunction, js_string};

use crate::builtins;
use crate::host::Host;
use plain::Refusal;

#[derive(Clone, Copy)]
pub enum Stream {
    Output,
    Errors,
}

/// These need more than a line of text, so they are loaded when called.
const RARE: [&str; 14] = [
    "table",
    "dir",
    "dirxml",
    "assert",
    "count",
    "countReset",
    "time",
    "timeEnd",
    "timeLog",
    "group",
    "groupCollapsed",
    "groupEnd",
    "trace",
    "timeStamp",
];

pub fn object(context: &mut Context) -> JsObject {
    let console = JsObject::with_object_proto(context.intrinsics());
    let mut method = |name: &'static str, function| {
        let function = FunctionObjectBuilder::new(context.realm(), function).name(js_string!(name)).build();
        console.create_data_property_or_throw(js_string!(name), function, context).expect("a fresh object");
    };
    for name in ["log", "info", "debug"] {
        method(
            name,
            NativeFunction::from_copy_closure(|_, arguments, context| log(Stream::Output, arguments, context)),
        );
    }
    for name in ["error", "warn"] {
        method(
            name,
            NativeFunction::from_copy_closure(|_, arguments, context| log(Stream::Errors, arguments, context)),
        );
    }
    for name in RARE {
        let load = move |this: &JsValue, arguments: &[JsValue], context: &mut Context| {
            builtins::function("internal/console", name, context)?.call(this, arguments, context)
        };
        method(name, NativeFunction::from_copy_closure(load));
    }
    console
}

fn log(stream: Stream, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut line = if let Some(line) = plain(arguments, context)? {
        line
    } else {
        let format = builtins::function("internal/format", "format", context)?;
        format.call(&JsValue::undefined(), arguments, context)?.to_string(context)?.to_std_string_lossy()
    };
    let host = Host::of(context);
    let indentation = host.indentation.borrow();
    if !indentation.is_empty() {
        line = format!("{indentation}{}", line.replace('\n', &format!("\n{indentation}")));
    }
    line.push('\n');
    write(stream, line.as_bytes());
    Ok(JsValue::undefined())
}

/// Formats the line if all values are plain.
fn plain(arguments: &[JsValue], context: &mut Context) -> JsResult<Option<String>> {
    let mut line = String::new();
    for (index, value) in arguments.iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        if let Some(text) = value.as_string() {
            let text = text.to_std_string_lossy();
            if index == 0 && arguments.len() > 1 && text.contains('%') {
                return Ok(None);
            }
            line.push_str(&text);
        } else {
            match plain::show(value, context) {
                Ok(text) => line.push_str(&text),
                Err(Refusal::NotPlain) => return Ok(None),
                Err(Refusal::Thrown(error)) => return Err(error),
            }
        }
    }
    Ok(Some(line))
}

/// Writes immediately, because the host may stop the script at any time.
pub fn write(stream: Stream, bytes: &[u8]) {
    // A closed stream must not fail the script.
    _ = match stream {
        Stream::Output => {
            let mut output = std::io::stdout().lock();
            output.write_all(bytes).and_then(|()| output.flush())
        }
        Stream::Errors => std::io::stderr().lock().write_all(bytes),
    };
}

pub fn write_error(text: &str) {
    write(Stream::Errors, text.as_bytes());
}
