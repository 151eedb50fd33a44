use super::*;
use crate::cli::client::places::{self, Scope};

fn entry(folder: &str) -> Entry {
    let arguments = vec!["serve".to_owned(), folder.to_owned()];
    Entry { name: "skillcell".to_owned(), program: "skillcell".to_owned(), arguments }
}

fn put_for(client: Client, text: &str, force: bool) -> Result<Merged, NoMerge> {
    put(text, &places::of(client, Scope::User), client, &entry("/skills"), force)
}

fn added(client: Client, text: &str) -> String {
    match put_for(client, text, false) {
        Ok(Merged::Added(added)) => added,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_same_entry_again_is_the_same_whatever_was_added_to_it() {
    for client in [Client::Claude, Client::Codex, Client::Cursor, Client::Vscode, Client::Gemini] {
        let text = added(client, "");
        assert_eq!(put_for(client, &text, false).unwrap(), Merged::Same);
        let place = places::of(client, Scope::User);
        let more = Setting::within("TOKEN", Setting::word("t"));
        let text = place.format.set(&text, &[place.servers, "skillcell"], "env", &more).unwrap();
        assert_eq!(put_for(client, &text, true).unwrap(), Merged::Same);
        let taken = take(&text, &place, "skillcell").unwrap().unwrap();
        assert_eq!(take(&taken, &place, "skillcell").unwrap(), None);
    }
}

#[test]
fn an_entry_that_differs_is_replaced_only_on_demand_and_keeps_what_others_added() {
    let text = "{\"mcpServers\": {\"skillcell\": {\"command\": \"old\", \"args\": [\"serve\", \"/skills\"], \"env\": {\"T\": \"t\"}, \"url\": \"u\"}, \"other\": {}}}";
    match put_for(Client::Claude, text, false).unwrap() {
        Merged::Differs(lines) => assert_eq!(lines, ["- url: \"u\"", "- command: \"old\"", "+ command: \"skillcell\""]),
        other => panic!("{other:?}"),
    }
    match put_for(Client::Claude, text, true).unwrap() {
        Merged::Replaced(replaced) => assert_eq!(
            replaced,
            "{\"mcpServers\": {\"skillcell\": {\"command\": \"skillcell\", \"args\": [\"serve\", \"/skills\"], \"env\": {\"T\": \"t\"}, \"type\": \"stdio\"}, \"other\": {}}}"
        ),
        other => panic!("{other:?}"),
    }
    let odd = "{\"mcpServers\": {\"skillcell\": 5}}";
    assert!(matches!(put_for(Client::Claude, odd, false).unwrap(), Merged::Differs(_)));
    assert!(matches!(put_for(Client::Claude, odd, true).unwrap(), Merged::Replaced(_)));
}

#[test]
fn a_place_of_the_wrong_type_is_refused() {
    for text in ["{\"mcpServers\": []}", "{\"mcpServers\": null}", "{\"mcpServers\": \"x\"}"] {
        assert!(matches!(put_for(Client::Claude, text, true), Err(NoMerge::WrongPlace(_))), "{text}");
        let place = places::of(Client::Claude, Scope::User);
        assert!(matches!(take(text, &place, "skillcell"), Err(NoMerge::WrongPlace(_))), "{text}");
    }
    for text in ["[]", "5", "null"] {
        assert!(matches!(put_for(Client::Claude, text, true), Err(NoMerge::NoGroup)), "{text}");
    }
    assert!(matches!(put_for(Client::Codex, "mcp_servers = []\n", true), Err(NoMerge::WrongPlace(_))));
    assert!(matches!(put_for(Client::Claude, "{\"a\": 1", true), Err(NoMerge::Malformed(_))));
}

#[test]
fn differences_are_shown_on_one_line_each() {
    let text = "{\"mcpServers\": {\"skillcell\": {\"command\": \"a\\nb\\u202e\", \"args\": [\"serve\", \"/skills\"]}}}";
    match put_for(Client::Claude, text, false).unwrap() {
        Merged::Differs(lines) => assert_eq!(lines[0], "- command: \"a\\nb\\u{202e}\""),
        other => panic!("{other:?}"),
    }
}
