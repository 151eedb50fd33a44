//! Fields that are accepted but not as they should be.

use super::front::{Front, find};
use super::{Diagnostic, Draft, fixes};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::format;
use crate::frontmatter::Fields;
use crate::json;
use crate::place::Place;
use crate::problem::{Finding, quote};
use crate::text::edit_distance;
use crate::yaml::{Entry, Node, Value};

/// Known keys, at the top level and in entries.
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
/// Fields of the tree model, which below `metadata` may be what they are at the top level.
const TREE_KEYS: [&str; 6] = ["keywords", "inherit", "priority", "aliases", "assets", "scripts"];
const ASSET_KEYS: [&str; 3] = ["file", "description", "type"];
const SCRIPT_KEYS: [&str; 5] = ["file", "description", "execution", "args", "needs"];
const ARGUMENT_KEYS: [&str; 3] = ["name", "description", "required"];

pub fn fields(draft: &Draft<'_>, front: &Front) -> Vec<Diagnostic> {
    let mut found = misspelled(front.fields.entries(), &KEYS);
    if front.model == SkillModel::Folder {
        found.extend(name(draft, front));
        found.extend(off_format(&front.fields).into_iter().map(Diagnostic::from));
    }
    for item in front.items("assets") {
        found.extend(misspelled(item.fields, &ASSET_KEYS));
        found.extend(["description", "type"].into_iter().filter_map(|key| not_text(item.fields, key)));
    }
    for item in front.items("scripts") {
        found.extend(misspelled(item.fields, &SCRIPT_KEYS));
        found.extend(not_text(item.fields, "description"));
        if let Some(Value::List(arguments)) = find(item.fields, "args").map(|node| &node.value) {
            for argument in arguments {
                let Value::Map(fields) = &argument.value else { continue };
                found.extend(misspelled(fields, &ARGUMENT_KEYS));
                found.extend(not_text(fields, "description"));
                found.extend(not_flag(fields, "required"));
            }
        }
    }
    found
}

/// Reports a name of valid characters that is still invalid, such as `-a` or `a--b`.
fn name(draft: &Draft<'_>, front: &Front) -> Option<Diagnostic> {
    let entry = front.fields.get("name")?;
    let name = entry.node.as_text()?.trim();
    let has_right_letters = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !has_right_letters || name.len() > format::MAX_NAME || format::is_name(name) {
        return None;
    }
    let message = format!("the name `{}` begins or ends with `-`, or has two of them in a row", quote(name));
    let finding = Finding::warning("bad-name", message, "put single `-` between words").at(entry.node.place);
    Some(Diagnostic { finding, edits: fixes::rename(draft, front) })
}

/// Checks the rules of the Agent Skills format for text fields.
fn off_format(fields: &Fields) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |place: Place, message: String, advice: &str| {
        findings.push(Finding::warning("off-format", message, advice).at(place));
    };
    for key in ["license", "allowed-tools", "compatibility"] {
        match fields.first(key).map(|node| (node, json::as_text(node).map(|text| text.chars().count()))) {
            Some((node, None)) => report(node.place, format!("`{key}` is not text"), "write a quoted string"),
            Some((node, Some(length)))
                if key == "compatibility" && !(1..=format::MAX_COMPATIBILITY).contains(&length) =>
            {
                let message = format!(
                    "`compatibility` has {length} characters, and 1 to {} are allowed",
                    format::MAX_COMPATIBILITY
                );
                report(node.place, message, "say in a sentence what the skill needs, or remove it");
            }
            _ => {}
        }
    }
    match fields.first("metadata") {
        Some(Node { value: Value::Map(entries), .. }) => {
            let others = entries.iter().filter(|entry| !TREE_KEYS.contains(&entry.key.as_str()));
            for entry in others.filter(|entry| json::as_text(&entry.node).is_none()) {
                let message = format!("`metadata.{}` is not text", quote(&entry.key));
                let advice = match entry.node.value {
                    Value::List(_) => "write one string with commas between the words",
                    _ => "put quotes around it",
                };
                report(entry.node.place, message, advice);
            }
        }
        Some(node) => {
            report(node.place, "`metadata` is not a map of strings".to_owned(), "write `key: \"text\"` lines below it");
        }
        None => {}
    }
    findings
}

/// Reports unknown keys that are similar to a known one.
fn misspelled(entries: &[Entry], known: &[&str]) -> Vec<Diagnostic> {
    let wrong = |entry: &&Entry| !known.contains(&entry.key.as_str());
    let found = entries.iter().filter(wrong).filter_map(|entry| {
        let written = quote(&entry.key.to_lowercase().replace('_', "-"));
        let close = |known: &&&str| {
            let far = if known.len() > 5 { 2 } else { 1 };
            edit_distance(&written, known) <= far && !entries.iter().any(|entry| entry.key == **known)
        };
        let close = known.iter().find(close)?;
        let message = format!("`{}` is not a known key", quote(&entry.key));
        Some(Finding::warning("unknown-key", message, format!("did you mean `{close}`?")).at(entry.place).into())
    });
    found.collect()
}

fn not_text(entries: &[Entry], key: &str) -> Option<Diagnostic> {
    let node = find(entries, key).filter(|node| matches!(node.value, Value::List(_) | Value::Map(_)))?;
    let finding = Finding::warning("wrong-type", format!("`{key}` is not text, so it is ignored"), "write a string");
    Some(finding.at(node.place).into())
}

fn not_flag(entries: &[Entry], key: &str) -> Option<Diagnostic> {
    let is_flag = |node: &Node| node.as_bool().is_some() || matches!(node.as_text(), Some("true" | "false"));
    let node = find(entries, key).filter(|node| !node.is_null() && !is_flag(node))?;
    let message = format!("`{key}` is neither `true` nor `false`, so `true` is assumed");
    Some(Finding::warning("wrong-type", message, "write `true` or `false`").at(node.place).into())
}
