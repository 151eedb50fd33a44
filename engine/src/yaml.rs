//! YAML as a tree of nodes with positions.
//!
//! The input is untrusted: nodes, depth and expansion through aliases are bounded.

mod simple;

use crate::place::Place;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use std::collections::BTreeMap;

/// Maximum number of nodes per document, counting each use of an alias. Front matter has dozens.
const MAX_NODES: usize = 10_000;

/// Maximum number of bytes that aliases may add to the length of the document.
const MAX_REPEATED_BYTES: usize = 64 * 1024;

/// Maximum nesting depth. Front matter needs five.
const MAX_DEPTH: usize = 32;

const TOO_DEEP: &str = "nested too deeply";
const TOO_MANY: &str = "more values than a front matter may have";

#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it starts in the YAML text.
    pub place: Place,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// The text as written. `plain` if it had no quotes, so that it may be a number, a boolean or null.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    pub place: Place,
    pub node: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ParseError {
    pub place: Place,
    pub message: String,
    /// Whether the text is valid YAML but exceeds a limit.
    pub too_complex: bool,
}

impl Node {
    /// Returns the text of a scalar that is not null.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") => None,
            Value::Scalar { text, .. } => Some(text),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match &self.value {
            Value::Scalar { text, plain: true } => match text.as_str() {
                "true" | "True" | "TRUE" => Some(true),
                "false" | "False" | "FALSE" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match &self.value {
            Value::Scalar { text, plain: true } => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    /// Returns an unsigned integer; larger values saturate.
    pub fn as_unsigned(&self) -> Option<u64> {
        match &self.value {
            Value::Scalar { text, plain: true }
                if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                Some(text.parse().unwrap_or(u64::MAX))
            }
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Scalar { plain: true, .. }) && self.as_text().is_none()
    }
}

/// Parses the first document of a text. An empty text is an empty scalar.
pub fn parse(text: &str) -> Result<Node, ParseError> {
    simple::parse(text).map_or_else(|| parse_completely(text), Ok)
}

fn parse_completely(text: &str) -> Result<Node, ParseError> {
    parse_until(text, |event| matches!(event, Event::DocumentEnd))
}

/// Parses a text that has one document only.
pub fn parse_only(text: &str) -> Result<Node, ParseError> {
    parse_until(text, |_| false)
}

fn parse_until(text: &str, is_end: impl Fn(&Event<'_>) -> bool) -> Result<Node, ParseError> {
    let mut builder = Builder { bytes_left: text.len() + MAX_REPEATED_BYTES, ..Builder::default() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let too_complex = error.info() == "recursion limit exceeded";
            let message = if too_complex { TOO_DEEP } else { error.info() };
            ParseError { place: place_of(error.marker()), message: message.to_owned(), too_complex }
        })?;
        let place = place_of(&span.start);
        if is_end(&event) {
            break;
        }
        builder.take(event, place).map_err(|message| {
            let too_complex = [TOO_DEEP, TOO_MANY].contains(&message);
            ParseError { place, message: message.to_owned(), too_complex }
        })?;
    }
    Ok(builder
        .document
        .unwrap_or(Node { place: Place::START, value: Value::Scalar { text: String::new(), plain: true } }))
}

/// The parser counts lines from 1 and columns from 0.
fn place_of(marker: &Marker) -> Place {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Place { line: number(marker.line()).max(1), column: number(marker.col()).saturating_add(1) }
}

/// A list or map that is not closed yet.
struct Open {
    node: Node,
    anchor: usize,
    /// The key whose value comes next, with its place.
    key: Option<(String, Place)>,
}

/// The size of a tree of nodes.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    /// Finished nodes that an alias may name, with their size.
    anchors: BTreeMap<usize, (Node, Size)>,
    nodes: usize,
    bytes_left: usize,
    document: Option<Node>,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, place: Place) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let plain = style == ScalarStyle::Plain;
                let size = Size { nodes: 1, bytes: text.len() };
                self.finish(Node { place, value: Value::Scalar { text: text.into_owned(), plain } }, anchor, size)
            }
            Event::SequenceStart(anchor, _) => self.start(Node { place, value: Value::List(Vec::new()) }, anchor),
            Event::MappingStart(anchor, _) => self.start(Node { place, value: Value::Map(Vec::new()) }, anchor),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else { return Err("unbalanced nesting") };
                let size = if open.anchor == 0 { Size::default() } else { size(&open.node) };
                self.finish_sized(open.node, open.anchor, size)
            }
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor).cloned() else {
                    return Err("an alias refers to an unfinished anchor");
                };
                self.finish(node, 0, size)
            }
            Event::DocumentStart(_) if self.document.is_some() => Err("more than one document"),
            _ => Ok(()),
        }
    }

    fn start(&mut self, node: Node, anchor: usize) -> Result<(), &'static str> {
        self.count(Size { nodes: 1, bytes: 0 })?;
        if self.open.len() >= MAX_DEPTH {
            return Err(TOO_DEEP);
        }
        self.open.push(Open { node, anchor, key: None });
        Ok(())
    }

    fn finish(&mut self, node: Node, anchor: usize, size: Size) -> Result<(), &'static str> {
        self.count(size)?;
        self.finish_sized(node, anchor, size)
    }

    fn finish_sized(&mut self, node: Node, anchor: usize, size: Size) -> Result<(), &'static str> {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), size));
        }
        let Some(open) = self.open.last_mut() else {
            self.document = Some(node);
            return Ok(());
        };
        match &mut open.node.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => match (open.key.take(), node.value) {
                (Some((key, place)), value) => {
                    entries.push(Entry { key, place, node: Node { place: node.place, value } });
                }
                (None, Value::Scalar { text, .. }) => open.key = Some((text, node.place)),
                (None, _) => return Err("a key must be a scalar"),
            },
            Value::Scalar { .. } => return Err("unbalanced nesting"),
        }
        Ok(())
    }

    fn count(&mut self, size: Size) -> Result<(), &'static str> {
        self.nodes += size.nodes;
        self.bytes_left = self.bytes_left.checked_sub(size.bytes).ok_or(TOO_MANY)?;
        if self.nodes > MAX_NODES { Err(TOO_MANY) } else { Ok(()) }
    }
}

/// The size of a node with everything in it; keys count like other scalars. Recursion is bounded: all nodes were counted before.
fn size(node: &Node) -> Size {
    let inner = |sizes: &mut dyn Iterator<Item = Size>| {
        sizes.fold(Size { nodes: 1, bytes: 0 }, |sum, size| Size {
            nodes: sum.nodes + size.nodes,
            bytes: sum.bytes + size.bytes,
        })
    };
    match &node.value {
        Value::Scalar { text, .. } => Size { nodes: 1, bytes: text.len() },
        Value::List(items) => inner(&mut items.iter().map(size)),
        Value::Map(entries) => inner(&mut entries.iter().map(|entry| {
            let Size { nodes, bytes } = size(&entry.node);
            Size { nodes: nodes + 1, bytes: bytes + entry.key.len() }
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn get<'a>(node: &'a Node, key: &str) -> &'a Node {
        let Value::Map(entries) = &node.value else { panic!("{node:?} is not a map") };
        &entries.iter().find(|entry| entry.key == key).unwrap().node
    }

    #[test]
    fn nodes_know_their_line_and_type() {
        let node = parse("a: 1\nb: [x, 'yes']\nc: true\nd: ~\ne: 2024-01-02\n").unwrap();
        assert_eq!(get(&node, "a").as_number(), Some(1.0));
        assert_eq!(get(&node, "b").place, Place { line: 2, column: 4 });
        assert_eq!(get(&node, "c").as_bool(), Some(true));
        assert!(get(&node, "d").is_null());
        assert_eq!(get(&node, "e").as_text(), Some("2024-01-02"));
    }

    #[test]
    fn an_alias_repeats_its_value() {
        let node = parse("a: &x [1, 2]\nb: *x\n").unwrap();
        assert_eq!(get(&node, "a").value, get(&node, "b").value);
    }

    #[test]
    fn an_alias_bomb_is_rejected() {
        let level = |level: usize| {
            let before = if level == 0 { "x".to_owned() } else { format!("*a{}", level - 1) };
            format!("a{level}: &a{level} [{}]\n", vec![before; 9].join(", "))
        };
        let text: String = (0..20).map(level).collect();
        assert!(parse(&text).unwrap_err().message.contains("more values"));
    }

    #[test]
    fn repetition_of_a_long_text_is_limited() {
        let text = format!("x: &x \"{}\"\ny: [{}]\n", "t".repeat(300_000), vec!["*x"; 40].join(", "));
        assert!(parse(&text).unwrap_err().too_complex);
        let keys = format!("x: &x {{? \"{}\" : 1}}\ny: [{}]\n", "t".repeat(300_000), vec!["*x"; 40].join(", "));
        assert!(parse(&keys).unwrap_err().too_complex, "keys are repeated too");
    }

    #[test]
    fn deep_nesting_is_rejected() {
        for text in ["[".repeat(100_000), "- ".repeat(50_000), "{a: ".repeat(50_000)] {
            assert!(parse(&text).is_err());
        }
    }

    #[test]
    fn an_error_has_its_line() {
        assert_eq!(parse("a: 1\nb: [\n").unwrap_err().place.line, 3);
        assert_eq!(parse("a: x\ndescription: Use it: now\n").unwrap_err().place.line, 2);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text in "\\PC*") {
            let _ = parse(&text);
        }

        #[test]
        fn any_yaml_like_text_is_parsed_or_rejected(text in "[-a:?,&*!|>'\"%@` \n\t#\\[\\]{}]{0,80}") {
            let _ = parse(&text);
        }
    }
}
