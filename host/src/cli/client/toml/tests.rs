use super::*;
use crate::cli::client::document::Members;
use serde_json::json;

fn new() -> Members {
    Members(vec![("command", json!("x")), ("args", json!(["a", "b"]))])
}

fn added(text: &str) -> String {
    edit(text, &["servers"], "new", Some(&new())).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn removed(text: &str) -> String {
    edit(text, &["servers"], "new", None::<&Value>).unwrap()
}

const ENTRY: &str = "[servers.new]\ncommand = \"x\"\nargs = [\"a\", \"b\"]\n";

#[test]
fn an_entry_is_added_as_a_separate_table() {
    assert_eq!(added(""), ENTRY);
    assert_eq!(added("model = \"m\" # mine\n"), format!("model = \"m\" # mine\n\n{ENTRY}"));
    let before = "# top\n[servers.old] # old\ncommand = 'y'\n\n[servers.old.env]\nKEY = \"v\"\n\n# about profiles\n[profiles.a]\nx = 1\n# last\n";
    let after = added(before);
    assert!(after.contains("KEY = \"v\"\n\n[servers.new]\n"), "{after}");
    assert!(after.ends_with("args = [\"a\", \"b\"]\n\n# about profiles\n[profiles.a]\nx = 1\n# last\n"), "{after}");
    assert_eq!(removed(&after), before);
}

#[test]
fn line_endings_are_kept() {
    let before = "a = 1\r\nb = '''\r\nx\r\n'''\r\n# mixed\n[t]\r\nc = 2";
    let after = added(before);
    assert!(after.starts_with("a = 1\r\nb = '''\r\nx\r\n'''\r\n# mixed\n[t]\r\nc = 2\r\n"), "{after:?}");
    assert!(after.ends_with("\r\n[servers.new]\r\ncommand = \"x\"\r\nargs = [\"a\", \"b\"]\r\n"), "{after:?}");
    assert_eq!(removed(&after).trim_end(), before);
}

#[test]
fn servers_in_every_notation_are_kept() {
    for before in [
        "servers = { old = { command = \"y\" } } # all\n",
        "servers.old.command = \"y\"\n",
        "[servers]\nold = { command = \"y\" }\n",
        "[servers]\nold.command = \"y\"\n\n[z]\n",
        "[servers.old]\ncommand = \"y\"\n[[servers.old.list]]\na = 1\n",
    ] {
        let after = added(before);
        let settings = read(&after).unwrap();
        assert_eq!(settings["servers"]["new"], json!({"command": "x", "args": ["a", "b"]}), "{after}");
        assert_eq!(settings["servers"]["old"], read(before).unwrap()["servers"]["old"], "{after}");
        assert_eq!(read(&removed(&after)).unwrap(), read(before).unwrap(), "{after}");
    }
}

#[test]
fn one_value_can_be_replaced() {
    let before =
        "[servers.new] # ours\n# why\ncommand = \"y\" # path\nargs = [\n  \"1\", # one\n]\nenv = { K = \"v\" }\n";
    let after = edit(before, &["servers", "new"], "command", Some(&"z")).unwrap();
    assert_eq!(after, before.replace("\"y\"", "\"z\""));
}

#[test]
fn comments_above_a_removed_table_are_kept() {
    let before = "a = 1\n\n# [servers.older]\n# command = \"o\"\n\n[servers.new]\ncommand = \"x\"\n\n[z]\n";
    assert_eq!(removed(before), "a = 1\n\n# [servers.older]\n# command = \"o\"\n\n[z]\n");
}

#[test]
fn parse_errors_have_a_line_and_none_of_the_text() {
    let deep = format!("a = {}", "[".repeat(100_000));
    for text in ["a = ", "\n\nsecret secret", "[a]\n[a]\n", "a = 1\na = 2\n", "key = \"secret\nmore", &deep] {
        let error = read(text).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    assert_eq!(read("a = 1\n\nb c\n").unwrap_err().line, 3);
    assert!(edit("servers = 1\n", &["servers"], "new", Some(&new())).is_err());
}
