//! The rules of the Agent Skills format that strict clients enforce.

use crate::frontmatter::Fields;
use crate::json;
use crate::yaml::{Node, Value};

/// In characters.
pub const MAX_NAME: usize = 64;
pub const MAX_DESCRIPTION: usize = 1_024;
pub const MAX_COMPATIBILITY: usize = 500;

/// Returns the first rule that a document violates. `folder` is the last segment of the skill's URI.
pub fn broken_rule(text: &str, fields: &Fields, folder: &str) -> Option<&'static str> {
    let text_of = |key: &str| fields.first(key).and_then(json::as_text);
    let is_within = |key: &str, max: usize| text_of(key).is_some_and(|text| (1..=max).contains(&text.chars().count()));
    let is_missing = |key: &str| fields.first(key).is_none();
    let name = text_of("name").unwrap_or_default();
    let rules = [
        (name == folder, "its `name` is not the name of its folder"),
        (is_name(name), "its `name` is not made of lower-case words joined by `-`"),
        (is_within("description", MAX_DESCRIPTION), "its `description` is not text of up to 1,024 characters"),
        (
            is_missing("compatibility") || is_within("compatibility", MAX_COMPATIBILITY),
            "its `compatibility` is not text of up to 500 characters",
        ),
        (fields.first("metadata").is_none_or(has_only_texts), "its `metadata` has values that are not text"),
        (
            ["license", "allowed-tools"].into_iter().all(|key| is_missing(key) || text_of(key).is_some()),
            "its `license` or `allowed-tools` is not text",
        ),
        (text.starts_with("---"), "its file begins with a byte order mark"),
    ];
    rules.into_iter().find(|(kept, _)| !kept).map(|(_, rule)| rule)
}

/// Whether a name consists of lower-case words joined by `-` and is not too long.
pub fn is_name(name: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.len() <= MAX_NAME && name.split('-').all(is_word)
}

fn has_only_texts(metadata: &Node) -> bool {
    let Value::Map(entries) = &metadata.value else { return false };
    // For duplicate keys the first non-null value counts.
    let fields = Fields::new(entries.clone());
    entries.iter().filter_map(|entry| fields.first(&entry.key)).all(|node| json::as_text(node).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontmatter;

    #[test]
    fn each_violated_rule_is_reported() {
        let long = |key: &str, length: usize| format!("name: pdf\n{key}: {}\n", "é".repeat(length));
        for (yaml, part) in [
            ("name: other\ndescription: d\n".to_owned(), Some("name of its folder")),
            ("name: 12\ndescription: d\n".to_owned(), Some("name of its folder")),
            ("description: d\n".to_owned(), Some("name of its folder")),
            ("name: pdf\n".to_owned(), Some("`description`")),
            ("name: pdf\ndescription: 2024\n".to_owned(), Some("`description`")),
            (long("description", 1_024), None),
            (long("description", 1_025), Some("`description`")),
            ("name: pdf\ndescription: d\ncompatibility:\n".to_owned(), Some("`compatibility`")),
            (long("description: d\ncompatibility", 500), None),
            (long("description: d\ncompatibility", 501), Some("`compatibility`")),
            ("name: pdf\ndescription: d\nmetadata: {a: b, c: '1'}\n".to_owned(), None),
            ("name: pdf\ndescription: d\nmetadata: {a: 1}\n".to_owned(), Some("`metadata`")),
            ("name: pdf\ndescription: d\nmetadata: {a: , a: x}\n".to_owned(), None),
            ("name: pdf\ndescription: d\nmetadata: {a: }\n".to_owned(), Some("`metadata`")),
            ("name: pdf\ndescription: d\nmetadata: [a]\n".to_owned(), Some("`metadata`")),
            ("name: pdf\ndescription: d\nmetadata:\n".to_owned(), Some("`metadata`")),
            ("name: pdf\ndescription: d\nlicense: 2\n".to_owned(), Some("`license`")),
            ("name: pdf\ndescription: d\nallowed-tools: [a]\n".to_owned(), Some("`allowed-tools`")),
            ("name: pdf\ndescription: d\nother: [a, 1]\n".to_owned(), None),
        ] {
            let rule = broken_rule("---\n", &frontmatter::parse(&yaml).fields, "pdf");
            assert_eq!(rule.is_some(), part.is_some(), "{yaml}: {rule:?}");
            assert!(rule.unwrap_or_default().contains(part.unwrap_or_default()), "{yaml}: {rule:?}");
        }
    }

    #[test]
    fn a_name_is_lower_case_words_and_the_file_has_no_byte_order_mark() {
        for (name, legal) in [("a-1", true), ("a--b", false), ("-a", false), ("a-", false), ("A", false), ("é", false)]
        {
            let fields = frontmatter::parse(&format!("name: {name}\ndescription: d\n")).fields;
            assert_eq!(broken_rule("---\n", &fields, name).is_none(), legal, "{name}");
        }
        let fields = frontmatter::parse("name: pdf\ndescription: d\n").fields;
        assert_eq!(broken_rule("\u{feff}---\n", &fields, "pdf"), Some("its file begins with a byte order mark"));
    }
}
