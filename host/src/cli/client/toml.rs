//! Changing one thing in TOML: every line that is not about it stays as it was.

use super::document::Malformed;
use super::setting::Setting;
use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

pub fn read(text: &str) -> Result<Value, Malformed> {
    Ok(group(parse(text)?.as_table()))
}

pub fn set(text: &str, path: &[&str], key: &str, setting: &Setting) -> Result<String, Malformed> {
    let mut document = parse(text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for step in path {
        let mut fresh = Table::new();
        // It needs no line of its own.
        fresh.set_implicit(true);
        let found = table.entry(step).or_insert(Item::Table(fresh));
        table =
            found.as_table_like_mut().ok_or_else(|| Malformed { line: 1, what: format!("`{step}` is no table") })?;
    }
    let mut item = item(setting);
    match table.get_mut(key) {
        Some(old) => {
            if let (Some(old), Some(new)) = (old.as_value(), item.as_value_mut()) {
                *new.decor_mut() = old.decor().clone();
            }
            // Inserting it would write the key anew too, without the comments above it.
            *old = item;
        }
        None => drop(table.insert(key, item)),
    }
    Ok(lines_kept(text, &document.to_string(), ""))
}

pub fn remove(text: &str, path: &[&str], key: &str) -> Result<String, Malformed> {
    let mut document = parse(text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for step in path {
        let Some(next) = table.get_mut(step).and_then(Item::as_table_like_mut) else { return Ok(text.to_owned()) };
        table = next;
    }
    let Some(removed) = table.remove(key) else { return Ok(text.to_owned()) };
    Ok(lines_kept(text, &document.to_string(), &comments_above(&removed)))
}

fn parse(text: &str) -> Result<DocumentMut, Malformed> {
    let malformed =
        |error: toml_edit::TomlError| Malformed::at(text, error.span().map_or(0, |place| place.start), error.message());
    text.parse().map_err(malformed)
}

fn item(setting: &Setting) -> Item {
    match setting {
        Setting::Word(word) => toml_edit::value(word),
        Setting::List(words) => toml_edit::value(words.iter().collect::<Array>()),
        Setting::Group(members) => {
            Item::Table(members.iter().map(|(key, member)| (key.as_str(), item(member))).collect())
        }
    }
}

fn group(table: &dyn TableLike) -> Value {
    table.iter().map(|(key, item)| (key.to_owned(), value(item))).collect()
}

fn value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(table) => group(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| group(table)).collect(),
        Item::Value(value) => plain(value),
    }
}

fn plain(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => Value::from(*number.value()),
        toml_edit::Value::Boolean(truth) => Value::from(*truth.value()),
        toml_edit::Value::Datetime(moment) => Value::from(moment.value().to_string()),
        toml_edit::Value::Array(values) => values.iter().map(plain).collect(),
        toml_edit::Value::InlineTable(table) => group(table),
    }
}

/// What stands between the table before and this one's own line. Somebody may have meant it for something else.
fn comments_above(removed: &Item) -> String {
    let above = removed.as_table().and_then(|table| table.decor().prefix()).and_then(|prefix| prefix.as_str());
    above.filter(|above| above.contains('#')).unwrap_or_default().trim_start().to_owned()
}

/// The changed text, with the very lines of the original before and behind the change, and with what is to `stay` in its place.
///
/// `toml_edit` writes each line anew, with an end of its own.
fn lines_kept(original: &str, changed: &str, stay: &str) -> String {
    let newline = if original.contains("\r\n") { "\r\n" } else { "\n" };
    let content = |line: &&str| line.trim_end_matches(['\r', '\n']).to_owned();
    let (old, new): (Vec<&str>, Vec<&str>) =
        (original.split_inclusive('\n').collect(), changed.split_inclusive('\n').collect());
    let same = |pair: &(&&str, &&str)| content(pair.0) == content(pair.1);
    let before = old.iter().zip(&new).take_while(same).count();
    let behind = old[before..].iter().rev().zip(new[before..].iter().rev()).take_while(same).count();
    let middle = stay.lines().map(str::to_owned).chain(new[before..new.len() - behind].iter().map(content));
    let mut kept = String::with_capacity(changed.len() + 512);
    for line in &old[..before] {
        kept.push_str(line);
    }
    for line in middle {
        if !kept.is_empty() && !kept.ends_with('\n') {
            kept.push_str(newline);
        }
        kept.push_str(&line);
        kept.push_str(newline);
    }
    for line in &old[old.len() - behind..] {
        kept.push_str(line);
    }
    kept
}

#[cfg(test)]
mod tests;
