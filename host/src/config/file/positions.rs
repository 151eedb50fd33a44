//! Lines and columns of the keys and values in the operator's file.

use saphyr_parser::{Event, Marker, Parser};

/// A YAML node with its position.
#[derive(Debug)]
pub struct Node {
    /// Line and column, from 1.
    position: (usize, usize),
    value: Value,
}

#[derive(Debug)]
enum Value {
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// Parses the file into a tree. `None` if it is not valid YAML.
pub fn parse(text: &str) -> Option<Node> {
    let mut open: Vec<(Node, Option<Node>)> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let position = position_of(&span.start);
        let node = match event {
            Event::SequenceStart(..) => {
                open.push((Node { position, value: Value::List(Vec::new()) }, None));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((Node { position, value: Value::Map(Vec::new()) }, None));
                continue;
            }
            Event::Scalar(text, ..) => Node { position, value: Value::Scalar(text.into_owned()) },
            // The node it refers to has its own position.
            Event::Alias(_) => Node { position, value: Value::Scalar(String::new()) },
            Event::SequenceEnd | Event::MappingEnd => open.pop()?.0,
            _ => continue,
        };
        let Some((parent, key)) = open.last_mut() else { return Some(node) };
        match &mut parent.value {
            Value::List(items) => items.push(node),
            Value::Map(entries) => match key.take() {
                Some(key) => entries.push((key, node)),
                None => *key = Some(node),
            },
            Value::Scalar(_) => return None,
        }
    }
    None
}

/// Returns where a second document begins.
pub fn second_document(text: &str) -> Option<(usize, usize)> {
    let events = Parser::new_from_str(text).map_while(Result::ok);
    let mut starts = events.filter(|(event, _)| matches!(event, Event::DocumentStart(_)));
    starts.nth(1).map(|(_, span)| position_of(&span.start))
}

/// The parser counts lines from 1 and columns from 0.
fn position_of(marker: &Marker) -> (usize, usize) {
    (marker.line().max(1), marker.col() + 1)
}

impl Node {
    /// Returns where a key appears for the second time in one map.
    pub fn second_key(&self, key: &str) -> Option<(usize, usize)> {
        match &self.value {
            Value::Scalar(_) => None,
            Value::List(items) => items.iter().find_map(|item| item.second_key(key)),
            Value::Map(entries) => {
                let twice =
                    entries.iter().filter(|(known, _)| known.is_scalar(key)).nth(1).map(|(known, _)| known.position);
                twice.or_else(|| entries.iter().find_map(|(_, node)| node.second_key(key)))
            }
        }
    }

    /// Returns the line that a message is about. The message begins with a path, as in `matching.min_score`, `repos[1].url` or
    /// `grants, ROOT, SKILL`; names in backticks that are found below that path lead further.
    pub fn line_of(&self, message: &str) -> Option<usize> {
        let (mut node, mut line, mut rest) = (self, None, message.lines().next()?);
        while let Some((position, next, left)) = node.step(rest) {
            (node, line, rest) = (next, Some(position.0), left);
        }
        line?;
        for name in rest.split('`').skip(1).step_by(2) {
            if let Some((position, next)) = node.find(name) {
                (node, line) = (next, Some(position.0));
            }
        }
        line
    }

    /// Follows one segment of the path that a message begins with. Returns the position, the node there, and the rest of the
    /// message.
    fn step<'a, 'm>(&'a self, message: &'m str) -> Option<((usize, usize), &'a Self, &'m str)> {
        match &self.value {
            Value::Scalar(_) => None,
            Value::List(items) => {
                let (number, rest) = message.strip_prefix('[')?.split_once(']')?;
                let item = items.get(number.parse::<usize>().ok()?)?;
                Some((item.position, item, rest.trim_start_matches('.')))
            }
            Value::Map(entries) => {
                let matching = entries.iter().filter_map(|(key, node)| {
                    let Value::Scalar(name) = &key.value else { return None };
                    let rest = message.strip_prefix(name.as_str()).filter(|_| !name.is_empty())?;
                    let ends = rest.is_empty() || rest.starts_with([' ', '.', ',', ':', '[']);
                    let below = rest.strip_prefix(", ").or_else(|| rest.strip_prefix('.')).unwrap_or(rest);
                    ends.then_some((name.len(), (key.position, node, below)))
                });
                matching.max_by_key(|(length, _)| *length).map(|(_, step)| step)
            }
        }
    }

    /// Finds the first key or scalar with this text, here or further down.
    fn find(&self, name: &str) -> Option<((usize, usize), &Self)> {
        match &self.value {
            Value::Scalar(_) => self.is_scalar(name).then_some((self.position, self)),
            Value::List(items) => items.iter().find_map(|item| item.find(name)),
            Value::Map(entries) => {
                let here = entries.iter().find(|(key, _)| key.is_scalar(name)).map(|(key, node)| (key.position, node));
                here.or_else(|| entries.iter().find_map(|(_, node)| node.find(name)))
            }
        }
    }

    fn is_scalar(&self, text: &str) -> bool {
        matches!(&self.value, Value::Scalar(own) if own.trim() == text.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, message: &str) -> Option<usize> {
        parse(text)?.line_of(message)
    }

    #[test]
    fn a_message_leads_to_the_line_of_its_key() {
        let text = "\
# scripts: none\ngit:\n  timeout_seconds: 3\n\nscripts:\n  # timeout_seconds: 1\n\n  enabled: true\n  timeout_seconds: 0\n\
analytics: {timeout_seconds: 0}\ncatalog_max_chars: 1\n";
        for (message, expected) in [
            ("scripts.timeout_seconds is 0", Some(9)),
            ("git.timeout_seconds is 3", Some(3)),
            ("analytics.timeout_seconds is 0", Some(10)),
            ("scripts: `a/b` is not a file extension", Some(5)),
            ("catalog_max_chars is 1", Some(11)),
            ("scripts.fuel is 0", Some(5)),
            ("grants, /a, s: no", None),
            ("", None),
        ] {
            assert_eq!(line(text, message), expected, "{message}");
        }
    }

    #[test]
    fn every_way_to_write_yaml_is_understood() {
        let grants = "grants:\n  /a:\n    s:\n      env: [A]\n      read:\n      - /x\n      - rel\n  '/a, b':\n    s: {read: [rel]}\n";
        for (text, message, expected) in [
            ("scripts :\n  timeout_seconds : 0\n", "scripts.timeout_seconds is 0", Some(2)),
            (
                "scripts:\n  allowed_extensions:\n  - .py\n  - a/b\n",
                "scripts.allowed_extensions: `a/b` is not a file extension",
                Some(4),
            ),
            (
                "scripts:\n  runners:\n    .py: python\n    .rb: ruby\n",
                "scripts.runners: `ruby` is not a runtime",
                Some(4),
            ),
            (grants, "grants, /a, s: `rel` must begin with `/` or `~/`", Some(7)),
            (grants, "grants, /a, s: `A` is not a variable that can be granted", Some(4)),
            (grants, "grants, /a, b, s: `rel` must begin with `/`", Some(9)),
            ("repos:\n- url: x\n- branch: b\n  url: y\n", "repos[1].url: `y` is not a repository address", Some(4)),
            ("scorers:\n  a: x\n  a.b: y\n", "scorers.a.b has no file", Some(3)),
            ("integrations:\n  x:\n    hosts: ['*']\n", "integrations.x: `hosts`: `*` is not a host", Some(3)),
            ("a: &a [1]\nmatching: *a\n", "matching.min_score", Some(2)),
            ("[", "matching", None),
        ] {
            assert_eq!(line(text, message), expected, "{text}: {message}");
        }
    }

    #[test]
    fn a_duplicate_key_and_a_second_document_are_located() {
        let text = "a:\n  \"k\": 1\nb:\n- {k: 1, 'k': 2}\n";
        assert_eq!(parse(text).unwrap().second_key("k"), Some((4, 10)));
        assert_eq!(parse(text).unwrap().second_key("a"), None);
        assert_eq!(second_document("---\nmatching: {}\n---\nscripts: {}\n"), Some((3, 1)));
        assert_eq!(second_document("matching: {}\n"), None);
    }
}
