//! What is written into settings: words, lists of words, and groups of both in the order in which they are to stand.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    Word(String),
    List(Vec<String>),
    Group(Vec<(String, Setting)>),
}

impl Setting {
    pub fn word(word: impl Into<String>) -> Self {
        Self::Word(word.into())
    }

    /// A group with one member.
    pub fn within(key: &str, inner: Self) -> Self {
        Self::Group(vec![(key.to_owned(), inner)])
    }

    /// For comparing, where order does not matter.
    pub fn value(&self) -> Value {
        match self {
            Self::Word(word) => Value::from(word.as_str()),
            Self::List(words) => Value::from(words.clone()),
            Self::Group(members) => members.iter().map(|(key, member)| (key.clone(), member.value())).collect(),
        }
    }

    /// JSON on one line, with a gap after each comma and colon.
    pub fn on_one_line(&self, gap: &str) -> String {
        let separator = format!(",{gap}");
        match self {
            Self::Word(word) => quoted(word),
            Self::List(words) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                format!("[{}]", words.join(&separator))
            }
            Self::Group(members) => {
                let member =
                    |(key, member): &(String, Self)| format!("{}:{gap}{}", quoted(key), member.on_one_line(gap));
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(&separator))
            }
        }
    }

    /// JSON on several lines, of which all but the first begin with `line_start`, and each level further in with `unit`.
    pub fn on_lines(&self, line_start: &str, unit: &str) -> String {
        let inner = format!("{line_start}{unit}");
        let lines = |open: char, members: Vec<String>, close: char| {
            let separator = format!(",{inner}");
            format!("{open}{inner}{}{line_start}{close}", members.join(&separator))
        };
        match self {
            Self::List(words) if !words.is_empty() => lines('[', words.iter().map(|word| quoted(word)).collect(), ']'),
            Self::Group(members) if !members.is_empty() => {
                let member =
                    |(key, member): &(String, Self)| format!("{}: {}", quoted(key), member.on_lines(&inner, unit));
                lines('{', members.iter().map(member).collect(), '}')
            }
            _ => self.on_one_line(" "),
        }
    }
}

/// A word as JSON has it.
pub fn quoted(word: &str) -> String {
    Value::from(word).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_kept() {
        let group = Setting::Group(vec![
            ("type".to_owned(), Setting::word("stdio")),
            ("args".to_owned(), Setting::List(vec!["a\"b".to_owned(), "c\n".to_owned()])),
            ("env".to_owned(), Setting::Group(Vec::new())),
        ]);
        assert_eq!(group.on_one_line(""), r#"{"type":"stdio","args":["a\"b","c\n"],"env":{}}"#);
        let lines = "{\n\t\"type\": \"stdio\",\n\t\"args\": [\n\t\t\"a\\\"b\",\n\t\t\"c\\n\"\n\t],\n\t\"env\": {}\n}";
        assert_eq!(group.on_lines("\n", "\t"), lines);
        assert_eq!(serde_json::from_str::<Value>(lines).unwrap(), group.value());
    }
}
