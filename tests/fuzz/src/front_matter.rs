//! Front matter and its YAML, as the engine reads them.

use skillcell_engine::frontmatter::{self, Split};
use skillcell_engine::yaml::{self, Node, Value};
use skillcell_engine::{paths, skill};

/// The limits of `yaml`.
const MAX_NODES: usize = 10_000;
const MAX_REPEATED_BYTES: usize = 64 << 10;
const MAX_DEPTH: usize = 32;

/// The limits of `reader`.
const MAX_NAME: usize = 256;
const MAX_DESCRIPTION: usize = 4096;
const MAX_KEYWORDS: usize = 500;

pub fn front_matter(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let yaml = match frontmatter::split(&text) {
        Split::Found { yaml, body } => {
            assert_eq!(split_by_lines(&text), Some((yaml, body)));
            yaml
        }
        Split::Absent | Split::Unclosed => &text,
    };
    check_yaml(yaml);
    let parsed = frontmatter::parse(yaml);
    assert!(parsed.complete || !parsed.findings.is_empty(), "an incomplete front matter has no finding");
    for file in ["a/SKILL.md", "tree/leaf.md"] {
        let (skill, findings) = skill::read(0, "skills", file, &text);
        let Some(skill) = skill else { continue };
        assert!(skill.name.chars().count() <= MAX_NAME && skill.description.chars().count() <= MAX_DESCRIPTION);
        assert!(skill.keywords.len() <= MAX_KEYWORDS && skill.aliases.len() <= MAX_KEYWORDS);
        assert!(skill.priority.is_finite());
        let assets = skill.assets.iter().map(|asset| &asset.file);
        for declared in assets.chain(skill.scripts.iter().map(|script| &script.file)) {
            assert_eq!(paths::clean(declared).as_ref(), Some(declared), "a declared file leaves its folder");
            assert!(!paths::is_hidden(declared), "a declared file is hidden");
        }
        assert!(findings.iter().all(|finding| finding.line != Some(0) && finding.column != Some(0)));
    }
}

/// A second reading of where the front matter ends.
fn split_by_lines(text: &str) -> Option<(&str, &str)> {
    let start = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = start.split_inclusive('\n');
    let mut at = lines.next().filter(|first| first.trim_end() == "---")?.len();
    let yaml_start = at;
    for line in lines {
        if line.trim_end() == "---" {
            return Some((&start[yaml_start..at], &start[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// What is parsed stays within the limits, and means the same when it is written out and parsed again.
fn check_yaml(text: &str) {
    let parsed = yaml::parse(text);
    assert_eq!(parsed, yaml::parse(text));
    let Ok(node) = parsed else { return };
    let mut size = Size::default();
    measure(&node, 1, &mut size);
    assert!(size.nodes <= MAX_NODES, "{} nodes", size.nodes);
    assert!(size.bytes <= text.len() + MAX_REPEATED_BYTES, "{} bytes from {}", size.bytes, text.len());
    assert!(size.depth <= MAX_DEPTH + 1, "depth {}", size.depth);
    let mut written = String::new();
    write(&node, &mut written);
    let again = yaml::parse_only(&written).unwrap_or_else(|error| panic!("{error:?} in {written}"));
    assert!(is_same(&node, &again), "{written} from {text:?}");
}

#[derive(Default)]
struct Size {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

fn measure(node: &Node, depth: usize, size: &mut Size) {
    size.nodes += 1;
    size.depth = size.depth.max(depth);
    match &node.value {
        Value::Scalar { text, .. } => size.bytes += text.len(),
        Value::List(items) => items.iter().for_each(|item| measure(item, depth + 1, size)),
        Value::Map(entries) => {
            for entry in entries {
                size.nodes += 1;
                size.bytes += entry.key.len();
                measure(&entry.node, depth + 1, size);
            }
        }
    }
}

/// Writes a node with brackets and quotes, without an alias.
fn write(node: &Node, written: &mut String) {
    match &node.value {
        Value::Scalar { text, .. } => write_text(text, written),
        Value::List(items) => {
            written.push('[');
            for item in items {
                write(item, written);
                written.push_str(", ");
            }
            written.push(']');
        }
        Value::Map(entries) => {
            written.push('{');
            for entry in entries {
                // With a `?`, a key may have any length.
                written.push_str("? ");
                write_text(&entry.key, written);
                written.push_str(" : ");
                write(&entry.node, written);
                written.push_str(", ");
            }
            written.push('}');
        }
    }
}

fn write_text(text: &str, written: &mut String) {
    written.push('"');
    for letter in text.chars() {
        match letter {
            ' ' | 'a'..='z' | 'A'..='Z' | '0'..='9' => written.push(letter),
            _ => written.push_str(&format!("\\U{:08X}", u32::from(letter))),
        }
    }
    written.push('"');
}

/// Compares what nodes say, not where they are or whether they had quotes.
fn is_same(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Scalar { text: one, .. }, Value::Scalar { text: other, .. }) => one == other,
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            let same = |one: &yaml::Entry, other: &yaml::Entry| one.key == other.key && is_same(&one.node, &other.node);
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => false,
    }
}
