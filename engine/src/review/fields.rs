//! Fields that are served as they are, and still not what they should be.

use super::front::{Front, find};
use super::{Draft, Found, mends};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::format;
use crate::frontmatter::Fields;
use crate::json;
use crate::place::Place;
use crate::problem::{Finding, quote};
use crate::text::edit_distance;
use crate::yaml::{Entry, Node, Value};

/// Every key that means something, at the top and in entries.
const KEYS: [&str; 12] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "keywords",
    "inherit",
    "priority",
    "aliases",
    "assets",
    "scripts",
];
const ASSET_KEYS: [&str; 3] = ["file", "description", "type"];
const SCRIPT_KEYS: [&str; 5] = ["file", "description", "execution", "args", "needs"];
const ARGUMENT_KEYS: [&str; 3] = ["name", "description", "required"];

pub fn fields(draft: &Draft<'_>, front: &Front) -> Vec<Found> {
    let mut found = misspelt(front.fields.entries(), &KEYS);
    if front.model == SkillModel::Folder {
        found.extend(name(draft, front));
        found.extend(off_format(&front.fields).into_iter().map(Found::from));
    }
    for item in front.items("assets") {
        found.extend(misspelt(item.fields, &ASSET_KEYS));
        found.extend(["description", "type"].into_iter().filter_map(|key| no_text(item.fields, key)));
    }
    for item in front.items("scripts") {
        found.extend(misspelt(item.fields, &SCRIPT_KEYS));
        found.extend(no_text(item.fields, "description"));
        if let Some(Value::List(arguments)) = find(item.fields, "args").map(|node| &node.value) {
            for argument in arguments {
                let Value::Map(fields) = &argument.value else { continue };
                found.extend(misspelt(fields, &ARGUMENT_KEYS));
                found.extend(no_text(fields, "description"));
                found.extend(no_flag(fields, "required"));
            }
        }
    }
    found
}

/// A name of the right letters that is still none, as in `-a` and `a--b`.
fn name(draft: &Draft<'_>, front: &Front) -> Option<Found> {
    let entry = front.fields.get("name")?;
    let name = entry.node.as_text()?.trim();
    let has_right_letters = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !has_right_letters || name.len() > format::LONGEST_NAME || format::is_name(name) {
        return None;
    }
    let message = format!("the name `{}` begins or ends with `-`, or has two of them in a row", quote(name));
    let finding = Finding::warning("bad-name", message, "put single `-` between words").at(entry.node.place);
    Some(Found { finding, edits: mends::rename(draft, front) })
}

/// The rules of the Agent Skills format about texts.
fn off_format(fields: &Fields) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut tell = |place: Place, message: String, advice: &str| {
        findings.push(Finding::warning("off-format", message, advice).at(place));
    };
    for key in ["license", "allowed-tools", "compatibility"] {
        match fields.first(key).map(|node| (node, json::as_text(node).map(|text| text.chars().count()))) {
            Some((node, None)) => tell(node.place, format!("`{key}` is no text"), "write one text, in quotes"),
            Some((node, Some(length)))
                if key == "compatibility" && !(1..=format::LONGEST_COMPATIBILITY).contains(&length) =>
            {
                let message = format!(
                    "`compatibility` has {length} characters, and 1 to {} are allowed",
                    format::LONGEST_COMPATIBILITY
                );
                tell(node.place, message, "say in a sentence what the skill needs, or remove it");
            }
            _ => {}
        }
    }
    match fields.first("metadata") {
        Some(Node { value: Value::Map(entries), .. }) => {
            for entry in entries.iter().filter(|entry| json::as_text(&entry.node).is_none()) {
                let message = format!("`metadata.{}` is no text", quote(&entry.key));
                let advice = match entry.node.value {
                    Value::List(_) => "write the words in one text with commas",
                    _ => "put quotes around it",
                };
                tell(entry.node.place, message, advice);
            }
        }
        Some(node) => {
            tell(node.place, "`metadata` is no map of texts".to_owned(), "write `key: \"text\"` lines below it");
        }
        None => {}
    }
    findings
}

/// Keys that mean nothing and are nearly one that does.
fn misspelt(entries: &[Entry], known: &[&str]) -> Vec<Found> {
    let wrong = |entry: &&Entry| !known.contains(&entry.key.as_str());
    let found = entries.iter().filter(wrong).filter_map(|entry| {
        let written = quote(&entry.key.to_lowercase().replace('_', "-"));
        let close = |known: &&&str| {
            let far = if known.len() > 5 { 2 } else { 1 };
            edit_distance(&written, known) <= far && !entries.iter().any(|entry| entry.key == **known)
        };
        let close = known.iter().find(close)?;
        let message = format!("`{}` means nothing here", quote(&entry.key));
        Some(Finding::warning("unknown-key", message, format!("perhaps `{close}` was meant")).at(entry.place).into())
    });
    found.collect()
}

fn no_text(entries: &[Entry], key: &str) -> Option<Found> {
    let node = find(entries, key).filter(|node| matches!(node.value, Value::List(_) | Value::Map(_)))?;
    let finding = Finding::warning("wrong-type", format!("`{key}` is no text, so it is ignored"), "write a text");
    Some(finding.at(node.place).into())
}

fn no_flag(entries: &[Entry], key: &str) -> Option<Found> {
    let is_flag = |node: &Node| node.as_bool().is_some() || matches!(node.as_text(), Some("true" | "false"));
    let node = find(entries, key).filter(|node| !node.is_null() && !is_flag(node))?;
    let message = format!("`{key}` is neither `true` nor `false`, so `true` is assumed");
    Some(Finding::warning("wrong-type", message, "write `true` or `false`").at(node.place).into())
}
