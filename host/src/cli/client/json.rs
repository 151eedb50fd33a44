//! Changing one thing in JSON: every other byte, comments included, stays as it was.

mod layout;
mod surrogates;

use super::document::{Format, Malformed};
use super::setting::Setting;
use jsonc_parser::ast::{self, Object, ObjectProp};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use layout::Layout;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::ops::Range;
use surrogates::without_lone;

/// A part of the text, and what takes its place.
type Edit = (Range<usize>, String);

pub fn read(text: &str, format: Format) -> Result<Value, Malformed> {
    Ok(parse(&without_lone(text), format)?.map_or_else(|| Value::Object(serde_json::Map::new()), Value::from))
}

pub fn set(text: &str, format: Format, path: &[&str], key: &str, setting: &Setting) -> Result<String, Malformed> {
    let paired = without_lone(text);
    let Some(value) = parse(&paired, format)? else {
        // There may be comments, which stay.
        let gap = if text.trim().is_empty() || text.ends_with('\n') { "" } else { "\n" };
        let comments = if text.trim().is_empty() { "" } else { text };
        return set(&format!("{comments}{gap}{{}}\n"), format, path, key, setting);
    };
    let root = group(text, &value)?;
    let layout = Layout::of(text, root);
    let mut object = root;
    for (depth, step) in path.iter().enumerate() {
        let Some(found) = member(text, object, step)? else {
            let inner = path[depth + 1..].iter().rev();
            let all = inner.fold(Setting::within(key, setting.clone()), |inner, step| Setting::within(step, inner));
            return Ok(applied(text, layout.insertion(text, object, step, &all)));
        };
        object = group(text, &found.value)?;
    }
    let edits = match member(text, object, key)? {
        Some(found) => vec![layout.replacement(text, found, setting)],
        None => layout.insertion(text, object, key, setting),
    };
    Ok(applied(text, edits))
}

pub fn remove(text: &str, format: Format, path: &[&str], key: &str) -> Result<String, Malformed> {
    let paired = without_lone(text);
    let Some(value) = parse(&paired, format)? else { return Ok(text.to_owned()) };
    let mut object = group(text, &value)?;
    for step in path {
        let Some(found) = member(text, object, step)? else { return Ok(text.to_owned()) };
        object = group(text, &found.value)?;
    }
    Ok(match member(text, object, key)? {
        Some(found) => applied(text, layout::removal(text, object, found)),
        None => text.to_owned(),
    })
}

fn parse(text: &str, format: Format) -> Result<Option<ast::Value<'_>>, Malformed> {
    let options = ParseOptions {
        allow_comments: format != Format::Json,
        allow_trailing_commas: format == Format::Loose,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    let parsed = parsed.map_err(|error| Malformed { line: error.line_display(), what: error.kind().to_string() })?;
    if format == Format::Json && !text.trim().is_empty() {
        // The parser above lets some things pass that no strict one does.
        let strict = serde_json::from_str::<IgnoredAny>(text);
        strict.map_err(|error| Malformed { line: error.line(), what: error.to_string() })?;
    }
    Ok(parsed.value)
}

fn group<'a, 'b>(text: &str, value: &'b ast::Value<'a>) -> Result<&'b Object<'a>, Malformed> {
    value.as_object().ok_or_else(|| Malformed::at(text, value.start(), "a group in braces is expected here"))
}

/// Of a key that stands there twice nobody can say which one counts.
fn member<'a, 'b>(text: &str, object: &'b Object<'a>, key: &str) -> Result<Option<&'b ObjectProp<'a>>, Malformed> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == key);
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(second) => Err(Malformed::at(text, second.start(), format!("`{key}` stands here for the second time"))),
    }
}

fn applied(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(place, _)| place.start);
    let mut changed = String::with_capacity(text.len() + 512);
    let mut done = 0;
    for (place, replacement) in edits {
        changed.push_str(&text[done..place.start]);
        changed.push_str(&replacement);
        done = place.end;
    }
    changed.push_str(&text[done..]);
    changed
}

#[cfg(test)]
mod tests;
