//! The block between the `---` lines.

use crate::place::Place;
use crate::problem::{Finding, quote};
use crate::yaml::{self, Entry, Node, Value};
use std::collections::BTreeSet;
use std::ops::Range;

/// A text split into front matter and body.
#[derive(Debug, PartialEq)]
pub enum Split<'text> {
    /// No front matter: ordinary Markdown.
    Absent,
    /// An opening `---` without a closing one.
    Unclosed,
    Found {
        yaml: &'text str,
        body: &'text str,
    },
}

/// The YAML begins on the second line of the file.
const LINES_BEFORE: u32 = 1;

/// Finds the front matter. A byte order mark and Windows line ends are accepted.
pub fn split(text: &str) -> Split<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((first, after)) = text.split_once('\n') else { return Split::Absent };
    if first.trim_end() != "---" {
        return Split::Absent;
    }
    let mut start = 0;
    while start <= after.len() {
        let end = after[start..].find('\n').map_or(after.len(), |newline| start + newline);
        if after[start..end].trim_end() == "---" {
            let body = after.get(end + 1..).unwrap_or("");
            return Split::Found { yaml: &after[..start], body };
        }
        start = end + 1;
    }
    // A lone `---` is also a thematic break in Markdown, so front matter is unclosed only if a key follows.
    let looks_like_a_key = after.lines().next().is_some_and(|line| plain_line(line).is_some());
    if looks_like_a_key { Split::Unclosed } else { Split::Absent }
}

/// The fields of a front matter, looked up by name.
#[derive(Debug, Default)]
pub struct Fields {
    entries: Vec<Entry>,
}

impl Fields {
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key && !entry.node.is_null())
    }

    /// Returns the value of a key, even if it is null.
    pub fn first(&self, key: &str) -> Option<&Node> {
        let null = || self.entries.iter().find(|entry| entry.key == key);
        self.get(key).or_else(null).map(|entry| &entry.node)
    }

    /// Returns all entries as written, duplicates included.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the fields below `metadata`. Values are strings there in the Agent Skills format, so `assets` and `scripts` may be
    /// YAML in a string, or paths with commas in between.
    pub fn metadata(&self) -> Self {
        let Some(Value::Map(entries)) = self.get("metadata").map(|entry| &entry.node.value) else {
            return Self::default();
        };
        let mut entries = entries.clone();
        for entry in entries.iter_mut().filter(|entry| matches!(entry.key.as_str(), "assets" | "scripts")) {
            let list = match &entry.node.value {
                Value::Scalar { text, .. } => list_in(text, entry.node.place),
                _ => None,
            };
            if let Some(list) = list {
                entry.node.value = list;
            }
        }
        Self::new(entries)
    }
}

/// Reads a list that is written as a string at `place`.
fn list_in(text: &str, place: Place) -> Option<Value> {
    let mut node = yaml::parse_only(text).ok()?;
    move_to(place, &mut node);
    let items = match node.value {
        Value::List(items) => items,
        Value::Map(_) => vec![node],
        Value::Scalar { text, .. } => {
            let paths = text.split(',').map(str::trim).filter(|path| !path.is_empty());
            paths.map(|path| Node { place, value: Value::Scalar { text: path.to_owned(), plain: false } }).collect()
        }
    };
    Some(Value::List(items))
}

/// Places inside a string mean nothing in the file.
fn move_to(place: Place, node: &mut Node) {
    node.place = place;
    match &mut node.value {
        Value::Scalar { .. } => {}
        Value::List(items) => {
            for item in items {
                move_to(place, item);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                entry.place = place;
                move_to(place, &mut entry.node);
            }
        }
    }
}

pub struct Parsed {
    pub fields: Fields,
    pub findings: Vec<Finding>,
    /// Whether all of it could be parsed. If not, the first finding says why.
    pub complete: bool,
}

/// Parses the fields. Slightly wrong YAML is parsed as far as possible and reported.
pub fn parse(text: &str) -> Parsed {
    let complete = |(fields, findings)| Parsed { fields, findings, complete: true };
    let error = match yaml::parse(text) {
        Ok(node) => return complete(as_fields(node)),
        Err(error) => error,
    };
    let finding = |advice: &str| {
        let message = format!("not valid YAML: {}", error.message);
        Finding::warning("bad-yaml", message, advice).at(shifted(error.place))
    };
    if error.too_complex {
        let advice = "make it flatter or shorter; until then only its plain `key: value` lines are understood";
        let message = format!("too complex: {}", error.message);
        let finding = Finding::warning("too-complex", message, advice).at(shifted(error.place));
        return Parsed { fields: Fields { entries: plain_lines(text) }, findings: vec![finding], complete: false };
    }
    if let Ok(node) = yaml::parse(&with_quoted_values(text, &values_with_colons(text))) {
        let (fields, mut findings) = as_fields(node);
        findings.push(finding("put quotes around a value that contains `: `"));
        return complete((fields, findings));
    }
    let finding = finding("only its plain `key: value` lines are understood; check it with a YAML checker");
    Parsed { fields: Fields { entries: plain_lines(text) }, findings: vec![finding], complete: false }
}

fn as_fields(node: Node) -> (Fields, Vec<Finding>) {
    let mut findings = Vec::new();
    match node.value {
        Value::Map(mut entries) => {
            for entry in &mut entries {
                shift(&mut entry.node);
                entry.place = shifted(entry.place);
            }
            let mut seen: BTreeSet<&str> = BTreeSet::new();
            for entry in &entries {
                if !seen.insert(&entry.key) {
                    findings.push(
                        Finding::warning(
                            "duplicate-key",
                            format!("`{}` appears twice", quote(&entry.key)),
                            "keep one of them; the first that is not empty counts",
                        )
                        .at(entry.place),
                    );
                }
            }
            (Fields { entries }, findings)
        }
        _ if node.is_null() => (Fields::default(), findings),
        _ => {
            findings.push(
                Finding::warning(
                    "bad-yaml",
                    "the front matter is not a list of `key: value` lines",
                    "write `key: value` lines",
                )
                .at(shifted(node.place)),
            );
            (Fields::default(), findings)
        }
    }
}

/// Converts a place in the YAML to a place in the file.
fn shifted(place: Place) -> Place {
    Place { line: place.line.saturating_add(LINES_BEFORE), ..place }
}

/// Converts all places in a tree. Recursion is bounded by the depth limit of `yaml`.
fn shift(node: &mut Node) {
    node.place = shifted(node.place);
    match &mut node.value {
        Value::Scalar { .. } => {}
        Value::List(items) => items.iter_mut().for_each(shift),
        Value::Map(entries) => {
            for entry in entries {
                entry.place = shifted(entry.place);
                shift(&mut entry.node);
            }
        }
    }
}

/// Returns the ranges of unquoted values with a colon in top-level `key: value` lines.
pub fn values_with_colons(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some((key, value)) = plain_line(line)
            && value.contains(':')
            && !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!'])
        {
            let after = &line[key.len() + 1..];
            let at = start + line.len() - after.trim_start().len();
            found.push(at..at + value.len());
        }
        start += line.len();
    }
    found
}

fn with_quoted_values(text: &str, values: &[Range<usize>]) -> String {
    let mut quoted = String::with_capacity(text.len() + 16);
    let mut at = 0;
    for value in values {
        quoted.push_str(&text[at..value.start]);
        quoted.push('\'');
        quoted.push_str(&text[value.clone()].replace('\'', "''"));
        quoted.push('\'');
        at = value.end;
    }
    quoted.push_str(&text[at..]);
    quoted
}

fn plain_lines(text: &str) -> Vec<Entry> {
    let numbered = text.lines().zip(LINES_BEFORE + 1..);
    numbered
        .filter_map(|(line, number)| {
            let (key, value) = plain_line(line)?;
            let plain = !(value.len() >= 2
                && (value.starts_with('"') && value.ends_with('"')
                    || value.starts_with('\'') && value.ends_with('\'')));
            let text = if plain { value } else { &value[1..value.len() - 1] };
            let before = line.len() - line[key.len() + 1..].trim_start().len();
            let place = |at: usize| Place { line: number, ..Place::of(line, at) };
            let node = Node { place: place(before), value: Value::Scalar { text: text.to_owned(), plain } };
            Some(Entry { key: key.to_owned(), place: place(0), node })
        })
        .collect()
}

/// Splits `key: value` at the start of a line and trims the value.
fn plain_line(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_'));
    let separated = value.is_empty() || value.starts_with([' ', '\t', '\r']);
    (is_key && separated).then(|| (key, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text_of(fields: &Fields, key: &str) -> Option<String> {
        fields.get(key).and_then(|entry| entry.node.as_text()).map(str::to_owned)
    }

    #[test]
    fn the_block_is_found_whatever_the_line_ending() {
        for text in ["---\na: 1\n---\nbody\n", "\u{feff}---\na: 1\n---\nbody\n"] {
            assert_eq!(split(text), Split::Found { yaml: "a: 1\n", body: "body\n" });
        }
        assert_eq!(split("---\r\na: 1\r\n---\r\nbody"), Split::Found { yaml: "a: 1\r\n", body: "body" });
        assert_eq!(split("---\n---"), Split::Found { yaml: "", body: "" });
    }

    #[test]
    fn a_thematic_break_is_not_front_matter() {
        assert_eq!(split("---\n\nSome text\n"), Split::Absent);
        assert_eq!(split("# Title\n---\n"), Split::Absent);
        assert_eq!(split(""), Split::Absent);
        assert_eq!(split("---"), Split::Absent);
        assert_eq!(split("---\nname: x\ntext\n"), Split::Unclosed);
    }

    #[test]
    fn an_unquoted_colon_is_understood() {
        let Parsed { fields, findings, .. } = parse("name: x\ndescription: Use it: always, it's good\n");
        assert_eq!(text_of(&fields, "description").unwrap(), "Use it: always, it's good");
        assert_eq!((findings[0].line, findings[0].column), (Some(3), Some(20)));
        let (windows, quoted) = ("name:  x\r\ndescription:   a: 'b'\r\nhome: http://x\r\n", ["a: 'b'", "http://x"]);
        let values: Vec<&str> = values_with_colons(windows).into_iter().map(|value| &windows[value]).collect();
        assert_eq!(values, quoted);
    }

    #[test]
    fn plain_lines_are_the_last_resort() {
        let Parsed { fields, findings, .. } = parse("name: x\ndescription: \"fine\"\nlist: [a, b\n");
        assert_eq!(text_of(&fields, "name").unwrap(), "x");
        assert_eq!(text_of(&fields, "description").unwrap(), "fine");
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn a_duplicate_key_is_reported() {
        let Parsed { fields, findings, .. } = parse("name: x\nname: y\n");
        assert_eq!(text_of(&fields, "name").unwrap(), "x");
        assert_eq!((findings[0].code, findings[0].line), ("duplicate-key", Some(3)));
    }

    proptest! {
        #[test]
        fn any_text_is_split_into_parts_of_itself(text in "(\u{feff})?(---)?[\r\n]{0,2}\\PC{0,20}[\r\n]{0,2}(---)?[\r\n]{0,2}\\PC{0,20}") {
            if let Split::Found { yaml, body } = split(&text) {
                prop_assert!(text.ends_with(body));
                prop_assert!(text.contains(yaml));
                let _ = parse(yaml);
            }
        }
    }
}
