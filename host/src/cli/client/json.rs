//! Changes one key in JSON and keeps every other byte, including comments.

use super::document::{Format, ParseError};
use jsonc_parser::cst::{CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, errors, parse_to_ast};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::ser::PrettyFormatter;
use serde_json::{Value, json};
use std::borrow::Cow;

pub fn read(text: &str, format: Format) -> Result<Value, ParseError> {
    let text = replace_lone_surrogates(text);
    let parsed = parse_to_ast(&text, &CollectOptions::default(), &options(format)).map_err(|error| located(&error))?;
    if format == Format::Json && !text.trim().is_empty() {
        // The parser above accepts some things that strict JSON does not.
        let strict = serde_json::from_str::<IgnoredAny>(&text);
        strict.map_err(|error| ParseError { line: error.line(), what: error.to_string() })?;
    }
    Ok(parsed.value.map_or_else(|| json!({}), Value::from))
}

pub fn edit(
    text: &str,
    format: Format,
    path: &[&str],
    key: &str,
    value: Option<&impl Serialize>,
) -> Result<String, ParseError> {
    let valid = replace_lone_surrogates(text);
    let root = CstRootNode::parse(&valid, &options(format)).map_err(|error| located(&error))?;
    let unchanged = || Ok(text.to_owned());
    let not_an_object = |node: CstNode| ParseError::at(text, offset_of(&node), "expected an object");
    let Some(top) = root.value() else {
        if value.is_none() {
            return unchanged();
        }
        // There may be comments to keep.
        let comments = if text.trim().is_empty() { "" } else { text };
        let gap = if comments.is_empty() || comments.ends_with('\n') { "" } else { "\n" };
        return edit(&format!("{comments}{gap}{{}}\n"), format, path, key, value);
    };
    let mut object = top.as_object().ok_or_else(|| not_an_object(top))?;
    // The library would spread every object over several lines, remove blank lines, and remove comments beside a member.
    let layout = Layout {
        newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        unit: root.single_indent_text().unwrap_or_else(|| "  ".to_owned()),
        is_flat: !object.properties().is_empty() && !text.trim().contains('\n'),
    };
    for (depth, step) in path.iter().enumerate() {
        let Some(found) = find_member(text, &object, step)? else {
            if value.is_none() {
                return unchanged();
            }
            let text = edit(text, format, &path[..depth], step, Some(&json!({})))?;
            return edit(&text, format, path, key, value);
        };
        object = found.object_value().ok_or_else(|| not_an_object(found.into()))?;
    }
    let pieces = pieces(text, &object);
    let (old, new) = match (find_member(text, &object, key)?, value) {
        (None, None) => return unchanged(),
        (None, Some(value)) => (object.clone().into(), layout.with_member(pieces, &object, key, value)),
        (Some(member), None) => (object.clone().into(), without_member(pieces, &object, &member)),
        (Some(member), Some(value)) => {
            let old = member.value().expect("a parsed member has a value");
            let new = if old.to_string().contains('\n') {
                on_lines(value, &layout.line_start(member.into()), &layout.unit)
            } else {
                on_one_line(value, gap_of(&member.to_string()))
            };
            (old, new)
        }
    };
    let start = offset_of(&old);
    Ok(format!("{}{new}{}", &text[..start], &text[start + old.to_string().len()..]))
}

fn options(format: Format) -> ParseOptions {
    ParseOptions {
        allow_comments: format != Format::Json,
        allow_trailing_commas: format == Format::JsoncTrailingCommas,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn located(error: &errors::ParseError) -> ParseError {
    ParseError { line: error.line_display(), what: error.kind().to_string() }
}

/// Finds a key. A duplicate key is an error, because parsers disagree on which one counts.
fn find_member(text: &str, object: &CstObject, key: &str) -> Result<Option<CstObjectProp>, ParseError> {
    let mut found = object.properties().into_iter().filter(|member| member.decoded_name().as_deref() == Some(key));
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(second) => Err(ParseError::at(text, offset_of(&second.into()), format!("duplicate key `{key}`"))),
    }
}

fn offset_of(node: &CstNode) -> usize {
    let length_before = |node: CstNode| node.previous_siblings().map(|other| other.to_string().len()).sum::<usize>();
    upwards(node.clone()).map(length_before).sum()
}

/// A node, and all nodes around it.
fn upwards(node: CstNode) -> impl Iterator<Item = CstNode> {
    std::iter::successors(Some(node), |node| node.parent().map(CstNode::from))
}

/// The children of an object as the text has them, lone surrogates included.
fn pieces(text: &str, object: &CstObject) -> Vec<String> {
    let mut rest = &text[offset_of(&object.clone().into())..];
    let piece = |child: &CstNode| {
        let (piece, after) = rest.split_at(child.to_string().len());
        rest = after;
        piece.to_owned()
    };
    object.children().iter().map(piece).collect()
}

/// The layout of a text, which additions match.
struct Layout {
    newline: &'static str,
    /// The indentation of one level.
    unit: String,
    /// Whether the text is on one line.
    is_flat: bool,
}

impl Layout {
    /// The text of an object with a new member after the last one.
    fn with_member(&self, mut pieces: Vec<String>, object: &CstObject, key: &str, value: &impl Serialize) -> String {
        let (text, members, nodes) = (pieces.concat(), object.properties(), object.children());
        let outer = self.line_start(object.clone().into());
        let is_flat = if members.is_empty() { self.is_flat } else { !text.contains('\n') };
        let added = if is_flat {
            let gap = if members.is_empty() { "" } else { gap_of(&text) };
            format!("{gap}{}:{gap}{}", json!(key), on_one_line(value, gap))
        } else {
            let line_start = match members.first().and_then(CstObjectProp::indent_text) {
                Some(indent) => format!("{}{indent}", self.newline),
                None => format!("{outer}{}", self.unit),
            };
            format!("{line_start}{}: {}", json!(key), on_lines(value, &line_start, &self.unit))
        };
        let last = members.last().cloned();
        let comma = last.as_ref().and_then(CstObjectProp::trailing_comma).map(CstNode::from);
        let is_blank = |node: &CstNode| node.is_whitespace() || node.is_newline();
        let inside = || nodes[..nodes.len() - 1].iter().rfind(|node| !is_blank(node)).cloned();
        let end = comma.clone().or(last.clone().map(CstNode::from)).or_else(inside).expect("an object has a brace");
        let place = end.trailing_comments_same_line().last().map_or(end.child_index(), |comment| comment.child_index());
        let separator = if comma.is_some() { "," } else { "" };
        let closing = if is_flat || pieces[place + 1..].concat().contains('\n') { "" } else { &outer };
        pieces[place + 1].insert_str(0, &format!("{added}{separator}{closing}"));
        if let (None, Some(last)) = (comma, last) {
            pieces[last.child_index()].push(',');
        }
        pieces.concat()
    }

    /// The start of a new line that is indented like the one of a node.
    fn line_start(&self, node: CstNode) -> String {
        let indent = upwards(node).find_map(|node| node.indent_text());
        format!("{}{}", self.newline, indent.unwrap_or_default())
    }
}

/// The text of an object without a member, its comma, and its line if nothing else is on it.
fn without_member(mut pieces: Vec<String>, object: &CstObject, member: &CstObjectProp) -> String {
    let nodes = object.children();
    let comma_of = |member: &CstObjectProp| member.trailing_comma().map(|comma| comma.child_index());
    let (own, previous) = (comma_of(member), member.previous_property().as_ref().and_then(comma_of));
    let (mut start, mut end) = (member.child_index(), member.child_index() + 1);
    match (own, previous) {
        (Some(comma), _) if !nodes[end..comma].iter().any(CstNode::is_comment) => end = comma + 1,
        (None, Some(comma)) if nodes[comma + 1..start].iter().all(CstNode::is_whitespace) => start = comma,
        (Some(comma), _) | (None, Some(comma)) => pieces[comma].clear(),
        (None, None) => {}
    }
    let before = start - nodes[..start].iter().rev().take_while(|node| node.is_whitespace()).count();
    let after = end + nodes[end..].iter().take_while(|node| node.is_whitespace()).count();
    if nodes[before - 1].is_newline() && nodes[after].is_newline() {
        (start, end) = (before, after + 1);
    } else if own.is_some() {
        end = after;
    }
    pieces.drain(start..end);
    let kept = pieces.concat();
    if kept[1..kept.len() - 1].trim().is_empty() { "{}".to_owned() } else { kept }
}

/// The space after commas and colons.
fn gap_of(text: &str) -> &'static str {
    if text.contains(": ") || text.contains(", ") { " " } else { "" }
}

fn on_one_line(value: &impl Serialize, gap: &str) -> String {
    match gap {
        "" => serde_json::to_string(value).expect("settings are plain data"),
        _ => on_lines(value, "\n", "").replace(",\n", ", ").replace('\n', ""),
    }
}

/// Formats a value as JSON. All lines but the first begin with `line_start`, plus one `unit` per level.
fn on_lines(value: &impl Serialize, line_start: &str, unit: &str) -> String {
    let mut json = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut json, formatter));
    written.expect("settings are plain data");
    String::from_utf8(json).expect("JSON is text").replace('\n', line_start)
}

/// Replaces the escapes of lone surrogates, which JavaScript writes where it cut a string within a character, and which no
/// `str` can hold. All offsets stay valid.
fn replace_lone_surrogates(text: &str) -> Cow<'_, str> {
    let unit = |at: usize| u16::from_str_radix(text.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok();
    let mut replaced = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(next) = text[at..].find('\\') {
        at += next;
        at += match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                replaced.to_mut().replace_range(at..at + 6, "\\ufffd");
                6
            }
            // Skips the escaped character, which may be a backslash.
            _ => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    replaced
}

#[cfg(test)]
mod tests;
