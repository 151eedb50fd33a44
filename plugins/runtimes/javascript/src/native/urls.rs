//! WHATWG URLs.

use boa_engine::object::builtins::JsArray;
use boa_engine::{Context, JsArgs, JsError, JsNativeError, JsResult, JsValue, js_string};
use url::{Url, quirks};

use super::{Functions, text};

pub const FUNCTIONS: Functions = &[("parse", parse), ("change", change)];

/// Returns the URL of a file.
pub fn of_file(path: &str) -> String {
    let mut url = Url::parse("file:///").expect("this is a URL");
    url.set_path(path);
    url.into()
}

/// `parse(text, base?)` returns the parts that `parts` lists.
fn parse(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let input = text(arguments, 0, context)?;
    let base = arguments.get_or_undefined(1);
    let base = if base.is_undefined() { None } else { Some(base.to_string(context)?.to_std_string_lossy()) };
    let parsed = match &base {
        None => Url::parse(&input),
        Some(base) => Url::parse(base).and_then(|base| base.join(&input)),
    };
    match parsed {
        Ok(url) => Ok(parts(&url, context)),
        Err(_) => Err(invalid(&input, context)),
    }
}

/// `change(href, property, value)` returns the parts of the changed URL; an invalid value changes nothing.
fn change(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let href = text(arguments, 0, context)?;
    let value = text(arguments, 2, context)?;
    let mut url = Url::parse(&href).map_err(|_| invalid(&href, context))?;
    match text(arguments, 1, context)?.as_str() {
        "href" => url = Url::parse(&value).map_err(|_| invalid(&value, context))?,
        "protocol" => _ = quirks::set_protocol(&mut url, &value),
        "username" => _ = quirks::set_username(&mut url, &value),
        "password" => _ = quirks::set_password(&mut url, &value),
        "host" => _ = quirks::set_host(&mut url, &value),
        "hostname" => _ = quirks::set_hostname(&mut url, &value),
        "port" => _ = quirks::set_port(&mut url, &value),
        "pathname" => quirks::set_pathname(&mut url, &value),
        "search" => quirks::set_search(&mut url, &value),
        "hash" => quirks::set_hash(&mut url, &value),
        _ => {}
    }
    Ok(parts(&url, context))
}

fn parts(url: &Url, context: &mut Context) -> JsValue {
    let parts = [
        quirks::href(url),
        &quirks::origin(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ];
    JsArray::from_iter(parts.map(|part| JsValue::from(js_string!(part))), context).into()
}

fn invalid(input: &str, context: &mut Context) -> JsError {
    let error = JsNativeError::typ().with_message("Invalid URL").into_opaque(context);
    for (name, value) in [("code", "ERR_INVALID_URL"), ("input", input)] {
        // A new error object accepts any property.
        _ = error.create_data_property(js_string!(name), js_string!(value), context);
    }
    JsError::from_opaque(error.into())
}
