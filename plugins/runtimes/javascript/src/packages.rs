//! Finds packages in the folders `node_modules` of a skill.

use std::path::Path;

use boa_engine::object::builtins::JsArray;
use boa_engine::{Context, JsObject, JsResult, JsValue, js_string};

use crate::commonjs::parse_json;
use crate::resolve::{ImportKind, find_file, folder_of};

/// Returns the file that a name such as `pad` or `@scope/pad/left.js` means.
pub fn find(specifier: &str, from: &str, kind: ImportKind, context: &mut Context) -> Option<String> {
    let name_ends = specifier.match_indices('/').nth(usize::from(specifier.starts_with('@'))).map(|(end, _)| end);
    let (name, below) = specifier.split_at(name_ends.unwrap_or(specifier.len()));
    if name.is_empty() || name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return None;
    }
    let mut folder = folder_of(from);
    loop {
        let package = format!("{}/node_modules/{name}", folder.trim_end_matches('/'));
        if Path::new(&package).is_dir() {
            return find_in(&package, below, kind, context);
        }
        if folder == "/" {
            return None;
        }
        folder = folder_of(folder);
    }
}

/// `below` is empty, or starts with `/`.
fn find_in(package: &str, below: &str, kind: ImportKind, context: &mut Context) -> Option<String> {
    match exports(package, context) {
        Some(exports) => {
            let target = target(&exports, &format!(".{below}"), kind, context).ok().flatten()?;
            find_file(&format!("{package}/{}", target.strip_prefix("./")?))
        }
        None => find_file(&format!("{package}{below}")),
    }
}

fn exports(package: &str, context: &mut Context) -> Option<JsValue> {
    let text = std::fs::read_to_string(format!("{package}/package.json")).ok()?;
    let description = parse_json(js_string!(text), context).ok()?;
    let exports = description.as_object()?.get(js_string!("exports"), context).ok()?;
    (!exports.is_null_or_undefined()).then_some(exports)
}

/// Looks a path of a package up in its `exports`.
fn target(exports: &JsValue, path: &str, kind: ImportKind, context: &mut Context) -> JsResult<Option<String>> {
    let paths = match exports.as_object() {
        Some(object) if keys(&object, context)?.iter().any(|key| key.starts_with('.')) => object,
        _ if path == "." => return chosen(exports, kind, context),
        _ => return Ok(None),
    };
    let exact = paths.get(js_string!(path), context)?;
    if !exact.is_undefined() {
        return chosen(&exact, kind, context);
    }
    // The longest pattern that fits wins.
    let mut patterns = keys(&paths, context)?;
    patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.len()));
    for pattern in patterns {
        let matched =
            pattern.split_once('*').and_then(|(before, after)| path.strip_prefix(before)?.strip_suffix(after));
        if let Some(matched) = matched {
            let value = paths.get(js_string!(pattern.as_str()), context)?;
            return Ok(chosen(&value, kind, context)?.map(|target| target.replace('*', matched)));
        }
    }
    Ok(None)
}

/// Follows the conditions of an entry: the first one that holds here.
fn chosen(entry: &JsValue, kind: ImportKind, context: &mut Context) -> JsResult<Option<String>> {
    if let Some(text) = entry.as_string() {
        return Ok(Some(text.to_std_string_lossy()));
    }
    let Some(object) = entry.as_object() else { return Ok(None) };
    if let Ok(list) = JsArray::from_object(object.clone()) {
        let first = list.get(0, context)?;
        return chosen(&first, kind, context);
    }
    let own = if kind == ImportKind::Require { "require" } else { "import" };
    for key in keys(&object, context)? {
        if key == own || key == "node" || key == "default" {
            let value = object.get(js_string!(key), context)?;
            if let Some(found) = chosen(&value, kind, context)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

fn keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<String>> {
    let keys = object.own_property_keys(context)?;
    Ok(keys.iter().map(ToString::to_string).collect())
}
