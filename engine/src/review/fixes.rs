//! Edits that fix problems where only one fix is possible.

use super::front::Front;
use super::{Draft, apply_edits, edit};
use crate::bindings::exports::skillcell::plugin::catalog::{Edit, Problem};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::document;
use crate::format;
use crate::frontmatter::{self, Split};
use crate::json;
use crate::paths;
use crate::yaml::{self, Node, Value};
use std::ops::Range;

/// Returns the edits for a problem; none if the intention is unclear.
pub fn fix(draft: &Draft<'_>, front: &Front, problem: &Problem) -> Vec<Edit> {
    match problem.code.as_str() {
        "bad-name" | "name-differs" => rename(draft, front),
        "missing-name" => add_name(draft, front),
        "bad-yaml" => quote_values(draft.text),
        "missing-keywords" | "wrong-type" => list_words(draft.text, front, problem.line),
        _ => Vec::new(),
    }
}

/// Sets the name to that of the folder.
pub fn rename(draft: &Draft<'_>, front: &Front) -> Vec<Edit> {
    let (Some(folder), Some(entry)) = (folder_name(draft.path), front.fields.get("name")) else { return Vec::new() };
    let Some(value) = range_of(draft.text, &entry.node) else { return Vec::new() };
    let edits = vec![edit(value.start, value.end, &document::name_in_yaml(folder))];
    checked(draft.text, edits, |front| is_named(front, folder))
}

fn add_name(draft: &Draft<'_>, front: &Front) -> Vec<Edit> {
    let Some(folder) = folder_name(draft.path) else { return Vec::new() };
    let name = document::name_in_yaml(folder);
    let Some(range) = yaml_range(draft.text) else { return Vec::new() };
    let edit = match front.fields.first("name") {
        None => {
            let newline = if draft.text[..range.start].ends_with("\r\n") { "\r\n" } else { "\n" };
            edit(range.start, range.start, &format!("name: {name}{newline}"))
        }
        Some(node) if node.is_null() => {
            let key = "name:";
            let lines = draft.text[range.clone()].split_inclusive('\n');
            let mut starts = lines.scan(range.start, |at, line| Some((std::mem::replace(at, *at + line.len()), line)));
            let Some((start, _)) = starts.find(|(_, line)| line.trim_end() == key) else { return Vec::new() };
            edit(start + key.len(), start + key.len(), &format!(" {name}"))
        }
        Some(_) => return Vec::new(),
    };
    checked(draft.text, vec![edit], |front| is_named(front, folder))
}

/// Quotes values with a colon; only those that need it, if that suffices.
fn quote_values(text: &str) -> Vec<Edit> {
    let Some(range) = yaml_range(text) else { return Vec::new() };
    let yaml = &text[range.clone()];
    let values = frontmatter::values_with_colons(yaml);
    let has_to = |value: &Range<usize>| {
        let value = &yaml[value.clone()];
        value.contains(": ") || value.contains(":\t") || value.ends_with(':')
    };
    let required: Vec<Range<usize>> = values.iter().filter(|value| has_to(value)).cloned().collect();
    for values in [required, values] {
        let edits: Vec<Edit> = values.iter().flat_map(|value| quotes(text, range.start, value)).collect();
        let fixed = apply_edits(text, &edits);
        let is_sound = yaml_range(&fixed).is_some_and(|range| yaml::parse(&fixed[range]).is_ok());
        if is_sound && !edits.is_empty() {
            return edits;
        }
    }
    Vec::new()
}

/// Quotes a value and doubles the quotes in it. Only inserts, so that other edits still apply.
fn quotes(text: &str, offset: usize, value: &Range<usize>) -> Vec<Edit> {
    let (start, end) = (offset + value.start, offset + value.end);
    let inside = text[start..end].match_indices('\'').map(|(at, _)| start + at);
    std::iter::once(start).chain(inside).chain([end]).map(|at| edit(at, at, "'")).collect()
}

/// Turns comma-separated words into a list.
fn list_words(text: &str, front: &Front, line: Option<u32>) -> Vec<Edit> {
    let is_meant = |key: &&str| front.fields.get(key).is_some_and(|entry| Some(entry.place.line) == line);
    let Some(key) = ["keywords", "aliases"].into_iter().find(|key| is_meant(key)) else { return Vec::new() };
    let Some(node) = front.fields.get(key).map(|entry| &entry.node) else { return Vec::new() };
    let (Value::Scalar { text: scalar, .. }, Some(value)) = (&node.value, range_of(text, node)) else {
        return Vec::new();
    };
    let words: Option<Vec<&str>> = scalar.split(',').map(str::trim).filter(|word| !word.is_empty()).map(word).collect();
    let Some(words) = words.filter(|words| !words.is_empty()) else { return Vec::new() };
    let list: Vec<String> = words.iter().map(|word| word_in_yaml(word)).collect();
    let edits = vec![edit(value.start, value.end, &format!("[{}]", list.join(", ")))];
    checked(text, edits, |front| match front.fields.get(key).map(|entry| &entry.node.value) {
        Some(Value::List(items)) => items.iter().map(json::as_text).eq(words.iter().copied().map(Some)),
        _ => false,
    })
}

/// Removes quotes around a comma-separated word. `None` if it looks like part of something else, such as an unclosed
/// list.
fn word(written: &str) -> Option<&str> {
    let quotes = ['"', '\''];
    let quoted = quotes.into_iter().find_map(|quote| written.strip_prefix(quote)?.strip_suffix(quote));
    let word = quoted.unwrap_or(written).trim();
    let is_piece = word.starts_with(['[', '{', '&', '*', '!', '|', '>'])
        || word.ends_with([']', '}'])
        || word.contains(" #")
        || word.starts_with(quotes)
        || word.ends_with(quotes);
    (!word.is_empty() && !is_piece).then_some(word)
}

/// Writes a word as YAML, in quotes where it would not be read as text.
fn word_in_yaml(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' ' | '.' | '/');
    let is_text =
        word.starts_with(char::is_alphabetic) && !document::NON_TEXT_WORDS.contains(&word.to_lowercase().as_str());
    if is_text && word.chars().all(is_plain) { word.to_owned() } else { json::quoted(word) }
}

/// Returns the name of the skill's folder, if it is a valid name. Not for the root itself, whose name depends on the
/// checkout.
fn folder_name(file: &str) -> Option<&str> {
    let folder = paths::folder_of(file).filter(|folder| !folder.is_empty()).map(paths::last_segment);
    folder.filter(|folder| format::is_name(folder))
}

fn is_named(front: &Front, name: &str) -> bool {
    front.fields.get("name").and_then(|entry| json::as_text(&entry.node)) == Some(name)
}

/// Returns the edits if the edited front matter parses completely and passes the check.
fn checked(text: &str, edits: Vec<Edit>, is_right: impl Fn(&Front) -> bool) -> Vec<Edit> {
    let fixed = apply_edits(text, &edits);
    let is_complete = yaml_range(&fixed).is_some_and(|range| frontmatter::parse(&fixed[range]).complete);
    let front = Front::of(&fixed, SkillModel::Tree).filter(|_| is_complete);
    if front.is_some_and(|front| is_right(&front)) { edits } else { Vec::new() }
}

fn yaml_range(text: &str) -> Option<Range<usize>> {
    let Split::Found { yaml, .. } = frontmatter::split(text) else { return None };
    let start = text.find('\n')? + 1;
    Some(start..start + yaml.len())
}

/// Returns the range of a scalar in a text, quotes included, if it is written there verbatim.
fn range_of(text: &str, node: &Node) -> Option<Range<usize>> {
    let Value::Scalar { text: value, plain } = &node.value else { return None };
    let start = node.place.offset(text)?;
    let written = if *plain {
        Some(value.clone())
    } else {
        ['"', '\'']
            .map(|quote| format!("{quote}{value}{quote}"))
            .into_iter()
            .find(|quoted| text[start..].starts_with(quoted))
    }?;
    let is_there = !value.is_empty() && text[start..].starts_with(&written);
    is_there.then(|| start..start + written.len())
}
