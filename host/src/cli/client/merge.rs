//! Putting an entry into the text of a file, and taking it out again.

use super::document::Malformed;
use super::entry::Entry;
use super::places::{Client, Place};
use super::setting::Setting;
use crate::printable::printable_up_to;
use serde_json::Value;

/// What was there already counts as the same if it agrees in these. The rest is for people to add.
const DECISIVE: [&str; 3] = ["type", "command", "args"];

/// Members of an entry for a server that is not started but reached.
const ADDRESSES: [&str; 2] = ["url", "httpUrl"];

/// Longest line of a difference, in characters.
const LONGEST: usize = 1_000;

/// What an entry becomes in a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Merged {
    /// It was not there.
    Added(String),
    /// It said something else.
    Replaced(String),
    /// It is there and says the same.
    Same,
    /// It says something else, and nobody said that it may be replaced: what it says, and what it would say.
    Differs(Vec<String>),
}

/// Why nothing can be merged.
#[derive(Debug, thiserror::Error)]
pub enum NoMerge {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error("`{0}` is there and is no group of servers")]
    WrongPlace(&'static str),
    #[error("it holds no group in braces, as settings do")]
    NoGroup,
    /// A mistake of ours, which must not reach the disk.
    #[error("the change would have touched more than the entry")]
    Careless,
}

pub fn put(text: &str, place: &Place, client: Client, entry: &Entry, force: bool) -> Result<Merged, NoMerge> {
    let (format, servers, name) = (place.format, place.servers, entry.name.as_str());
    let members = entry.settings(client);
    let found = match entries(&format.read(text)?, servers)? {
        Some(entries) => entries.get(name).cloned(),
        None => None,
    };
    let Some(found) = found else {
        let added = format.set(text, &[servers], name, &Setting::Group(members))?;
        return checked(text, place, name, added).map(Merged::Added);
    };
    let differences = differences(&found, &members);
    if differences.is_empty() {
        return Ok(Merged::Same);
    }
    if !force {
        return Ok(Merged::Differs(differences));
    }
    let mut replaced = text.to_owned();
    if found.is_object() {
        let path = [servers, name];
        for (key, setting) in members.iter().filter(|(key, _)| DECISIVE.contains(&key.as_str())) {
            if found.get(key) != Some(&setting.value()) {
                replaced = format.set(&replaced, &path, key, setting)?;
            }
        }
        for address in ADDRESSES.into_iter().filter(|address| found.get(address).is_some()) {
            replaced = format.remove(&replaced, &path, address)?;
        }
    } else {
        replaced = format.set(&replaced, &[servers], name, &Setting::Group(members))?;
    }
    checked(text, place, name, replaced).map(Merged::Replaced)
}

/// The text without an entry; nothing if it has none of this name.
pub fn take(text: &str, place: &Place, name: &str) -> Result<Option<String>, NoMerge> {
    let read = place.format.read(text)?;
    if entries(&read, place.servers)?.is_none_or(|entries| !entries.contains_key(name)) {
        return Ok(None);
    }
    let taken = place.format.remove(text, &[place.servers], name)?;
    checked(text, place, name, taken).map(Some)
}

/// The servers that a file names, if it names any.
pub fn entries<'a>(
    read: &'a Value,
    servers: &'static str,
) -> Result<Option<&'a serde_json::Map<String, Value>>, NoMerge> {
    match read.get(servers) {
        // Nothing but a group has members.
        None if read.is_object() => Ok(None),
        None => Err(NoMerge::NoGroup),
        Some(Value::Object(entries)) => Ok(Some(entries)),
        Some(_) => Err(NoMerge::WrongPlace(servers)),
    }
}

/// A line for what each member says, and one for what it would say, where these differ.
fn differences(found: &Value, wanted: &[(String, Setting)]) -> Vec<String> {
    if !found.is_object() {
        return vec!["- no entry of a server".to_owned()];
    }
    let mut lines = Vec::new();
    let mut tell = |sign: char, key: &str, value: &Value| {
        lines.push(printable_up_to(&format!("{sign} {key}: {value}"), LONGEST));
    };
    for address in ADDRESSES {
        if let Some(value) = found.get(address) {
            tell('-', address, value);
        }
    }
    for (key, setting) in wanted.iter().filter(|(key, _)| DECISIVE.contains(&key.as_str())) {
        let wanted = setting.value();
        match found.get(key) {
            Some(found) if *found == wanted => {}
            // Whoever names a command and no type means the same.
            None if key == "type" && found.get("command").is_some() => {}
            found => {
                if let Some(found) = found {
                    tell('-', key, found);
                }
                tell('+', key, &wanted);
            }
        }
    }
    lines
}

/// The changed text, if it says all that the one before said, apart from the entry.
fn checked(before: &str, place: &Place, name: &str, after: String) -> Result<String, NoMerge> {
    let rest = |text: &str| -> Result<Value, NoMerge> {
        let mut read = place.format.read(text)?;
        if let Some(entries) = read.get_mut(place.servers).and_then(Value::as_object_mut) {
            entries.remove(name);
        }
        // Whether there is an empty group or none is the same to everybody.
        if let Some(all) = read.as_object_mut()
            && all.get(place.servers).and_then(Value::as_object).is_some_and(serde_json::Map::is_empty)
        {
            all.remove(place.servers);
        }
        Ok(read)
    };
    if rest(before)? == rest(&after)? { Ok(after) } else { Err(NoMerge::Careless) }
}

#[cfg(test)]
mod tests;
