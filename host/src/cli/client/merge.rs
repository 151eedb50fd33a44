//! Inserts an entry into the text of a settings file, and removes it.

use super::config_files::{Client, ConfigFile};
use super::document::{Members, ParseError};
use super::entry::Entry;
use super::report::Outcome;
use base::printable::printable_up_to;
use serde_json::Value;

/// An existing entry counts as the same if these keys agree. Users may add others.
const COMPARED_KEYS: [&str; 3] = ["type", "command", "args"];

/// Keys of an entry for a server reached over HTTP.
const URL_KEYS: [&str; 2] = ["url", "httpUrl"];

/// The longest line of a difference, in characters.
const MAX_LENGTH: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error(transparent)]
    Parse(#[from] ParseError),
    #[error("`{0}` exists but is not an object of servers")]
    NotAnObject(&'static str),
    #[error("the top level is not an object")]
    RootNotAnObject,
    /// A bug in the editing code, which must not reach the disk.
    #[error("the edit would have changed more than the entry")]
    SideEffect,
}

/// Returns the text with the entry, unless it is there or a different one may not be replaced.
pub fn insert_entry(
    text: &str,
    file: &ConfigFile,
    client: Client,
    entry: &Entry,
    force: bool,
) -> Result<(Outcome, Option<String>), MergeError> {
    let (format, servers, name) = (file.format, file.servers, entry.name.as_str());
    let members = entry.members(client);
    let existing = entries(&format.read(text)?, servers)?.and_then(|entries| entries.get(name).cloned());
    let Some(existing) = existing else {
        let added = format.edit(text, &[servers], name, Some(&members))?;
        return Ok((Outcome::Added, Some(verified(text, file, name, added)?)));
    };
    let differences = differences(&existing, &members);
    if differences.is_empty() {
        return Ok((Outcome::Same, None));
    }
    if !force {
        return Ok((Outcome::Differs(differences), None));
    }
    let mut replaced = text.to_owned();
    if existing.is_object() {
        let path = [servers, name];
        let compared = members.0.iter().filter(|(key, _)| COMPARED_KEYS.contains(key));
        for (key, value) in compared.filter(|(key, value)| existing.get(key) != Some(value)) {
            replaced = format.edit(&replaced, &path, key, Some(value))?;
        }
        for key in URL_KEYS.into_iter().filter(|key| existing.get(key).is_some()) {
            replaced = format.edit(&replaced, &path, key, None::<&Value>)?;
        }
    } else {
        replaced = format.edit(&replaced, &[servers], name, Some(&members))?;
    }
    Ok((Outcome::Replaced, Some(verified(text, file, name, replaced)?)))
}

/// Returns the text without the entry, if there is one of this name.
pub fn remove_entry(text: &str, file: &ConfigFile, name: &str) -> Result<(Outcome, Option<String>), MergeError> {
    let settings = file.format.read(text)?;
    if entries(&settings, file.servers)?.is_none_or(|entries| !entries.contains_key(name)) {
        return Ok((Outcome::Absent, None));
    }
    let removed = file.format.edit(text, &[file.servers], name, None::<&Value>)?;
    Ok((Outcome::Removed, Some(verified(text, file, name, removed)?)))
}

/// The servers in the settings of a client, if there are any.
pub fn entries<'a>(
    settings: &'a Value,
    servers: &'static str,
) -> Result<Option<&'a serde_json::Map<String, Value>>, MergeError> {
    match settings.get(servers) {
        None if settings.is_object() => Ok(None),
        None => Err(MergeError::RootNotAnObject),
        Some(Value::Object(entries)) => Ok(Some(entries)),
        Some(_) => Err(MergeError::NotAnObject(servers)),
    }
}

/// The compared keys that differ, one line for the existing value and one for the new one.
fn differences(existing: &Value, new: &Members) -> Vec<String> {
    if !existing.is_object() {
        return vec!["- not an object".to_owned()];
    }
    let mut lines = Vec::new();
    let mut add_line = |sign: char, key: &str, value: &Value| {
        lines.push(printable_up_to(&format!("{sign} {key}: {value}"), MAX_LENGTH));
    };
    for (key, value) in URL_KEYS.into_iter().filter_map(|key| Some((key, existing.get(key)?))) {
        add_line('-', key, value);
    }
    for (key, new) in new.0.iter().filter(|(key, _)| COMPARED_KEYS.contains(key)) {
        match existing.get(key) {
            Some(old) if old == new => {}
            // The default type of an entry with a command.
            None if *key == "type" && existing.get("command").is_some() => {}
            old => {
                if let Some(old) = old {
                    add_line('-', key, old);
                }
                add_line('+', key, new);
            }
        }
    }
    lines
}

/// Returns the new text if it differs from the old one only in the entry.
fn verified(before: &str, file: &ConfigFile, name: &str, after: String) -> Result<String, MergeError> {
    let rest = |text: &str| -> Result<Value, MergeError> {
        let mut settings = file.format.read(text)?;
        if let Some(entries) = settings.get_mut(file.servers).and_then(Value::as_object_mut) {
            entries.remove(name);
        }
        // An empty object means the same as none.
        if let Some(all) = settings.as_object_mut()
            && all.get(file.servers).and_then(Value::as_object).is_some_and(serde_json::Map::is_empty)
        {
            all.remove(file.servers);
        }
        Ok(settings)
    };
    if rest(before)? == rest(&after)? { Ok(after) } else { Err(MergeError::SideEffect) }
}

#[cfg(test)]
mod tests;
