//! File descriptors other than the standard streams.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Error, Read, Seek, SeekFrom, Write};

use boa_engine::{Context, JsArgs, JsResult, JsValue};

use super::files::{facts, failure, options};
use super::{Functions, byte_array, bytes, text};
use crate::console::{self, Stream};
use crate::host::Host;

#[derive(Default)]
pub struct Descriptors {
    open: RefCell<BTreeMap<u32, File>>,
}

const STDIN: u32 = 0;

/// 0, 1 and 2 are the standard streams.
const FIRST: u32 = 3;

pub const FUNCTIONS: Functions = &[("open", open), ("close", close), ("read", read), ("write", write), ("stat", stat)];

fn open(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let path = text(arguments, 0, context)?;
    let flag = text(arguments, 1, context)?;
    let host = Host::of(context);
    let file = options(&flag).open(host.absolute(&path)).map_err(|error| failure(&error, "open", &path, context))?;
    let mut files = host.descriptors.open.borrow_mut();
    let number = files.last_key_value().map_or(FIRST, |(last, _)| last + 1);
    files.insert(number, file);
    Ok(number.into())
}

fn close(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    on_file(arguments, "close", context, |_| Ok(()))?;
    let number = arguments.get_or_undefined(0).to_u32(context)?;
    Host::of(context).descriptors.open.borrow_mut().remove(&number);
    Ok(JsValue::undefined())
}

/// Reads up to a number of bytes, from a given position or the current one.
fn read(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let limit = arguments.get_or_undefined(1).to_length(context)?;
    let position = position(arguments, context)?;
    if arguments.get_or_undefined(0).to_u32(context)? == STDIN {
        let mut content = Vec::new();
        let read = std::io::stdin().lock().take(limit).read_to_end(&mut content);
        read.map_err(|error| failure(&error, "read", "/dev/stdin", context))?;
        return byte_array(&content, context);
    }
    let content = on_file(arguments, "read", context, |file| {
        let mut content = Vec::new();
        at(file, position, |file| file.take(limit).read_to_end(&mut content))?;
        Ok(content)
    })?;
    byte_array(&content, context)
}

fn write(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let content = bytes(arguments, 1, context)?;
    let position = position(arguments, context)?;
    match arguments.get_or_undefined(0).to_u32(context)? {
        1 => console::write(Stream::Output, &content),
        2 => console::write(Stream::Errors, &content),
        _ => on_file(arguments, "write", context, |file| at(file, position, |file| file.write_all(&content)))?,
    }
    Ok(content.len().into())
}

fn stat(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let metadata = on_file(arguments, "fstat", context, |file| file.metadata())?;
    Ok(facts(&metadata, context))
}

fn position(arguments: &[JsValue], context: &mut Context) -> JsResult<Option<u64>> {
    let value = arguments.get_or_undefined(2);
    if value.is_number() { value.to_length(context).map(Some) } else { Ok(None) }
}

/// An explicit position does not move the current one.
fn at<T>(
    file: &mut File,
    position: Option<u64>,
    operation: impl FnOnce(&mut File) -> Result<T, Error>,
) -> Result<T, Error> {
    let Some(position) = position else { return operation(file) };
    let before = file.stream_position()?;
    file.seek(SeekFrom::Start(position))?;
    let result = operation(file);
    file.seek(SeekFrom::Start(before))?;
    result
}

fn on_file<T>(
    arguments: &[JsValue],
    call: &str,
    context: &mut Context,
    operation: impl FnOnce(&mut File) -> Result<T, Error>,
) -> JsResult<T> {
    let number = arguments.get_or_undefined(0).to_u32(context)?;
    let host = Host::of(context);
    let mut files = host.descriptors.open.borrow_mut();
    let result = match files.get_mut(&number) {
        Some(file) => operation(file),
        None => Err(Error::from_raw_os_error(if cfg!(target_os = "wasi") { 8 } else { 9 })),
    };
    result.map_err(|error| failure(&error, call, "", context))
}
