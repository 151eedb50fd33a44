use super::*;
use serde_json::json;

fn new() -> Setting {
    Setting::Group(vec![
        ("command".to_owned(), Setting::word("x")),
        ("args".to_owned(), Setting::List(vec!["a".to_owned(), "b".to_owned()])),
    ])
}

fn added(text: &str) -> String {
    set(text, &["servers"], "new", &new()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn taken(text: &str) -> String {
    remove(text, &["servers"], "new").unwrap()
}

const ENTRY: &str = "[servers.new]\ncommand = \"x\"\nargs = [\"a\", \"b\"]\n";

#[test]
fn what_is_added_is_a_table_of_its_own() {
    assert_eq!(added(""), ENTRY);
    assert_eq!(added("model = \"m\" # mine\n"), format!("model = \"m\" # mine\n\n{ENTRY}"));
    let before = "# top\n[servers.old] # old\ncommand = 'y'\n\n[servers.old.env]\nKEY = \"v\"\n\n# about profiles\n[profiles.a]\nx = 1\n# last\n";
    let after = added(before);
    assert!(after.contains("KEY = \"v\"\n\n[servers.new]\n"), "{after}");
    assert!(after.ends_with("args = [\"a\", \"b\"]\n\n# about profiles\n[profiles.a]\nx = 1\n# last\n"), "{after}");
    assert_eq!(taken(&after), before);
}

#[test]
fn ends_of_lines_stay_as_they_were() {
    let before = "a = 1\r\nb = '''\r\nx\r\n'''\r\n# mixed\n[t]\r\nc = 2";
    let after = added(before);
    assert!(after.starts_with("a = 1\r\nb = '''\r\nx\r\n'''\r\n# mixed\n[t]\r\nc = 2\r\n"), "{after:?}");
    assert!(after.ends_with("\r\n[servers.new]\r\ncommand = \"x\"\r\nargs = [\"a\", \"b\"]\r\n"), "{after:?}");
    assert_eq!(taken(&after).trim_end(), before);
}

#[test]
fn servers_in_every_notation_are_left_as_they_are() {
    for before in [
        "servers = { old = { command = \"y\" } } # all\n",
        "servers.old.command = \"y\"\n",
        "[servers]\nold = { command = \"y\" }\n",
        "[servers]\nold.command = \"y\"\n\n[z]\n",
        "[servers.old]\ncommand = \"y\"\n[[servers.old.list]]\na = 1\n",
    ] {
        let after = added(before);
        let said = read(&after).unwrap();
        assert_eq!(said["servers"]["new"], json!({"command": "x", "args": ["a", "b"]}), "{after}");
        assert_eq!(said["servers"]["old"], read(before).unwrap()["servers"]["old"], "{after}");
        assert_eq!(read(&taken(&after)).unwrap(), read(before).unwrap(), "{after}");
    }
}

#[test]
fn one_value_can_be_exchanged() {
    let before =
        "[servers.new] # ours\n# why\ncommand = \"y\" # path\nargs = [\n  \"1\", # one\n]\nenv = { K = \"v\" }\n";
    let after = set(before, &["servers", "new"], "command", &Setting::word("z")).unwrap();
    assert_eq!(after, before.replace("\"y\"", "\"z\""));
}

#[test]
fn what_stands_above_a_table_that_goes_stays() {
    let before = "a = 1\n\n# [servers.older]\n# command = \"o\"\n\n[servers.new]\ncommand = \"x\"\n\n[z]\n";
    assert_eq!(taken(before), "a = 1\n\n# [servers.older]\n# command = \"o\"\n\n[z]\n");
}

#[test]
fn what_cannot_be_understood_is_told_with_its_line_and_without_its_words() {
    let deep = format!("a = {}", "[".repeat(100_000));
    for text in ["a = ", "\n\nsecret secret", "[a]\n[a]\n", "a = 1\na = 2\n", "key = \"secret\nmore", &deep] {
        let malformed = read(text).unwrap_err();
        assert!(!malformed.to_string().contains("secret"), "{malformed}");
    }
    assert_eq!(read("a = 1\n\nb c\n").unwrap_err().line, 3);
    assert!(set("servers = 1\n", &["servers"], "new", &new()).is_err());
}
