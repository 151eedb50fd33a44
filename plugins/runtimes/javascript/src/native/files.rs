//! Files and folders, with Node's errors.

use std::fs::{self, FileType, Metadata, OpenOptions};
use std::io::{Error, Write};
use std::time::UNIX_EPOCH;

use boa_engine::object::builtins::JsArray;
use boa_engine::{Context, JsArgs, JsError, JsNativeError, JsResult, JsString, JsValue, js_string};

use super::{Functions, byte_array, bytes, text};
use crate::host::Host;

pub const FUNCTIONS: Functions = &[
    ("read", read),
    ("readText", read_text),
    ("write", write),
    ("list", list),
    ("stat", stat),
    ("exists", exists),
    ("makeFolder", make_folder),
    ("removeFolder", remove_folder),
    ("removeFile", remove_file),
    ("removeAll", remove_all),
    ("rename", rename),
    ("copy", copy),
    ("realPath", real_path),
    ("readLink", read_link),
    ("makeLink", make_link),
    ("truncate", truncate),
];

/// Creates an `Error` with `code`, `syscall` and `path`, like Node.
pub fn failure(error: &Error, call: &str, path: &str, context: &mut Context) -> JsError {
    failure_between(error, call, &[path], context)
}

fn failure_between(error: &Error, call: &str, paths: &[&str], context: &mut Context) -> JsError {
    let (code, number, meaning) = describe(error);
    let places = paths.iter().filter(|path| !path.is_empty()).map(|path| format!("'{path}'")).collect::<Vec<_>>();
    let place = if places.is_empty() { String::new() } else { format!(" {}", places.join(" -> ")) };
    let object = JsNativeError::error().with_message(format!("{code}: {meaning}, {call}{place}")).into_opaque(context);
    let mut properties: Vec<(&str, JsValue)> =
        vec![("errno", (-number).into()), ("code", js_string!(code).into()), ("syscall", js_string!(call).into())];
    for (name, path) in ["path", "dest"].into_iter().zip(paths) {
        if !path.is_empty() {
            properties.push((name, js_string!(*path).into()));
        }
    }
    for (name, value) in properties {
        // A new error object accepts any property.
        _ = object.create_data_property(js_string!(name), value, context);
    }
    JsError::from_opaque(object.into())
}

/// Returns Node's code, its number on Linux, and its meaning.
fn describe(error: &Error) -> (&'static str, i32, &'static str) {
    // `ErrorKind` is coarser than the error numbers, which differ between Linux and WASI.
    let wasi = cfg!(target_os = "wasi");
    let is = |linux: i32, sandbox: i32| error.raw_os_error() == Some(if wasi { sandbox } else { linux });
    let known = [
        (is(2, 44), "ENOENT", 2, "no such file or directory"),
        (is(1, 63) || (wasi && is(0, 76)), "EPERM", 1, "operation not permitted"),
        (is(13, 2), "EACCES", 13, "permission denied"),
        (is(17, 20), "EEXIST", 17, "file already exists"),
        (is(20, 54), "ENOTDIR", 20, "not a directory"),
        (is(21, 31), "EISDIR", 21, "illegal operation on a directory"),
        (is(39, 55), "ENOTEMPTY", 39, "directory not empty"),
        (is(30, 69), "EROFS", 30, "read-only file system"),
        (is(28, 51), "ENOSPC", 28, "no space left on device"),
        (is(122, 19), "EDQUOT", 122, "disk quota exceeded"),
        (is(22, 28), "EINVAL", 22, "invalid argument"),
        (is(9, 8), "EBADF", 9, "bad file descriptor"),
        (is(18, 75), "EXDEV", 18, "cross-device link not permitted"),
        (is(40, 32), "ELOOP", 40, "too many symbolic links encountered"),
        (is(36, 37), "ENAMETOOLONG", 36, "name too long"),
        (is(16, 10), "EBUSY", 16, "resource busy or locked"),
        (is(27, 22), "EFBIG", 27, "file too large"),
        (is(95, 58), "ENOTSUP", 95, "operation not supported on socket"),
    ];
    let found = known.into_iter().find(|(matches, ..)| *matches);
    found.map_or(("EIO", 5, "i/o error"), |(_, code, number, meaning)| (code, number, meaning))
}

/// Runs one operation on the path in the first argument.
fn on_path<T>(
    arguments: &[JsValue],
    call: &str,
    context: &mut Context,
    operation: impl FnOnce(&str) -> Result<T, Error>,
) -> JsResult<T> {
    let path = text(arguments, 0, context)?;
    let absolute = Host::of(context).absolute(&path);
    operation(&absolute).map_err(|error| failure(&error, call, &path, context))
}

fn read(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    byte_array(&read_bytes(arguments, context)?, context)
}

fn read_text(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let bytes = read_bytes(arguments, context)?;
    Ok(JsString::from(String::from_utf8_lossy(&bytes).as_ref()).into())
}

fn read_bytes(arguments: &[JsValue], context: &mut Context) -> JsResult<Vec<u8>> {
    let path = text(arguments, 0, context)?;
    let absolute = Host::of(context).absolute(&path);
    fs::read(&absolute).map_err(|error| {
        // Node opens a folder and fails on reading; the sandbox reports another error.
        if fs::metadata(&absolute).is_ok_and(|metadata| metadata.is_dir()) {
            return failure(&is_a_directory(), "read", "", context);
        }
        failure(&error, "open", &path, context)
    })
}

fn is_a_directory() -> Error {
    Error::from_raw_os_error(if cfg!(target_os = "wasi") { 31 } else { 21 })
}

fn write(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let content = bytes(arguments, 1, context)?;
    let flag = text(arguments, 2, context)?;
    on_path(arguments, "open", context, |path| options(&flag).open(path)?.write_all(&content))?;
    Ok(JsValue::undefined())
}

/// Returns the options for Node's flags.
pub fn options(flag: &str) -> OpenOptions {
    let mut options = OpenOptions::new();
    match flag.trim_end_matches('s') {
        "r" => options.read(true),
        "r+" => options.read(true).write(true),
        "w+" => options.read(true).write(true).create(true).truncate(true),
        "wx" | "xw" => options.write(true).create_new(true),
        "wx+" | "xw+" => options.read(true).write(true).create_new(true),
        "a" => options.append(true).create(true),
        "ax" | "xa" => options.append(true).create_new(true),
        "a+" => options.read(true).append(true).create(true),
        _ => options.write(true).create(true).truncate(true),
    };
    options
}

/// Returns pairs of name and type, sorted by name.
fn list(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut entries = on_path(arguments, "scandir", context, |path| {
        fs::read_dir(path)?
            .map(|entry| entry.and_then(|entry| Ok((entry.file_name(), kind(entry.file_type()?)))))
            .collect::<Result<Vec<_>, _>>()
    })?;
    entries.sort();
    let pairs = entries
        .into_iter()
        .flat_map(|(name, kind)| [JsValue::from(js_string!(name.to_string_lossy().as_ref())), js_string!(kind).into()]);
    Ok(JsArray::from_iter(pairs, context).into())
}

fn kind(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        "folder"
    } else if file_type.is_symlink() {
        "link"
    } else if file_type.is_file() {
        "file"
    } else {
        "other"
    }
}

/// Returns type, size and times in milliseconds.
fn stat(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let follow = arguments.get_or_undefined(1).to_boolean();
    let call = if follow { "stat" } else { "lstat" };
    let metadata =
        on_path(arguments, call, context, |path| if follow { fs::metadata(path) } else { fs::symlink_metadata(path) })?;
    Ok(facts(&metadata, context))
}

pub fn facts(metadata: &Metadata, context: &mut Context) -> JsValue {
    let millis = |time: Result<std::time::SystemTime, Error>| {
        time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    let modified = millis(metadata.modified());
    #[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles")]
    let size = metadata.len() as f64;
    let facts: [JsValue; 4] = [
        js_string!(kind(metadata.file_type())).into(),
        size.into(),
        modified.into(),
        metadata.accessed().map_or(modified, |time| millis(Ok(time))).into(),
    ];
    JsArray::from_iter(facts, context).into()
}

fn exists(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let path = text(arguments, 0, context)?;
    Ok(fs::metadata(Host::of(context).absolute(&path)).is_ok().into())
}

/// If the second argument is true, also creates the parent folders. Returns the first folder created.
fn make_folder(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let recursive = arguments.get_or_undefined(1).to_boolean();
    let first = on_path(arguments, "mkdir", context, |path| {
        if !recursive {
            return fs::create_dir(path).map(|()| None);
        }
        let mut missing = Vec::new();
        let mut folder = path;
        while !folder.is_empty() && fs::metadata(folder).is_err() {
            missing.push(folder);
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
        if missing.is_empty() && !fs::metadata(path)?.is_dir() {
            return fs::create_dir(path).map(|()| None);
        }
        missing.iter().rev().try_for_each(fs::create_dir)?;
        Ok(missing.last().map(|first| (*first).to_owned()))
    })?;
    Ok(first.map_or(JsValue::undefined(), |first| js_string!(first).into()))
}

fn remove_folder(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    on_path(arguments, "rmdir", context, |path| fs::remove_dir(path))?;
    Ok(JsValue::undefined())
}

fn remove_file(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    on_path(arguments, "unlink", context, |path| fs::remove_file(path))?;
    Ok(JsValue::undefined())
}

fn remove_all(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    on_path(arguments, "rm", context, remove_tree)?;
    Ok(JsValue::undefined())
}

/// WASI lacks what `remove_dir_all` needs.
fn remove_tree(path: &str) -> Result<(), Error> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return fs::remove_file(path);
    }
    for entry in fs::read_dir(path)? {
        remove_tree(&format!("{path}/{}", entry?.file_name().to_string_lossy()))?;
    }
    fs::remove_dir(path)
}

fn rename(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    between(arguments, "rename", context, |from, to| fs::rename(from, to))
}

fn copy(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    // `fs::copy` also copies permissions, which WASI does not have.
    between(arguments, "copyfile", context, |from, to| fs::read(from).and_then(|content| fs::write(to, content)))
}

fn make_link(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let target = text(arguments, 0, context)?;
    let path = text(arguments, 1, context)?;
    let error = Error::from_raw_os_error(if cfg!(target_os = "wasi") { 63 } else { 1 });
    Err(failure_between(&error, "symlink", &[&target, &path], context))
}

fn between(
    arguments: &[JsValue],
    call: &str,
    context: &mut Context,
    operation: impl FnOnce(&str, &str) -> Result<(), Error>,
) -> JsResult<JsValue> {
    let (from, to) = (text(arguments, 0, context)?, text(arguments, 1, context)?);
    let host = Host::of(context);
    operation(&host.absolute(&from), &host.absolute(&to))
        .map_err(|error| failure_between(&error, call, &[&from, &to], context))?;
    Ok(JsValue::undefined())
}

fn read_link(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let target = on_path(arguments, "readlink", context, |path| fs::read_link(path))?;
    Ok(js_string!(target.to_string_lossy().as_ref()).into())
}

fn real_path(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let path = on_path(arguments, "realpath", context, |path| follow_links(path, 0))?;
    Ok(js_string!(path).into())
}

/// WASI has no `canonicalize`.
fn follow_links(path: &str, followed: usize) -> Result<String, Error> {
    /// The limit of Linux.
    const LINKS: usize = 40;
    let mut real = String::new();
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    while let Some(part) = parts.next() {
        if part == ".." {
            real.truncate(real.rfind('/').unwrap_or(0));
            continue;
        }
        let next = format!("{real}/{part}");
        if fs::symlink_metadata(&next)?.is_symlink() {
            if followed == LINKS {
                return Err(Error::from_raw_os_error(if cfg!(target_os = "wasi") { 32 } else { 40 }));
            }
            let target = fs::read_link(&next)?;
            let target = target.to_string_lossy();
            let rest = parts.collect::<Vec<_>>().join("/");
            let base = if target.starts_with('/') { "" } else { real.as_str() };
            return follow_links(&format!("{base}/{target}/{rest}"), followed + 1);
        }
        real = next;
    }
    Ok(if real.is_empty() { "/".to_owned() } else { real })
}

fn truncate(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let length = arguments.get_or_undefined(1).to_length(context)?;
    on_path(arguments, "open", context, |path| OpenOptions::new().write(true).open(path)?.set_len(length))?;
    Ok(JsValue::undefined())
}
