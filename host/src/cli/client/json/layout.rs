//! How a text is laid out, so that what is added looks like the rest.

use super::Edit;
use crate::cli::client::setting::{Setting, quoted};
use jsonc_parser::ast::{Object, ObjectProp};
use jsonc_parser::common::Ranged as _;

pub struct Layout {
    newline: &'static str,
    /// One level further in.
    unit: String,
    /// Whether all of it is on one line.
    is_flat: bool,
}

impl Layout {
    pub fn of(text: &str, root: &Object<'_>) -> Self {
        let first = root.properties.first().and_then(|first| indent_before(text, first.start()));
        Self {
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            unit: first.filter(|indent| !indent.is_empty()).unwrap_or("  ").to_owned(),
            is_flat: !root.properties.is_empty() && !root.text(text).contains('\n'),
        }
    }

    /// Adds a member behind the last one of an object.
    pub fn insertion(&self, text: &str, object: &Object<'_>, key: &str, setting: &Setting) -> Vec<Edit> {
        let outer = format!("{}{}", self.newline, indent_of_line(text, object.start()));
        let inside = object.start() + 1..object.end() - 1;
        let Some(last) = object.properties.last() else {
            let kept = text[inside.clone()].trim_end();
            if self.is_flat && kept.is_empty() {
                return vec![(inside, format!("{}:{}", quoted(key), setting.on_one_line("")))];
            }
            let added = self.member(&format!("{outer}{}", self.unit), key, setting);
            let behind = &text[inside.start + kept.len()..inside.end];
            let end = if !kept.is_empty() && behind.contains('\n') { behind } else { &outer };
            return vec![(inside.start + kept.len()..inside.end, format!("{added}{end}"))];
        };
        let comma = comma_behind(text, last.end());
        let at = rest_of_line(text, comma.map_or(last.end(), |comma| comma + 1));
        let added = if object.text(text).contains('\n') {
            let line_start = match indent_before(text, object.properties[0].start()) {
                Some(indent) => format!("{}{indent}", self.newline),
                None => format!("{outer}{}", self.unit),
            };
            self.member(&line_start, key, setting)
        } else {
            let gap = gap_of(object.text(text));
            format!("{gap}{}:{gap}{}", quoted(key), setting.on_one_line(gap))
        };
        match comma {
            Some(_) => vec![(at..at, format!("{added},"))],
            None => vec![(last.end()..last.end(), ",".to_owned()), (at..at, added)],
        }
    }

    /// Another value for a member.
    pub fn replacement(&self, text: &str, member: &ObjectProp<'_>, setting: &Setting) -> Edit {
        let old = member.value.text(text);
        let new = if old.contains('\n') {
            setting.on_lines(&format!("{}{}", self.newline, indent_of_line(text, member.start())), &self.unit)
        } else {
            setting.on_one_line(gap_of(member.text(text)))
        };
        (member.value.start()..member.value.end(), new)
    }

    fn member(&self, line_start: &str, key: &str, setting: &Setting) -> String {
        format!("{line_start}{}: {}", quoted(key), setting.on_lines(line_start, &self.unit))
    }
}

/// Takes a member away with its comma and the lines that are empty without it. Comments around it stay.
pub fn removal(text: &str, object: &Object<'_>, member: &ObjectProp<'_>) -> Vec<Edit> {
    let gone = String::new;
    let (mut start, mut end) = (member.start(), member.end());
    let comma = comma_behind(text, end);
    let others = format!("{}{}", &text[object.start() + 1..start], &text[end..object.end() - 1]);
    if object.properties.len() == 1
        && others.trim_matches(|letter: char| letter.is_whitespace() || letter == ',').is_empty()
    {
        return vec![(object.start() + 1..object.end() - 1, gone())];
    }
    let before = object.properties.iter().rfind(|other| other.end() <= start);
    let mut edits = Vec::new();
    match (comma, before.and_then(|before| comma_behind(text, before.end()))) {
        (Some(comma), _) if text[end..comma].trim().is_empty() => end = comma + 1,
        (None, Some(comma)) if is_blank(&text[comma + 1..start]) => start = comma,
        (Some(comma), _) | (None, Some(comma)) => edits.push((comma..comma + 1, gone())),
        (None, None) => {}
    }
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[end..].find('\n').map(|newline| end + newline + 1);
    match line_end {
        Some(line_end) if is_blank(&text[line_start..start]) && text[end..line_end].trim().is_empty() => {
            (start, end) = (line_start, line_end);
        }
        _ if start == member.start() && comma.is_some() => {
            end += text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len();
        }
        _ => {}
    }
    edits.push((start..end, gone()));
    edits
}

fn gap_of(text: &str) -> &'static str {
    if text.contains(": ") || text.contains(", ") { " " } else { "" }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|letter| matches!(letter, ' ' | '\t'))
}

/// The white space between the beginning of the line and this place, if there is nothing else.
fn indent_before(text: &str, at: usize) -> Option<&str> {
    let before = &text[text[..at].rfind('\n')? + 1..at];
    is_blank(before).then_some(before)
}

/// The white space with which the line of this place begins.
fn indent_of_line(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |newline| newline + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The comma that is next after white space and comments, if there is one.
fn comma_behind(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        match comment_end(text, at) {
            Some(end) => at = end,
            None => return text[at..].starts_with(',').then_some(at),
        }
    }
}

/// Behind the last comment that begins on this line, before anything else does.
fn rest_of_line(text: &str, from: usize) -> usize {
    let (mut at, mut found) = (from, from);
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
        match comment_end(text, at) {
            Some(end) => (at, found) = (end, end),
            None => return found,
        }
    }
}

/// Where the comment that begins here ends, before the end of the line for one of those that go so far.
fn comment_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let length = if rest.starts_with("//") {
        rest.find(['\r', '\n']).unwrap_or(rest.len())
    } else {
        rest.strip_prefix("/*")?.find("*/").map_or(rest.len(), |end| end + 4)
    };
    Some(at + length)
}
