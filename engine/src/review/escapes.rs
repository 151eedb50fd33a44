//! Characters that nobody sees and that do not stand in the file: front matter has them as escapes, such as `\\u202e`.

use super::Found;
use super::front::Front;
use super::invisible::{Kind, invisible};
use crate::place::Place;
use crate::yaml::{Entry, Node, Value};
use std::collections::BTreeSet;

/// Most values with such characters that are looked at closely.
const MOST: usize = 50;

/// What cannot be seen in the keys and values of a front matter, beyond what cannot be seen in the text of the file.
pub fn escapes(text: &str, front: &Front) -> Vec<Found> {
    let mut search = Search { text, looks_left: MOST, told: BTreeSet::new(), found: Vec::new() };
    search.entries(front.fields.entries());
    search.found
}

struct Search<'text> {
    text: &'text str,
    looks_left: usize,
    /// Place and message of each.
    told: BTreeSet<(Place, String)>,
    found: Vec<Found>,
}

impl Search<'_> {
    fn entries(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.value(&entry.key, entry.place);
            self.node(&entry.node);
        }
    }

    /// The tree is as shallow as `yaml` allows.
    fn node(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar { text, .. } => self.value(text, node.place),
            Value::List(items) => items.iter().for_each(|item| self.node(item)),
            Value::Map(entries) => self.entries(entries),
        }
    }

    fn value(&mut self, value: &str, place: Place) {
        // A mark in front would be taken for that of a file.
        let hidden = invisible(&format!("\"{value}"), Kind::Markdown);
        if hidden.is_empty() || self.looks_left == 0 {
            return;
        }
        self.looks_left -= 1;
        let Some(written) = place.offset(self.text).and_then(|at| written(&self.text[at..])) else { return };
        let seen: BTreeSet<String> =
            invisible(written, Kind::Markdown).into_iter().map(|found| found.finding.message).collect();
        for found in hidden.into_iter().filter(|found| !seen.contains(&found.finding.message)) {
            if self.told.insert((place, found.finding.message.clone())) {
                self.found.push(found.finding.at(place).into());
            }
        }
    }
}

/// How a value stands in a text that begins with it, up to its closing quote. Only between double quotes there are escapes.
fn written(text: &str) -> Option<&str> {
    let mut text = text;
    while text.starts_with(['&', '!']) {
        text = text.trim_start_matches(|letter: char| !letter.is_whitespace()).trim_start();
    }
    let inside = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.find(|letter| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    });
    end.map(|end| &text[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::skillcell::plugin::types::SkillModel;

    fn told(yaml: &str) -> Vec<(u32, u32, String)> {
        let text = format!("---\n{yaml}\n---\n");
        let front = Front::of(&text, SkillModel::Folder).unwrap();
        let told = escapes(&text, &front).into_iter().map(|found| found.finding);
        told.map(|finding| (finding.line.unwrap(), finding.column.unwrap(), finding.message)).collect()
    }

    #[test]
    fn what_is_escaped_is_told_where_its_value_begins() {
        for (yaml, line, column, part) in [
            (r#"a: "x \u202e y""#, 2, 4, "U+202E RIGHT-TO-LEFT OVERRIDE"),
            (r#"a: "x \U000E0068\U000E0069""#, 2, 4, "hide the text `hi`"),
            (r#"a: "\ufeffx""#, 2, 4, "U+FEFF"),
            (r#"a: "\x00""#, 2, 4, "U+0000"),
            (r#""k\u200b": x"#, 2, 1, "U+200B"),
            ("a: &x \"\\u200b\"", 2, 4, "U+200B"),
            ("a: b\nc: [x, {d: \"\\u200b\"}]", 3, 12, "U+200B"),
            ("a: b\nc: \"\\\" \\u200b\"", 3, 4, "U+200B"),
        ] {
            let told = told(yaml);
            assert_eq!(told.len(), 1, "{yaml}: {told:?}");
            assert_eq!((told[0].0, told[0].1), (line, column), "{yaml}");
            assert!(told[0].2.contains(part), "{yaml}: {told:?}");
        }
        assert_eq!(told(r#"a: "x \u202e hidden \U000E0068""#).len(), 2);
        let flag = r"\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F";
        assert_eq!(told(&format!("a: \"{flag}\"")), []);
        assert_eq!(told(&format!("a: \"{flag} \\U000E0067\"")).len(), 1);
    }

    #[test]
    fn what_stands_in_the_file_or_is_no_escape_is_not_told_here() {
        for yaml in [
            "a: x\u{200b}y",
            "a: x\u{200b}y\nb: x\u{200b}y",
            "a: 'x\u{202e}y'",
            "a: \"x\u{202e}y\"",
            "a: |\n  x\u{200b}y",
            "a: 'x \\u202e'",
            "a: x \\u202e",
            "a: \"x \\\\u202e\"",
            "a: [b\n",
            "a: \"x \\u00e9 \\t\\n\"",
        ] {
            assert_eq!(told(yaml), [], "{yaml:?}");
        }
    }

    #[test]
    fn a_hostile_text_ends_soon() {
        let many = (0..4_000).map(|number| format!("k{number}: &a{number} \"\\u200b\"\n")).collect::<String>();
        assert!(told(&many).len() <= MOST);
        let repeated = format!("a: &a \"\\u200b\"\nb: [{}]\n", vec!["*a"; 3_000].join(", "));
        assert_eq!(told(&repeated).len(), 1);
    }
}
