//! Front matter as JSON, with the types of the YAML 1.2 core schema.

use crate::yaml::{Entry, Node, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Writes an object with these entries in order. For duplicate keys the first non-null value counts.
pub fn object(entries: &[Entry]) -> String {
    let mut json = String::new();
    write_object(&mut json, entries);
    json
}

/// Returns a double-quoted string that is valid in both JSON and YAML.
pub fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    write_text(&mut json, text);
    json
}

/// Returns the text of a scalar that is also a string in JSON.
pub fn as_text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar { text, plain } => {
            let is_other = node.is_null() || node.as_bool().is_some() || *plain && number(text).is_some();
            (!is_other).then_some(text)
        }
        Value::List(_) | Value::Map(_) => None,
    }
}

fn write_object(json: &mut String, entries: &[Entry]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, entry) in entries.iter().enumerate() {
        let kept = counts.entry(&entry.key).or_insert(place);
        if entries[*kept].node.is_null() && !entry.node.is_null() {
            *kept = place;
        }
    }
    json.push('{');
    let kept = entries.iter().enumerate().filter(|(place, entry)| counts.get(entry.key.as_str()) == Some(place));
    for (count, (_, entry)) in kept.enumerate() {
        if count > 0 {
            json.push(',');
        }
        write_text(json, &entry.key);
        json.push(':');
        write_node(json, &entry.node);
    }
    json.push('}');
}

/// Recursion is bounded by the depth limit of `yaml`.
fn write_node(json: &mut String, node: &Node) {
    match &node.value {
        Value::Map(entries) => write_object(json, entries),
        Value::List(items) => {
            json.push('[');
            for (count, item) in items.iter().enumerate() {
                if count > 0 {
                    json.push(',');
                }
                write_node(json, item);
            }
            json.push(']');
        }
        Value::Scalar { text, plain } => match (node.as_bool(), plain.then(|| number(text)).flatten()) {
            _ if node.is_null() => json.push_str("null"),
            (Some(flag), _) => json.push_str(if flag { "true" } else { "false" }),
            (None, Some(number)) => json.push_str(&number),
            (None, None) => write_text(json, text),
        },
    }
}

fn write_text(json: &mut String, text: &str) {
    json.push('"');
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            // YAML accepts these only escaped, or reads them as line ends.
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => write_escaped(json, letter),
            _ if letter.is_control() => write_escaped(json, letter),
            _ => json.push(letter),
        }
    }
    json.push('"');
}

fn write_escaped(json: &mut String, letter: char) {
    write!(json, "\\u{:04x}", u32::from(letter)).expect("a string takes any text");
}

/// Converts a plain scalar to a JSON number, if it is one in the core schema and JSON can represent it.
fn number(text: &str) -> Option<String> {
    if let Some(digits) = text.strip_prefix("0o") {
        return in_base(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return in_base(digits, 16);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { "-" } else { "" };
    if is_digits(unsigned) {
        let whole = unsigned.trim_start_matches('0');
        return match format!("{sign}{whole}").parse::<i128>() {
            Ok(number) => Some(number.to_string()),
            Err(_) if whole.is_empty() => Some("0".to_owned()),
            Err(_) => finite(text.parse().ok()?),
        };
    }
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let exponent_is_sound =
        exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let only_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = is_digits(whole) || whole.is_empty() && !fraction.is_empty();
    if !exponent_is_sound || !has_digits || !only_digits(fraction) {
        return None;
    }
    // Other JSON parsers fail on numbers beyond the range of a float.
    finite(text.parse().ok()?)?;
    let significant = whole.trim_start_matches('0');
    let whole = if significant.is_empty() { "0" } else { significant };
    let fraction = match (mantissa.contains('.'), fraction) {
        (false, _) => String::new(),
        (true, "") => ".0".to_owned(),
        (true, fraction) => format!(".{fraction}"),
    };
    let exponent = exponent.map(|exponent| format!("e{exponent}")).unwrap_or_default();
    Some(format!("{sign}{whole}{fraction}{exponent}"))
}

fn in_base(digits: &str, base: u32) -> Option<String> {
    let values: Vec<u32> = digits.chars().map(|letter| letter.to_digit(base)).collect::<Option<_>>()?;
    if values.is_empty() {
        return None;
    }
    let exact = values
        .iter()
        .try_fold(0_i128, |sum, value| sum.checked_mul(base.into()).and_then(|sum| sum.checked_add((*value).into())));
    match exact {
        Some(number) => Some(number.to_string()),
        None => finite(values.iter().fold(0.0, |sum, value| sum * f64::from(base) + f64::from(*value))),
    }
}

fn finite(number: f64) -> Option<String> {
    number.is_finite().then(|| format!("{number:?}"))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontmatter;
    use crate::yaml;
    use proptest::prelude::*;

    fn json(yaml: &str) -> String {
        object(frontmatter::parse(yaml).fields.entries())
    }

    #[test]
    fn scalars_have_the_types_of_the_core_schema() {
        for (yaml, expected) in [
            ("", "null"),
            ("~", "null"),
            ("Null", "null"),
            ("nULL", "\"nULL\""),
            ("True", "true"),
            ("FALSE", "false"),
            ("yes", "\"yes\""),
            ("2024-01-02", "\"2024-01-02\""),
            ("12", "12"),
            ("+12", "12"),
            ("-007", "-7"),
            ("-0", "0"),
            ("0o17", "15"),
            ("0xFf", "255"),
            ("-0x1", "\"-0x1\""),
            ("0o8", "\"0o8\""),
            ("0x", "\"0x\""),
            ("1_000", "\"1_000\""),
            ("1.", "1.0"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("+01.50", "1.50"),
            ("1e3", "1e3"),
            ("1.E+3", "1.0e+3"),
            ("1e", "\"1e\""),
            (".", "\".\""),
            ("1.2.3", "\"1.2.3\""),
            ("1e999", "\"1e999\""),
            (".inf", "\".inf\""),
            ("-.INF", "\"-.INF\""),
            (".nan", "\".nan\""),
            ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
            ("999999999999999999999999999999999999999999", "1e42"),
            ("0xfffffffffffffffffffffffffffffffffff", "1.393796574908164e42"),
            ("\"12\"", "\"12\""),
            ("'true'", "\"true\""),
            ("!!str 12", "12"),
        ] {
            assert_eq!(json(&format!("k: {yaml}\n")), format!("{{\"k\":{expected}}}"), "{yaml}");
        }
    }

    #[test]
    fn lists_and_maps_nest_in_their_order() {
        let yaml = "name: x\nmetadata:\n  b: [1, 'two', {c: ~}]\n  a: {}\nlist: []\ntext: |\n  a\n  \"b\"\n";
        let expected = r#"{"name":"x","metadata":{"b":[1,"two",{"c":null}],"a":{}},"list":[],"text":"a\n\"b\"\n"}"#;
        assert_eq!(json(yaml), expected);
    }

    #[test]
    fn the_first_non_null_value_of_a_duplicate_key_counts() {
        assert_eq!(json("a:\nb: 1\na: 2\na: 3\nc:\nc: ~\n"), r#"{"b":1,"a":2,"c":null}"#);
        assert_eq!(json("m: {a: ~, a: 1}\n"), r#"{"m":{"a":1}}"#);
    }

    #[test]
    fn repaired_front_matter_is_used() {
        assert_eq!(json("description: Use it: now\n"), r#"{"description":"Use it: now"}"#);
        assert_eq!(json("name: x\nlist: [a\n"), r#"{"name":"x","list":"[a"}"#);
        assert_eq!(json("just text"), "{}");
        assert_eq!(json(""), "{}");
    }

    #[test]
    fn characters_that_json_or_yaml_do_not_accept_are_escaped() {
        assert_eq!(
            quoted("a\"b\\c\n\r\t\u{1}\u{7f}\u{85}\u{2028}é文😀"),
            r#""a\"b\\c\n\r\t\u0001\u007f\u0085\u2028é文😀""#
        );
    }

    proptest! {
        #[test]
        fn a_quoted_text_is_the_same_text_in_yaml(text in any::<String>()) {
            let node = yaml::parse(&quoted(&text)).unwrap();
            prop_assert_eq!(node.value, Value::Scalar { text, plain: false });
        }

        #[test]
        fn a_number_is_a_valid_float(text in "[-+]?[0-9.eExo]{1,8}") {
            if let Some(json) = number(&text) {
                prop_assert!(json.parse::<f64>().is_ok_and(f64::is_finite), "{}", json);
                let digits = json.trim_start_matches('-');
                prop_assert!(digits.starts_with(|letter: char| letter.is_ascii_digit()), "{}", json);
                prop_assert!(digits.len() == 1 || !digits.starts_with('0') || digits[1..].starts_with(['.', 'e', 'E']), "{}", json);
                prop_assert!(!json.ends_with('.') && !json.contains(".e"), "{}", json);
            }
        }

        #[test]
        fn any_front_matter_becomes_an_object(yaml in "[-a:,&*'\" \n#0-9.\\[\\]{}]{0,60}") {
            // JSON is a subset of YAML.
            let node = yaml::parse(&json(&yaml)).unwrap();
            prop_assert!(matches!(node.value, Value::Map(_)));
        }
    }
}
