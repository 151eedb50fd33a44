//! Where keys and values stand in the operator's file.

use saphyr_parser::{Event, Marker, Parser};

/// What stands in the file, as far as its places matter.
#[derive(Debug)]
pub struct Node {
    /// The line and the column, from 1.
    place: (usize, usize),
    value: Value,
}

#[derive(Debug)]
enum Value {
    Scalar(String),
    List(Vec<Node>),
    /// Keys with their values, in pairs.
    Map(Vec<(Node, Node)>),
}

/// The file as a tree. Missing if it is no YAML.
pub fn tree(text: &str) -> Option<Node> {
    let mut open: Vec<(Node, Option<Node>)> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let place = place_of(&span.start);
        let node = match event {
            Event::SequenceStart(..) => {
                open.push((Node { place, value: Value::List(Vec::new()) }, None));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((Node { place, value: Value::Map(Vec::new()) }, None));
                continue;
            }
            Event::Scalar(text, ..) => Node { place, value: Value::Scalar(text.into_owned()) },
            // What it stands for has its own place.
            Event::Alias(_) => Node { place, value: Value::Scalar(String::new()) },
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

/// Where a second document begins.
pub fn second_document(text: &str) -> Option<(usize, usize)> {
    let events = Parser::new_from_str(text).map_while(Result::ok);
    let mut starts = events.filter(|(event, _)| matches!(event, Event::DocumentStart(_)));
    starts.nth(1).map(|(_, span)| place_of(&span.start))
}

/// The parser counts lines from 1 and columns from 0.
fn place_of(marker: &Marker) -> (usize, usize) {
    (marker.line().max(1), marker.col() + 1)
}

impl Node {
    /// Where a key stands for the second time in one map.
    pub fn second(&self, key: &str) -> Option<(usize, usize)> {
        match &self.value {
            Value::Scalar(_) => None,
            Value::List(items) => items.iter().find_map(|item| item.second(key)),
            Value::Map(entries) => {
                let twice = entries.iter().filter(|(known, _)| known.is(key)).nth(1).map(|(known, _)| known.place);
                twice.or_else(|| entries.iter().find_map(|(_, node)| node.second(key)))
            }
        }
    }

    /// The line of what a message is about. It begins with where that is, as in `matching.min_score`, `repos[1].url` or
    /// `grants, ROOT, SKILL`; words in backticks that stand below that lead further.
    pub fn line_of(&self, message: &str) -> Option<usize> {
        let (mut node, mut line, mut rest) = (self, None, message.lines().next()?);
        while let Some((place, next, left)) = node.step(rest) {
            (node, line, rest) = (next, Some(place.0), left);
        }
        line?;
        for word in rest.split('`').skip(1).step_by(2) {
            if let Some((place, next)) = node.below(word) {
                (node, line) = (next, Some(place.0));
            }
        }
        line
    }

    /// One step along the beginning of a message: the place, what is there, and the rest of the message.
    fn step<'a, 'm>(&'a self, message: &'m str) -> Option<((usize, usize), &'a Self, &'m str)> {
        match &self.value {
            Value::Scalar(_) => None,
            Value::List(items) => {
                let (number, rest) = message.strip_prefix('[')?.split_once(']')?;
                let item = items.get(number.parse::<usize>().ok()?)?;
                Some((item.place, item, rest.trim_start_matches('.')))
            }
            Value::Map(entries) => {
                let found = entries.iter().filter_map(|(key, node)| {
                    let Value::Scalar(name) = &key.value else { return None };
                    let rest = message.strip_prefix(name.as_str()).filter(|_| !name.is_empty())?;
                    let ends = rest.is_empty() || rest.starts_with([' ', '.', ',', ':', '[']);
                    let below = rest.strip_prefix(", ").or_else(|| rest.strip_prefix('.')).unwrap_or(rest);
                    ends.then_some((name.len(), (key.place, node, below)))
                });
                found.max_by_key(|(length, _)| *length).map(|(_, step)| step)
            }
        }
    }

    /// The first key or text of this name, here or further down.
    fn below(&self, name: &str) -> Option<((usize, usize), &Self)> {
        match &self.value {
            Value::Scalar(_) => self.is(name).then_some((self.place, self)),
            Value::List(items) => items.iter().find_map(|item| item.below(name)),
            Value::Map(entries) => {
                let here = entries.iter().find(|(key, _)| key.is(name)).map(|(key, node)| (key.place, node));
                here.or_else(|| entries.iter().find_map(|(_, node)| node.below(name)))
            }
        }
    }

    fn is(&self, text: &str) -> bool {
        matches!(&self.value, Value::Scalar(own) if own.trim() == text.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, message: &str) -> Option<usize> {
        tree(text)?.line_of(message)
    }

    #[test]
    fn values_that_cannot_be_meant_are_found_in_their_section() {
        let text = "\
# scripts: none\ngit:\n  timeout_seconds: 3\n\nscripts:\n  # timeout_seconds: 1\n\n  enabled: true\n  timeout_seconds: 0\n\
analytics: {timeout_seconds: 0}\ncatalog_max_chars: 1\n";
        for (message, expected) in [
            ("scripts.timeout_seconds is 0", Some(9)),
            ("git.timeout_seconds is 3", Some(3)),
            ("analytics.timeout_seconds is 0", Some(10)),
            ("scripts: `a/b` is no extension", Some(5)),
            ("catalog_max_chars is 1", Some(11)),
            ("scripts.fuel is 0", Some(5)),
            ("grants, /a, s: no", None),
            ("", None),
        ] {
            assert_eq!(line(text, message), expected, "{message}");
        }
    }

    #[test]
    fn however_it_is_written_it_is_found() {
        let grants = "grants:\n  /a:\n    s:\n      env: [A]\n      read:\n      - /x\n      - rel\n  '/a, b':\n    s: {read: [rel]}\n";
        for (text, message, expected) in [
            ("\"scripts\":\n  \"timeout_seconds\": 0\n", "scripts.timeout_seconds is 0", Some(2)),
            ("scripts :\n  timeout_seconds : 0\n", "scripts.timeout_seconds is 0", Some(2)),
            ("{\"matching\": {\n\"min_score\": 5}}", "matching.min_score is 5", Some(2)),
            ("scripts:\n  allowed_extensions: [a/b]\n", "scripts.allowed_extensions: `a/b` is none", Some(2)),
            (
                "scripts:\n  allowed_extensions:\n  - .py\n  - a/b\n",
                "scripts.allowed_extensions: `a/b` is none",
                Some(4),
            ),
            (
                "scripts:\n  runners:\n    .py: python\n    .rb: ruby\n",
                "scripts.runners: `ruby` is no runtime",
                Some(4),
            ),
            (grants, "grants, /a, s: `rel` must begin with `/` or `~/`", Some(7)),
            (grants, "grants, /a, s: `A` is no variable", Some(4)),
            (grants, "grants, /a, b, s: `rel` must begin with `/`", Some(9)),
            ("repos:\n- url: x\n- branch: b\n  url: y\n", "repos[1].url: `y` is no address", Some(4)),
            ("scorers:\n  a: x\n  a.b: y\n", "scorers.a.b names no file", Some(3)),
            ("integrations:\n  x:\n    hosts: ['*']\n", "integrations.x: `hosts`: `*` is no host", Some(3)),
            ("tools:\n- skill\n- nope\n", "tools: there is no tool `nope`\nhint: choose from `skill`", Some(3)),
            ("a: &a [1]\nmatching: *a\n", "matching.min_score", Some(2)),
            ("[", "matching", None),
        ] {
            assert_eq!(line(text, message), expected, "{text}: {message}");
        }
    }

    #[test]
    fn a_second_key_and_a_second_document_are_found() {
        let text = "a:\n  \"k\": 1\nb:\n- {k: 1, 'k': 2}\n";
        assert_eq!(tree(text).unwrap().second("k"), Some((4, 10)));
        assert_eq!(tree(text).unwrap().second("a"), None);
        assert_eq!(second_document("---\nmatching: {}\n---\nscripts: {}\n"), Some((3, 1)));
        assert_eq!(second_document("matching: {}\n"), None);
    }
}
