use super::*;
use proptest::prelude::*;

const NEW: &str = r#"{"command":"x","args":["a","b"]}"#;

fn new() -> Setting {
    Setting::Group(vec![
        ("command".to_owned(), Setting::word("x")),
        ("args".to_owned(), Setting::List(vec!["a".to_owned(), "b".to_owned()])),
    ])
}

fn added(text: &str) -> String {
    set(text, Format::Loose, &["s"], "new", &new()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn taken(text: &str) -> String {
    remove(text, Format::Loose, &["s"], "new").unwrap()
}

#[test]
fn what_is_added_looks_like_the_rest() {
    let cases = [
        (
            "",
            "{\n  \"s\": {\n    \"new\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"a\",\n        \"b\"\n      ]\n    }\n  }\n}\n",
        ),
        (
            "{}",
            "{\n  \"s\": {\n    \"new\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"a\",\n        \"b\"\n      ]\n    }\n  }\n}",
        ),
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
fn half_a_letter_keeps_nothing_from_being_changed_and_stays() {
    let before = r#"{"history":[{"display":"hi \ud83d"}],"\udc00":"\ud83d\ude00","s":{}}"#;
    for format in [Format::Json, Format::Loose] {
        let after = set(before, format, &["s"], "new", &new()).unwrap();
        assert_eq!(after, before.replace(r#""s":{}"#, &format!(r#""s":{{"new":{NEW}}}"#)));
        assert_eq!(remove(&after, format, &["s"], "new").unwrap(), before);
        assert_eq!(read(before, format).unwrap()["history"][0]["display"], "hi \u{fffd}");
    }
}

#[test]
fn comments_stay_where_they_belong() {
    let before = "// mine\n{\n  // servers\n  \"s\": {\n    \"old\": {}, // the old one\n    // not this: \"x\": {},\n    \"other\": {} /* other */ // still other\n    // the end\n  }, // after\n}\n// last\n";
    let after = added(before);
    assert!(after.contains("    \"other\": {}, /* other */ // still other\n    \"new\": {\n"), "{after}");
    assert!(after.contains("\n    }\n    // the end\n  }, // after\n}\n// last\n"), "{after}");
    assert_eq!(taken(&after), before);
    assert_eq!(added("// only this"), format!("// only this\n{}", added("")));
    let inside = added("{\n  \"s\": { // none yet\n    /* really */\n  }\n}");
    assert!(inside.starts_with("{\n  \"s\": { // none yet\n    /* really */\n    \"new\": {\n"), "{inside}");
    assert!(inside.ends_with("    }\n  }\n}"), "{inside}");
    let odd = added("{\"s\": {/*/ odd */}}");
    assert!(odd.contains("/*/ odd */"), "{odd}");
}

#[test]
fn commas_at_the_end_stay_as_they_were() {
    let before = "{\n  \"s\": {\n    \"old\": {}, // note\n  },\n}";
    let after = added(before);
    assert!(after.contains("\"old\": {}, // note\n    \"new\": {"), "{after}");
    assert!(after.contains("    },\n  },\n}"), "{after}");
    assert_eq!(taken(&after), before);
}

#[test]
fn taking_away_is_exact_wherever_it_stands() {
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
        assert_eq!(taken(before), after, "{before}");
    }
}

#[test]
fn another_value_is_written_as_the_old_one_was() {
    let text = "{\n  \"s\": {\n    \"new\": {\n      \"args\": [\n        \"1\"\n      ],\n      \"one\": [ \"1\" ]\n    }\n  }\n}";
    let list = Setting::List(vec!["2".to_owned(), "3".to_owned()]);
    let lines = set(text, Format::Json, &["s", "new"], "args", &list).unwrap();
    assert!(lines.contains("\"args\": [\n        \"2\",\n        \"3\"\n      ],"), "{lines}");
    let line = set(text, Format::Json, &["s", "new"], "one", &list).unwrap();
    assert!(line.contains("\"one\": [\"2\", \"3\"]\n"), "{line}");
}

#[test]
fn each_client_is_given_only_what_it_understands() {
    let commented = "{ /* c */ }";
    let trailing = "{\"a\": 1,}";
    assert!(read(commented, Format::Json).is_err() && read(commented, Format::Commented).is_ok());
    assert!(read(trailing, Format::Commented).is_err() && read(trailing, Format::Loose).is_ok());
    assert!(read("{\"a\": \"\n\"}", Format::Json).is_err(), "a line end inside a word");
}

#[test]
fn what_cannot_be_understood_is_told_with_its_line_and_without_its_words() {
    let deep = "[".repeat(100_000);
    for text in ["{", "{\"a\": }", "{a: 1}", "{'a': 1}", "{} {}", "{\"secret\" \"x\"}", "nope", "\u{0}", &deep] {
        for format in [Format::Json, Format::Commented, Format::Loose] {
            let malformed = read(text, format).unwrap_err();
            assert!(!malformed.to_string().contains("secret"), "{malformed}");
        }
    }
    assert_eq!(read("{\n\n\"a\" 1}", Format::Loose).unwrap_err().line, 3);
    let twice = set("{\n\"s\": {},\n\"s\": {}}", Format::Loose, &["s"], "new", &new()).unwrap_err();
    assert_eq!((twice.line, twice.what.contains("second time")), (3, true), "{twice}");
    assert_eq!(set("[]", Format::Json, &["s"], "new", &new()).unwrap_err().line, 1);
}

fn trivia() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec![" ", "\n", "\r\n", "\t", "/* c */", "// l\n", "/*\n*/", ""]), 0..4)
        .prop_map(|parts| parts.concat())
}

/// A member with anything around it.
fn members() -> impl Strategy<Value = String> {
    let member = (
        trivia(),
        "[a-d]{1,3}",
        trivia(),
        trivia(),
        prop::sample::select(vec!["1", "{}", "[ 1 , 2 ]", "\"//\"", "{\"x\":{}}"]),
        trivia(),
    );
    prop::collection::vec(member, 0..4).prop_map(|members| {
        let mut seen = std::collections::BTreeSet::new();
        let kept = members.into_iter().filter(|(_, key, ..)| seen.insert(key.clone()));
        let texts: Vec<String> =
            kept.map(|(a, key, b, c, value, d)| format!("{a}\"{key}\"{b}:{c}{value}{d}")).collect();
        texts.join(",")
    })
}

proptest! {
    #[test]
    fn whatever_is_there_says_the_same_afterwards(
        outer in members(), inner in members(), has_group: bool, ends in trivia(), comma: bool, before in trivia(), behind in trivia()
    ) {
        let comma = if comma && !inner.is_empty() { "," } else { "" };
        let group = format!("\"s\":{{{inner}{comma}{ends}}}");
        let joined = match (outer.is_empty(), has_group) {
            (_, false) => outer,
            (true, true) => group,
            (false, true) => format!("{outer},{group}"),
        };
        let text = format!("{before}{{{joined}}}{behind}");
        let said = read(&text, Format::Loose).unwrap();
        let after = added(&text);
        let mut now = read(&after, Format::Loose).unwrap();
        let entry = now["s"].as_object_mut().unwrap().remove("new").unwrap();
        prop_assert_eq!(entry, serde_json::from_str::<Value>(NEW).unwrap());
        if !has_group {
            now.as_object_mut().unwrap().remove("s");
        }
        prop_assert_eq!(&now, &said);
        let comments = |text: &str| text.matches("/* c */").count() + text.matches("// l").count() + text.matches("/*\n*/").count();
        prop_assert_eq!(comments(&after), comments(&text));
        let again = taken(&after);
        prop_assert_eq!(comments(&again), comments(&text));
        prop_assert_eq!(read(&again, Format::Loose).unwrap().get("s").map_or(0, |group| group.as_object().unwrap().len()),
            said.get("s").map_or(0, |group| group.as_object().unwrap().len()));
    }
}
