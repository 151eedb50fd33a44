//! Finds the destinations of Markdown links.

/// Maximum number of links checked per file.
const MAX_LINKS: usize = 2_000;

/// Maximum length of a destination.
const MAX_DESTINATION_BYTES: usize = 1_024;

/// A link, an image or a link reference definition.
#[derive(Debug, PartialEq)]
pub struct Link {
    /// Byte offset of the destination.
    pub at: usize,
    /// The destination with backslash escapes resolved.
    pub destination: String,
}

/// Returns the links in a text without code, in order.
pub fn links(prose: &str) -> Vec<Link> {
    let bytes = prose.as_bytes();
    let mut found = Vec::new();
    // Number of open brackets.
    let mut depth = 0_usize;
    let (mut line_start, mut at) = (0, 0);
    while found.len() < MAX_LINKS && at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => depth += 1,
            b']' if depth > 0 => {
                depth -= 1;
                let start = match bytes.get(at + 1) {
                    Some(b'(') => Some(at + 2),
                    Some(b':') if is_label(&prose[line_start..at]) => Some(at + 2),
                    _ => None,
                };
                found.extend(start.and_then(|start| link_at(prose, start)));
            }
            b'\n' => {
                line_start = at + 1;
                if is_empty_line(&bytes[line_start..]) {
                    depth = 0;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn is_empty_line(rest: &[u8]) -> bool {
    rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).is_none_or(|byte| *byte == b'\n')
}

/// Whether a line so far is only the label of a link reference definition. A footnote is not.
fn is_label(line: &str) -> bool {
    let label = line.trim_start().strip_prefix('[');
    label.is_some_and(|label| !label.is_empty() && !label.starts_with('^') && !label.contains(['[', ']']))
}

/// Parses the destination that comes next in a text.
fn link_at(prose: &str, start: usize) -> Option<Link> {
    let rest = &prose[start..];
    let at = start + (rest.len() - rest.trim_start().len());
    let rest = &prose[at..];
    let rest = &rest[..rest.floor_char_boundary(MAX_DESTINATION_BYTES)];
    let (at, rest, is_quoted) = match rest.strip_prefix('<') {
        Some(rest) => (at + 1, rest, true),
        None => (at, rest, false),
    };
    let mut destination = String::new();
    let mut depth = 0_usize;
    let mut letters = rest.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek().is_some_and(char::is_ascii_punctuation) => destination.extend(letters.next()),
            '>' | '\n' if is_quoted => break,
            _ if is_quoted => destination.push(letter),
            ')' if depth == 0 => break,
            _ if letter.is_whitespace() => break,
            _ => {
                depth = if letter == '(' { depth + 1 } else { depth - usize::from(letter == ')') };
                destination.push(letter);
            }
        }
    }
    (!destination.is_empty()).then_some(Link { at, destination })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn destinations(text: &str) -> Vec<String> {
        links(text).into_iter().map(|link| link.destination).collect()
    }

    #[test]
    fn links_images_and_definitions_are_found() {
        for (text, expected) in [
            ("[a](b.md)", vec!["b.md"]),
            ("see [a](b.md), ![c](d.png \"title\") and [e]( <f g.md> )", vec!["b.md", "d.png", "f g.md"]),
            ("[![a](b.png)](c.md)", vec!["b.png", "c.md"]),
            ("[a [b] c](d.md)", vec!["d.md"]),
            ("[a](b(1).md)", vec!["b(1).md"]),
            ("[a](b\\).md)", vec!["b).md"]),
            ("[a]: b.md\n  [c]: <d.md> \"t\"", vec!["b.md", "d.md"]),
            ("[a\nb](c.md)", vec!["c.md"]),
            ("[a](été/文.md)", vec!["été/文.md"]),
        ] {
            assert_eq!(destinations(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_link_is_ignored() {
        for text in [
            "",
            "[a]",
            "[a] (b.md)",
            "a](b.md)",
            "\\[a](b.md)",
            "[a]()",
            "[^1]: b.md",
            "x [a]: b.md",
            "[a\n\nb](c.md)",
            "f[0](",
            "- [ ] b.md",
        ] {
            assert_eq!(destinations(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_link_knows_where_its_destination_begins() {
        let text = "é [a]( <b.md>)";
        assert_eq!(links(text), [Link { at: text.find("b.md").unwrap(), destination: "b.md".to_owned() }]);
    }

    #[test]
    fn a_hostile_text_is_processed_quickly() {
        for text in [
            "[](".repeat(300_000),
            "[".repeat(1_000_000),
            "[a]:".repeat(200_000),
            "[a](b)".repeat(100_000),
            "\n".repeat(900_000),
            "\n ".repeat(400_000),
        ] {
            assert!(links(&text).len() <= MAX_LINKS);
        }
    }

    proptest! {
        #[test]
        fn destinations_start_on_character_boundaries(text in "[\\[\\]()<>:!^é \\\\\na.]{0,60}") {
            for link in links(&text) {
                prop_assert!(text.is_char_boundary(link.at));
            }
        }
    }
}
