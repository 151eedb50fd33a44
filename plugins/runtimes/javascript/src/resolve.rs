//! Resolves specifiers to files or built-in modules.

use std::fs;
use std::path::Path;

use boa_engine::{Context, JsError, JsNativeError, js_string};

use crate::builtins;
use crate::host::Host;
use crate::packages;

pub enum Target {
    Builtin(&'static str),
    File(String),
}

/// In the order in which Node and tsx try them.
const ENDINGS: [&str; 7] = [".js", ".cjs", ".mjs", ".ts", ".json", ".mts", ".cts"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    Require,
    Import,
}

pub fn resolve(specifier: &str, from: &str, kind: ImportKind, context: &mut Context) -> Result<Target, JsError> {
    let name = specifier.strip_prefix("node:").unwrap_or(specifier);
    if let Some(name) = builtins::find(name) {
        return Ok(Target::Builtin(name));
    }
    if specifier.starts_with("node:") || builtins::is_absent(name) {
        let message =
            format!("Node's module '{name}' is not available: scripts run in a sandbox that does not offer it");
        return Err(missing(message, kind, context));
    }
    let path = match specifier.strip_prefix("file://") {
        Some(path) => decode(path),
        None if specifier.starts_with('/') => specifier.to_owned(),
        None if is_relative(specifier) => format!("{}/{specifier}", folder_of(from)),
        None => {
            if let Some(file) = packages::find(specifier, from, kind, context) {
                return Ok(Target::File(file));
            }
            let message = format!(
                "Cannot find package '{specifier}' imported from {from}: scripts can import files of the skill, packages in its \
                 `node_modules`, and Node's built-in modules {}",
                builtins::names().collect::<Vec<_>>().join(", ")
            );
            return Err(missing(message, kind, context));
        }
    };
    let path = Host::of(context).absolute(&path);
    find_file(&path).map(Target::File).ok_or_else(|| {
        let message = match kind {
            ImportKind::Require => format!("Cannot find module '{specifier}'\nRequire stack:\n- {from}"),
            ImportKind::Import => format!("Cannot find module '{path}' imported from {from}"),
        };
        missing(message, kind, context)
    })
}

pub fn folder_of(file: &str) -> &str {
    match file.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((folder, _)) => folder,
    }
}

fn is_relative(specifier: &str) -> bool {
    matches!(specifier, "." | "..") || specifier.starts_with("./") || specifier.starts_with("../")
}

pub fn find_file(path: &str) -> Option<String> {
    let is_file = |path: &str| Path::new(path).is_file();
    if is_file(path) {
        return Some(path.to_owned());
    }
    // TypeScript imports use the extension of the compiled file, which does not exist here.
    let written_as = [(".js", ".ts"), (".mjs", ".mts"), (".cjs", ".cts")];
    let compiled = written_as.iter().find_map(|(js, ts)| path.strip_suffix(js).map(|stem| format!("{stem}{ts}")));
    if let Some(compiled) = compiled.filter(|path| is_file(path)) {
        return Some(compiled);
    }
    if let Some(found) = ENDINGS.iter().map(|ending| format!("{path}{ending}")).find(|path| is_file(path)) {
        return Some(found);
    }
    if !Path::new(path).is_dir() {
        return None;
    }
    main_of(path)
        .and_then(|main| find_file(&format!("{path}/{}", main.trim_start_matches("./"))))
        .or_else(|| ENDINGS.iter().map(|ending| format!("{path}/index{ending}")).find(|path| is_file(path)))
}

/// Returns the `main` of a `package.json`, without a full JSON parser.
fn main_of(folder: &str) -> Option<String> {
    let text = fs::read_to_string(format!("{folder}/package.json")).ok()?;
    let value = text.split_once("\"main\"")?.1.trim_start().strip_prefix(':')?.trim_start();
    value.strip_prefix('"')?.split_once('"').map(|(main, _)| main.to_owned())
}

/// Decodes percent-encoding.
fn decode(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = (first == b'%').then(|| tail.get(..2)).flatten();
        let escaped = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn missing(message: String, kind: ImportKind, context: &mut Context) -> JsError {
    let error = JsNativeError::error().with_message(message).into_opaque(context);
    let code = if kind == ImportKind::Require { "MODULE_NOT_FOUND" } else { "ERR_MODULE_NOT_FOUND" };
    // A new error object accepts any property.
    _ = error.create_data_property(js_string!("code"), js_string!(code), context);
    JsError::from_opaque(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiled_name_finds_its_source() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let root = folder.path().to_str().expect("paths here are text");
        fs::create_dir(format!("{root}/lib")).expect("empty");
        fs::write(format!("{root}/a.ts"), "").expect("writable");
        fs::write(format!("{root}/lib/start.js"), "").expect("writable");
        fs::write(format!("{root}/lib/package.json"), r#"{ "main": "./start.js" }"#).expect("writable");
        assert_eq!(find_file(&format!("{root}/a.js")), Some(format!("{root}/a.ts")));
        assert_eq!(find_file(&format!("{root}/a")), Some(format!("{root}/a.ts")));
        assert_eq!(find_file(&format!("{root}/lib")), Some(format!("{root}/lib/start.js")));
        assert_eq!(find_file(&format!("{root}/b")), None);
    }

    #[test]
    fn urls_are_decoded() {
        assert_eq!(decode("/a%20b%zz"), "/a b%zz");
    }
}
