//! Invisible characters that front matter contains as escapes, such as `\\u202e`.

use super::Diagnostic;
use super::front::Front;
use super::invisible::{Kind, invisible};
use crate::place::Place;
use crate::yaml::{Entry, Node, Value};
use std::collections::BTreeSet;

/// Maximum number of values checked in detail.
const MAX_VALUES: usize = 50;

/// Reports invisible characters in keys and values that are not in the text of the file.
pub fn escapes(text: &str, front: &Front) -> Vec<Diagnostic> {
    let mut search = Search { text, checks_left: MAX_VALUES, reported: BTreeSet::new(), found: Vec::new() };
    search.entries(front.fields.entries());
    search.found
}

struct Search<'text> {
    text: &'text str,
    checks_left: usize,
    /// Place and message of each.
    reported: BTreeSet<(Place, String)>,
    found: Vec<Diagnostic>,
}

impl Search<'_> {
    fn entries(&mut self, entries: &[Entry]) {
        for entry in entries {
            self.value(&entry.key, entry.place);
            self.node(&entry.node);
        }
    }

    /// Recursion is bounded by the depth limit of `yaml`.
    fn node(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar { text, .. } => self.value(text, node.place),
            Value::List(items) => items.iter().for_each(|item| self.node(item)),
            Value::Map(entries) => self.entries(entries),
        }
    }

    fn value(&mut self, value: &str, place: Place) {
        // Without the quote, a leading U+FEFF would count as the byte order mark of a file.
        let hidden = invisible(&format!("\"{value}"), Kind::Markdown);
        if hidden.is_empty() || self.checks_left == 0 {
            return;
        }
        self.checks_left -= 1;
        let Some(written) = place.offset(self.text).and_then(|at| written(&self.text[at..])) else { return };
        let seen: BTreeSet<String> =
            invisible(written, Kind::Markdown).into_iter().map(|found| found.finding.message).collect();
        for found in hidden.into_iter().filter(|found| !seen.contains(&found.finding.message)) {
            if self.reported.insert((place, found.finding.message.clone())) {
                self.found.push(found.finding.at(place).into());
            }
        }
    }
}

/// Returns a double-quoted value as written, up to its closing quote. Other values have no escapes.
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

    fn reported(yaml: &str) -> Vec<(u32, u32, String)> {
        let text = format!("---\n{yaml}\n---\n");
        let front = Front::of(&text, SkillModel::Folder).unwrap();
        let reported = escapes(&text, &front).into_iter().map(|found| found.finding);
        reported.map(|finding| (finding.line.unwrap(), finding.column.unwrap(), finding.message)).collect()
    }

    #[test]
    fn escaped_characters_are_reported_at_the_start_of_the_value() {
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
            let reported = reported(yaml);
            assert_eq!(reported.len(), 1, "{yaml}: {reported:?}");
            assert_eq!((reported[0].0, reported[0].1), (line, column), "{yaml}");
            assert!(reported[0].2.contains(part), "{yaml}: {reported:?}");
        }
        assert_eq!(reported(r#"a: "x \u202e hidden \U000E0068""#).len(), 2);
        let flag = r"\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F";
        assert_eq!(reported(&format!("a: \"{flag}\"")), []);
        assert_eq!(reported(&format!("a: \"{flag} \\U000E0067\"")).len(), 1);
    }

    #[test]
    fn literal_characters_and_other_backslashes_are_not_reported_here() {
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
            assert_eq!(reported(yaml), [], "{yaml:?}");
        }
    }

    #[test]
    fn a_hostile_text_is_processed_quickly() {
        let many = (0..4_000).map(|number| format!("k{number}: &a{number} \"\\u200b\"\n")).collect::<String>();
        assert!(reported(&many).len() <= MAX_VALUES);
        let repeated = format!("a: &a \"\\u200b\"\nb: [{}]\n", vec!["*a"; 3_000].join(", "));
        assert_eq!(reported(&repeated).len(), 1);
    }
}
