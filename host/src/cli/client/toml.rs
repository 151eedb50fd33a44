//! Changes one key in TOML and keeps every other line.

use super::document::ParseError;
use serde::Serialize;
use serde_json::Value;
use toml_edit::ser::ValueSerializer;
use toml_edit::{DocumentMut, Item, Table, TableLike};

pub fn read(text: &str) -> Result<Value, ParseError> {
    toml_edit::de::from_document(parse(text)?).map_err(|error| ParseError::at(text, 0, error.message()))
}

pub fn edit(text: &str, path: &[&str], key: &str, value: Option<&impl Serialize>) -> Result<String, ParseError> {
    let mut document = parse(text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for step in path {
        if value.is_none() && !table.contains_key(step) {
            return Ok(text.to_owned());
        }
        let mut fresh = Table::new();
        // Without a `[header]` line.
        fresh.set_implicit(true);
        let next = table.entry(step).or_insert(Item::Table(fresh));
        table = next.as_table_like_mut().ok_or_else(|| ParseError::at(text, 0, format!("`{step}` is not a table")))?;
    }
    let Some(value) = value else {
        let Some(removed) = table.remove(key) else { return Ok(text.to_owned()) };
        return Ok(keep_lines(text, &document.to_string(), &comments_above(&removed)));
    };
    let mut item = item(value);
    match table.get_mut(key) {
        Some(old) => {
            if let (Some(old), Some(new)) = (old.as_value(), item.as_value_mut()) {
                *new.decor_mut() = old.decor().clone();
            }
            // `insert` would replace the key too, and lose the comments above it.
            *old = item;
        }
        None => drop(table.insert(key, item)),
    }
    Ok(keep_lines(text, &document.to_string(), ""))
}

fn parse(text: &str) -> Result<DocumentMut, ParseError> {
    let parse_error =
        |error: toml_edit::TomlError| ParseError::at(text, error.span().map_or(0, |span| span.start), error.message());
    text.parse().map_err(parse_error)
}

/// An object becomes a table with a header.
fn item(value: &impl Serialize) -> Item {
    let value = value.serialize(ValueSerializer::new()).expect("settings are plain data");
    Item::Value(value).into_table().map_or_else(|item| item, Item::Table)
}

/// The comments between the previous table and the header of this one, which may not belong to it.
fn comments_above(removed: &Item) -> String {
    let above = removed.as_table().and_then(|table| table.decor().prefix()).and_then(|prefix| prefix.as_str());
    above.filter(|above| above.contains('#')).unwrap_or_default().trim_start().to_owned()
}

/// Returns the edited text with the original lines before and after the edit, and with `comments` kept in between.
///
/// `toml_edit` rewrites every line and normalizes line endings.
fn keep_lines(original: &str, edited: &str, comments: &str) -> String {
    let newline = if original.contains("\r\n") { "\r\n" } else { "\n" };
    let content = |line: &&str| line.trim_end_matches(['\r', '\n']).to_owned();
    let (old, new): (Vec<&str>, Vec<&str>) =
        (original.split_inclusive('\n').collect(), edited.split_inclusive('\n').collect());
    let same = |pair: &(&&str, &&str)| content(pair.0) == content(pair.1);
    let before = old.iter().zip(&new).take_while(same).count();
    let after = old[before..].iter().rev().zip(new[before..].iter().rev()).take_while(same).count();
    let middle = comments.lines().map(str::to_owned).chain(new[before..new.len() - after].iter().map(content));
    let mut kept = old[..before].concat();
    for line in middle {
        if !kept.is_empty() && !kept.ends_with('\n') {
            kept.push_str(newline);
        }
        kept.push_str(&line);
        kept.push_str(newline);
    }
    kept + &old[old.len() - after..].concat()
}

#[cfg(test)]
mod tests;
