//! Where Markdown links lead.

/// Most links that are looked at in one file. An instruction with more is a list of links.
const MOST: usize = 2_000;

/// Longest destination that is looked at, in bytes.
const LONGEST: usize = 1_024;

/// A link, an image or the definition of a link.
#[derive(Debug, PartialEq)]
pub struct Link {
    /// Where the destination begins, in bytes.
    pub at: usize,
    /// The destination as written, without the backslashes in it.
    pub destination: String,
}

/// The links in a text without code, in their order.
pub fn links(prose: &str) -> Vec<Link> {
    let bytes = prose.as_bytes();
    let mut found = Vec::new();
    // How many brackets are open.
    let mut depth = 0_usize;
    let (mut line_start, mut at) = (0, 0);
    while found.len() < MOST && at < bytes.len() {
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

/// Whether a line has only the label of a definition in it so far. A footnote is none.
fn is_label(line: &str) -> bool {
    let label = line.trim_start().strip_prefix('[');
    label.is_some_and(|label| !label.is_empty() && !label.starts_with('^') && !label.contains(['[', ']']))
}

/// The link whose destination is the next thing in a text.
fn link_at(prose: &str, start: usize) -> Option<Link> {
    let rest = &prose[start..];
    let at = start + (rest.len() - rest.trim_start().len());
    let rest = &prose[at..];
    let rest = &rest[..rest.floor_char_boundary(LONGEST)];
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
    fn what_only_looks_like_a_link_is_none() {
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
    fn a_hostile_text_ends_soon() {
        for text in [
            "[](".repeat(300_000),
            "[".repeat(1_000_000),
            "[a]:".repeat(200_000),
            "[a](b)".repeat(100_000),
            "\n".repeat(900_000),
            "\n ".repeat(400_000),
        ] {
            assert!(links(&text).len() <= MOST);
        }
    }

    proptest! {
        #[test]
        fn destinations_begin_on_boundaries(text in "[\\[\\]()<>:!^é \\\\\na.]{0,60}") {
            for link in links(&text) {
                prop_assert!(text.is_char_boundary(link.at));
            }
        }
    }
}
