use super::*;
use crate::cli::client::document::Members;
use proptest::prelude::*;

const NEW: &str = r#"{"command":"x","args":["a","b"]}"#;

fn new() -> Members {
    Members(vec![("command", json!("x")), ("args", json!(["a", "b"]))])
}

fn added(text: &str) -> String {
    edit(text, Format::JsoncTrailingCommas, &["s"], "new", Some(&new()))
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn removed(text: &str) -> String {
    edit(text, Format::JsoncTrailingCommas, &["s"], "new", None::<&Value>).unwrap()
}

#[test]
fn additions_match_the_existing_layout() {
    let lines = "{\n  \"s\": {\n    \"new\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"a\",\n        \"b\"\n      ]\n    }\n  }\n}";
    let file = format!("{lines}\n");
    let cases = [
        ("", file.as_str()),
        ("{}", lines),
        (
            "{\n\t\"s\": {\n\t\t\"old\": 1\n\t}\n}",
            "{\n\t\"s\": {\n\t\t\"old\": 1,\n\t\t\"new\": {\n\t\t\t\"command\": \"x\",\n\t\t\t\"args\": [\n\t\t\t\t\"a\",\n\t\t\t\t\"b\"\n\t\t\t]\n\t\t}\n\t}\n}",
        ),
        (
            "{\r\n \"s\": {}\r\n}\r\n",
            "{\r\n \"s\": {\r\n  \"new\": {\r\n   \"command\": \"x\",\r\n   \"args\": [\r\n    \"a\",\r\n    \"b\"\r\n   ]\r\n  }\r\n }\r\n}\r\n",
        ),
        (r#"{"s":{}}"#, r#"{"s":{"new":{"command":"x","args":["a","b"]}}}"#),
        (r#"{"a":1}"#, r#"{"a":1,"s":{"new":{"command":"x","args":["a","b"]}}}"#),
        (r#"{ "s": { "old": 1 } }"#, r#"{ "s": { "old": 1, "new": {"command": "x", "args": ["a", "b"]} } }"#),
    ];
    for (before, after) in cases {
        assert_eq!(added(before), after, "{before}");
    }
}

#[test]
fn lone_surrogates_do_not_prevent_an_edit_and_are_kept() {
    let before = r#"{"history":[{"display":"hi \ud83d"}],"\udc00":"\ud83d\ude00","s":{}}"#;
    for format in [Format::Json, Format::JsoncTrailingCommas] {
        let after = edit(before, format, &["s"], "new", Some(&new())).unwrap();
        assert_eq!(after, before.replace(r#""s":{}"#, &format!(r#""s":{{"new":{NEW}}}"#)));
        assert_eq!(edit(&after, format, &["s"], "new", None::<&Value>).unwrap(), before);
        assert_eq!(read(before, format).unwrap()["history"][0]["display"], "hi \u{fffd}");
    }
}

#[test]
fn only_lone_surrogates_are_replaced() {
    for (text, expected) in [
        (r#""hi \ud83d""#, r#""hi \ufffd""#),
        (r#""\uDE00\uD83D""#, r#""\ufffd\ufffd""#),
        (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
        (r#""\ud83d\u0041""#, r#""\ufffd\u0041""#),
        (r#""\ud83d\ude00 \u00e9 \n""#, r#""\ud83d\ude00 \u00e9 \n""#),
        (r#""\\ud83d""#, r#""\\ud83d""#),
        (r#""\\\ud83d""#, r#""\\\ufffd""#),
        (r#""\ud83""#, r#""\ud83""#),
        (r#""\u+83d \é\"#, r#""\u+83d \é\"#),
    ] {
        assert_eq!(replace_lone_surrogates(text), expected, "{text}");
    }
}

#[test]
fn comments_blank_lines_and_trailing_commas_stay_in_place() {
    let before = "// mine\n{\n  // servers\n  \"s\": {\n    \"old\": {}, // the old one\n    // not this: \"x\": {},\n    \"other\": {} /* other */ // still other\n    // the end\n  }, // after\n}\n// last\n";
    let after = added(before);
    assert!(after.contains("    \"other\": {}, /* other */ // still other\n    \"new\": {\n"), "{after}");
    assert!(after.contains("\n    }\n    // the end\n  }, // after\n}\n// last\n"), "{after}");
    assert_eq!(removed(&after), before);
    let trailing = "{\n  \"s\": {\n    \"old\": {}, // note\n  },\n}";
    let after = added(trailing);
    assert!(after.contains("\"old\": {}, // note\n    \"new\": {") && after.contains("    },\n  },\n}"), "{after}");
    assert_eq!(removed(&after), trailing);
    assert_eq!(added("// only this"), format!("// only this\n{}", added("")));
    let inside = added("{\n  \"s\": { // none yet\n    /* really */\n  }\n}");
    assert!(inside.starts_with("{\n  \"s\": { // none yet\n    /* really */\n    \"new\": {\n"), "{inside}");
    assert!(inside.ends_with("    }\n  }\n}"), "{inside}");
    let blank_lines = added("{\n\n  \"a\": 1\n\n}");
    assert!(blank_lines.starts_with("{\n\n  \"a\": 1,\n  \"s\": {\n"), "{blank_lines}");
    assert!(blank_lines.ends_with("\n  }\n\n}"), "{blank_lines}");
    let odd = added("{\"s\": {/*/ odd */}}");
    assert!(odd.contains("/*/ odd */"), "{odd}");
}

#[test]
fn a_member_is_removed_exactly_in_any_position() {
    let cases = [
        (r#"{"s":{"new":1}}"#, r#"{"s":{}}"#),
        (r#"{"s": {"new": 1, "b": 2}}"#, r#"{"s": {"b": 2}}"#),
        (r#"{"s": {"a": 1, "new": 1, "b": 2}}"#, r#"{"s": {"a": 1, "b": 2}}"#),
        (r#"{"s": {"a": 1, "new": 1}}"#, r#"{"s": {"a": 1}}"#),
        ("{\n \"s\": {\n  \"new\": 1,\n  \"b\": 2\n }\n}", "{\n \"s\": {\n  \"b\": 2\n }\n}"),
        ("{\n \"s\": {\n  // why\n  \"new\": 1 // this\n }\n}", "{\n \"s\": {\n  // why\n   // this\n }\n}"),
        ("{\"s\": {\"a\": 1 /* , */, \"new\": [1,\n2]}}", "{\"s\": {\"a\": 1 /* , */}}"),
        (r#"{"s": {"old": 1}}"#, r#"{"s": {"old": 1}}"#),
        ("{}", "{}"),
    ];
    for (before, after) in cases {
        assert_eq!(removed(before), after, "{before}");
    }
}

#[test]
fn a_new_value_is_formatted_like_the_old_one() {
    let text = "{\n  \"s\": {\n    \"new\": {\n      \"args\": [\n        \"1\"\n      ],\n      \"one\": [ \"1\" ]\n    }\n  }\n}";
    let list = ["2", "3"];
    let lines = edit(text, Format::Json, &["s", "new"], "args", Some(&list)).unwrap();
    assert!(lines.contains("\"args\": [\n        \"2\",\n        \"3\"\n      ],"), "{lines}");
    let line = edit(text, Format::Json, &["s", "new"], "one", Some(&list)).unwrap();
    assert!(line.contains("\"one\": [\"2\", \"3\"]\n"), "{line}");
}

#[test]
fn each_format_rejects_what_its_clients_cannot_read() {
    let commented = "{ /* c */ }";
    let trailing = "{\"a\": 1,}";
    assert!(read(commented, Format::Json).is_err() && read(commented, Format::Jsonc).is_ok());
    assert!(read(trailing, Format::Jsonc).is_err() && read(trailing, Format::JsoncTrailingCommas).is_ok());
    assert!(read("{\"a\": \"\n\"}", Format::Json).is_err(), "a line break inside a string");
}

#[test]
fn parse_errors_have_a_line_and_none_of_the_text() {
    let deep = "[".repeat(100_000);
    for text in ["{", "{\"a\": }", "{a: 1}", "{'a': 1}", "{} {}", "{\"secret\" \"x\"}", "nope", "\u{0}", &deep] {
        for format in [Format::Json, Format::Jsonc, Format::JsoncTrailingCommas] {
            let error = read(text, format).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
    assert_eq!(read("{\n\n\"a\" 1}", Format::JsoncTrailingCommas).unwrap_err().line, 3);
    let duplicate =
        edit("{\n\"s\": {},\n\"s\": {}}", Format::JsoncTrailingCommas, &["s"], "new", Some(&new())).unwrap_err();
    assert_eq!((duplicate.line, duplicate.what.contains("duplicate key")), (3, true), "{duplicate}");
    assert_eq!(edit("[]", Format::Json, &["s"], "new", Some(&new())).unwrap_err().line, 1);
}

fn trivia() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec![" ", "\n", "\r\n", "\t", "/* c */", "// l\n", "/*\n*/", ""]), 0..4)
        .prop_map(|parts| parts.concat())
}

/// Members with arbitrary trivia around them.
fn members() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec!["1", "{}", "[ 1 , 2 ]", "\"//\"", "{\"x\":{}}"]);
    let member = (trivia(), "[a-d]{1,3}", trivia(), trivia(), value, trivia());
    prop::collection::vec(member, 0..4).prop_map(|members| {
        let mut seen = std::collections::BTreeSet::new();
        let kept = members.into_iter().filter(|(_, key, ..)| seen.insert(key.clone()));
        let texts = kept.map(|(a, key, b, c, value, d)| format!("{a}\"{key}\"{b}:{c}{value}{d}"));
        texts.collect::<Vec<_>>().join(",")
    })
}

proptest! {
    #[test]
    fn edits_change_nothing_but_the_entry(
        outer in members(), inner in members(), has_object: bool, ends in trivia(), comma: bool, before in trivia(), after_all in trivia()
    ) {
        let comma = if comma && !inner.is_empty() { "," } else { "" };
        let object = format!("\"s\":{{{inner}{comma}{ends}}}");
        let joined = match (outer.is_empty(), has_object) {
            (_, false) => outer,
            (true, true) => object,
            (false, true) => format!("{outer},{object}"),
        };
        let text = format!("{before}{{{joined}}}{after_all}");
        let original = read(&text, Format::JsoncTrailingCommas).unwrap();
        let after = added(&text);
        let mut now = read(&after, Format::JsoncTrailingCommas).unwrap();
        let entry = now["s"].as_object_mut().unwrap().remove("new").unwrap();
        prop_assert_eq!(entry, serde_json::from_str::<Value>(NEW).unwrap());
        if !has_object {
            now.as_object_mut().unwrap().remove("s");
        }
        prop_assert_eq!(&now, &original);
        let comments = |text: &str| text.matches("/* c */").count() + text.matches("// l").count() + text.matches("/*\n*/").count();
        prop_assert_eq!(comments(&after), comments(&text));
        let again = removed(&after);
        prop_assert_eq!(comments(&again), comments(&text));
        let servers = |settings: &Value| settings.get("s").map_or(0, |servers| servers.as_object().unwrap().len());
        prop_assert_eq!(servers(&read(&again, Format::JsoncTrailingCommas).unwrap()), servers(&original));
    }
}
