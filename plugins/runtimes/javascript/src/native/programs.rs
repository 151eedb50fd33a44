//! Runs another script on the same files while this one waits.

#[cfg_attr(target_family = "wasm", path = "programs/nested.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "programs/absent.rs")]
mod nested;

use boa_engine::object::builtins::JsArray;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsValue, js_string};

use super::{Functions, byte_array, bytes, text};

pub const FUNCTIONS: Functions = &[("run", run)];

/// What to run, as on a command line.
#[cfg_attr(not(target_family = "wasm"), expect(dead_code, reason = "only the sandbox has other programs"))]
struct Command {
    argv: Vec<String>,
    folder: String,
    /// Names and values in turn.
    variables: Vec<String>,
    stdin: Vec<u8>,
    /// Whether the streams go to those of this script.
    inherits_output: bool,
    inherits_errors: bool,
    timeout: Option<u64>,
}

struct Ended {
    /// `None` if it was stopped at its timeout.
    code: Option<u8>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// `run(argv, folder, variables, stdin, inheritsOutput, inheritsErrors, timeout)` returns `[code, stdout, stderr]`, or the code of an
/// error.
fn run(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let timeout = arguments.get_or_undefined(6).to_length(context)?;
    let command = Command {
        argv: texts(arguments, 0, context)?,
        folder: text(arguments, 1, context)?,
        variables: texts(arguments, 2, context)?,
        stdin: bytes(arguments, 3, context)?,
        inherits_output: arguments.get_or_undefined(4).to_boolean(),
        inherits_errors: arguments.get_or_undefined(5).to_boolean(),
        timeout: (timeout > 0).then_some(timeout),
    };
    let Ended { code, stdout, stderr } = match nested::run(command) {
        Ok(ended) => ended,
        Err(code) => return Ok(js_string!(code).into()),
    };
    let streams = [byte_array(&stdout, context)?, byte_array(&stderr, context)?];
    let code = code.map_or_else(JsValue::null, Into::into);
    Ok(JsArray::from_iter([code].into_iter().chain(streams), context).into())
}

fn texts(arguments: &[JsValue], index: usize, context: &mut Context) -> JsResult<Vec<String>> {
    let list: JsObject = arguments.get_or_undefined(index).to_object(context)?;
    let list = JsArray::from_object(list)?;
    let length = list.length(context)?;
    (0..length).map(|index| Ok(list.get(index, context)?.to_string(context)?.to_std_string_lossy())).collect()
}
