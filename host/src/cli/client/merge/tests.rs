use super::*;
use crate::cli::client::config_files::{Scope, config_file};
use serde_json::json;

fn entry(folder: &str) -> Entry {
    let arguments = vec!["serve".to_owned(), folder.to_owned()];
    Entry { name: "skillcell".to_owned(), program: "skillcell".to_owned(), arguments }
}

fn insert_for(client: Client, text: &str, force: bool) -> Result<(Outcome, Option<String>), MergeError> {
    insert_entry(text, &config_file(client, Scope::User), client, &entry("/skills"), force)
}

#[test]
fn inserting_an_entry_again_changes_nothing_even_if_keys_were_added_to_it() {
    for client in [Client::Claude, Client::Codex, Client::Cursor, Client::Vscode, Client::Gemini] {
        let (outcome, text) = insert_for(client, "", false).unwrap();
        let text = text.filter(|_| outcome == Outcome::Added).expect("it is added");
        assert_eq!(insert_for(client, &text, false).unwrap(), (Outcome::Same, None));
        let file = config_file(client, Scope::User);
        let more = json!({"TOKEN": "t"});
        let text = file.format.edit(&text, &[file.servers, "skillcell"], "env", Some(&more)).unwrap();
        assert_eq!(insert_for(client, &text, true).unwrap(), (Outcome::Same, None));
        let (_, removed) = remove_entry(&text, &file, "skillcell").unwrap();
        assert_eq!(remove_entry(&removed.unwrap(), &file, "skillcell").unwrap(), (Outcome::Absent, None));
    }
}

#[test]
fn a_different_entry_is_replaced_only_by_force_and_keeps_added_keys() {
    let text = "{\"mcpServers\": {\"skillcell\": {\"command\": \"old\", \"args\": [\"serve\", \"/skills\"], \"env\": {\"T\": \"t\"}, \"url\": \"u\"}, \"other\": {}}}";
    let lines = ["- url: \"u\"", "- command: \"old\"", "+ command: \"skillcell\""].map(str::to_owned).to_vec();
    assert_eq!(insert_for(Client::Claude, text, false).unwrap(), (Outcome::Differs(lines), None));
    let replaced = "{\"mcpServers\": {\"skillcell\": {\"command\": \"skillcell\", \"args\": [\"serve\", \"/skills\"], \"env\": {\"T\": \"t\"}, \"type\": \"stdio\"}, \"other\": {}}}";
    assert_eq!(insert_for(Client::Claude, text, true).unwrap(), (Outcome::Replaced, Some(replaced.to_owned())));
    let not_an_object = "{\"mcpServers\": {\"skillcell\": 5}}";
    assert!(matches!(insert_for(Client::Claude, not_an_object, false).unwrap(), (Outcome::Differs(_), None)));
    assert!(matches!(insert_for(Client::Claude, not_an_object, true).unwrap(), (Outcome::Replaced, Some(_))));
}

#[test]
fn servers_of_the_wrong_type_are_rejected() {
    for text in ["{\"mcpServers\": []}", "{\"mcpServers\": null}", "{\"mcpServers\": \"x\"}"] {
        assert!(matches!(insert_for(Client::Claude, text, true), Err(MergeError::NotAnObject(_))), "{text}");
        let file = config_file(Client::Claude, Scope::User);
        assert!(matches!(remove_entry(text, &file, "skillcell"), Err(MergeError::NotAnObject(_))), "{text}");
    }
    for text in ["[]", "5", "null"] {
        assert!(matches!(insert_for(Client::Claude, text, true), Err(MergeError::RootNotAnObject)), "{text}");
    }
    assert!(matches!(insert_for(Client::Codex, "mcp_servers = []\n", true), Err(MergeError::NotAnObject(_))));
    assert!(matches!(insert_for(Client::Claude, "{\"a\": 1", true), Err(MergeError::Parse(_))));
}

#[test]
fn differences_are_shown_on_one_line_each() {
    let text = "{\"mcpServers\": {\"skillcell\": {\"command\": \"a\\nb\\u202e\", \"args\": [\"serve\", \"/skills\"]}}}";
    match insert_for(Client::Claude, text, false).unwrap() {
        (Outcome::Differs(lines), None) => assert_eq!(lines[0], "- command: \"a\\nb\\u{202e}\""),
        other => panic!("{other:?}"),
    }
}
