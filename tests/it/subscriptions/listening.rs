//! `subscriptions/listen`: what clients without a handshake are told.

use super::{ACKNOWLEDGED, Client, PDF, SUBSCRIPTION, UPDATED, cancel, in_short, listen, put, watched_files};
use crate::resources::{bytes, read, skill};
use crate::{SMALL, library, serve, still_answers};
use serde_json::{Value, json};
use skillcell_tests::Session;
use std::path::Path;
use std::time::Duration;

#[test]
fn a_listener_is_told_only_what_it_asked_for_with_its_id() {
    for (filter, expected) in [
        (json!({}), &[][..]),
        (json!({"toolsListChanged": true}), &["tools"]),
        (json!({"promptsListChanged": true}), &["prompts"]),
        (json!({"resourcesListChanged": true}), &["resources"]),
        (
            json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true}),
            &["prompts", "resources", "tools"],
        ),
        (json!({"resourceSubscriptions": ["skill://pdf"]}), &["skill://pdf"]),
        (
            json!({"toolsListChanged": true, "resourceSubscriptions": ["skill://pdf/", "skill://forms"]}),
            &["skill://pdf/", "tools"],
        ),
    ] {
        let (mut client, id) = Client::modern(&watched_files(), filter.clone());
        client.put("new/SKILL.md", &skill("new", "x"));
        client.put("pdf/SKILL.md", &format!("{PDF}More.\n"));
        let notices = client.notices();
        let mut told: Vec<String> = notices.iter().map(in_short).collect();
        told.sort();
        told.dedup();
        assert_eq!(told, expected, "{filter}");
        assert!(notices.iter().all(|notice| notice["params"]["_meta"][SUBSCRIPTION] == id), "{notices:?}");
    }
}

#[test]
fn nobody_is_told_without_listening() {
    let folder = library(&SMALL);
    let mut session = serve(folder.path()).modern();
    session.result("prompts/list", json!({}));
    put(folder.path(), "new/SKILL.md", &skill("new", "x"));
    session.result("prompts/list", json!({}));
    // The first that comes at all is the word that it is listened to now.
    session.post("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    assert_eq!(session.notice()["method"], ACKNOWLEDGED);
}

#[test]
fn only_skills_can_be_listened_to_and_they_need_not_exist() {
    let folder = library(&SMALL);
    let mut session = serve(folder.path()).modern();
    let uris = json!(["skill://later/", "https://example.com/", "skill://pdf", "file:///etc/passwd", "skill://later"]);
    let id = session.post(
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": uris, "toolsListChanged": false}}),
    );
    let first = session.notice();
    assert_eq!((&first["method"], &first["params"]["_meta"][SUBSCRIPTION]), (&json!(ACKNOWLEDGED), &id));
    let accepted = json!({"resourceSubscriptions": ["skill://later/", "skill://pdf", "skill://later"]});
    assert_eq!(first["params"]["notifications"], accepted);
    for params in
        [json!({}), json!({"notifications": 5}), json!({"notifications": {"resourceSubscriptions": "skill://pdf"}})]
    {
        assert_eq!(session.error("subscriptions/listen", params.clone())["code"], -32602, "{params}");
    }
}

#[test]
fn a_listener_is_told_how_much_of_a_long_list_is_watched() {
    let folder = library(&SMALL);
    let mut session = serve(folder.path()).modern();
    let uris: Vec<String> = (0..150).map(|number| format!("skill://later-{number}")).collect();
    session.post("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": uris}}));
    let accepted = session.notification(ACKNOWLEDGED)["params"]["notifications"]["resourceSubscriptions"].take();
    assert_eq!(accepted, json!(uris[..100]));
    put(folder.path(), "later-99/SKILL.md", &skill("later-99", "x"));
    assert_eq!(session.notification(UPDATED)["params"]["uri"], "skill://later-99");
}

#[test]
fn a_skill_that_appears_after_the_subscription_is_told() {
    let uris = ["skill://later", "skill://later/", "skill://later/a.txt"];
    let (mut client, _) = Client::modern(&SMALL, json!({"resourceSubscriptions": uris}));
    client.put("elsewhere/SKILL.md", &skill("elsewhere", "x"));
    assert_eq!(client.told(), [""; 0]);
    client.put("later/SKILL.md", &skill("later", "x"));
    assert_eq!(client.told(), ["skill://later", "skill://later/"]);
    assert_eq!(bytes(&read(&mut client.session, "skill://later")), skill("later", "x").as_bytes());
    client.put("later/a.txt", "a");
    assert_eq!(client.told(), ["skill://later/", "skill://later/a.txt"]);
    client.remove("later/SKILL.md");
    assert_eq!(client.told(), uris);
}

/// Edits a tree skill until that is told twice, and returns what was told of other resources before.
fn told_before_forms(session: &mut Session, folder: &Path) -> Vec<String> {
    let mut told = Vec::new();
    for edit in ["blur", "leave"] {
        session.result("prompts/list", json!({}));
        put(folder, "forms.md", &SMALL[0].1.replace("submit", edit));
        loop {
            let notice = session.notification(UPDATED);
            match notice["params"]["uri"].as_str().unwrap() {
                "skill://forms" => break,
                other => told.push(other.to_owned()),
            }
        }
    }
    told
}

#[test]
fn a_change_right_behind_the_first_acknowledgement_is_told() {
    // A client may also name a resource twice.
    for uris in [&["skill://pdf", "skill://forms"][..], &["skill://pdf", "skill://pdf", "skill://forms"]] {
        for _ in 0..5 {
            let folder = library(&SMALL);
            let mut session = serve(folder.path()).modern();
            listen(&mut session, &json!({"resourceSubscriptions": uris}));
            put(folder.path(), "pdf/SKILL.md", &skill("pdf", "x"));
            assert_eq!(told_before_forms(&mut session, folder.path()), ["skill://pdf"]);
        }
    }
}

#[test]
fn a_change_right_behind_the_acknowledgement_of_many_is_told() {
    let files: Vec<(String, String)> = (0..90)
        .map(|number| format!("s{number}"))
        .map(|name| (format!("{name}/SKILL.md"), skill(&name, "x")))
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).chain([SMALL[0]]).collect();
    let uris: Vec<String> = (0..90).map(|number| format!("skill://s{number}")).collect();
    let uris: Vec<&str> = ["skill://forms"].into_iter().chain(uris.iter().map(String::as_str)).collect();
    let folder = library(&files);
    let mut session = serve(folder.path()).modern();
    session.result("prompts/list", json!({}));
    listen(&mut session, &json!({"resourceSubscriptions": uris}));
    put(folder.path(), "s89/SKILL.md", &skill("s89", "y"));
    assert_eq!(told_before_forms(&mut session, folder.path()), ["skill://s89"]);
}

#[test]
fn a_cancelled_subscription_is_over_and_its_id_free() {
    let (mut client, _) = Client::modern(&watched_files(), json!({}));
    let send = |session: &mut Session, id: &Value, method: &str, mut params: Value| {
        params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
        session.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    };
    let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["skill://pdf"]});
    let listening = |id: &Value, session: &mut Session| {
        send(session, id, "subscriptions/listen", json!({"notifications": filter}));
        assert_eq!(session.notification(ACKNOWLEDGED)["params"]["_meta"][SUBSCRIPTION], *id);
    };
    let cancelled = |id: &Value, session: &mut Session| {
        cancel(session, id);
        // The next request with that id is answered by itself, and not with the end of the subscription.
        send(session, id, "prompts/list", json!({}));
        assert!(session.answer(id)["result"]["prompts"].is_array());
    };
    for id in [json!("listen:0"), json!(777)] {
        listening(&id, &mut client.session);
        client.put("new/SKILL.md", &skill("new", "x"));
        let notice = client.session.notification("notifications/tools/list_changed");
        assert_eq!(notice["params"]["_meta"][SUBSCRIPTION], id);
        cancelled(&id, &mut client.session);
        client.remove("new");
        client.put("pdf/SKILL.md", &format!("{PDF}{id}\n"));
        assert_eq!(client.told(), [""; 0], "nobody listens");
        // And it can be used to listen again.
        listening(&id, &mut client.session);
        client.put("pdf/SKILL.md", PDF);
        let notice = client.session.notification(UPDATED);
        assert_eq!((&notice["params"]["uri"], &notice["params"]["_meta"][SUBSCRIPTION]), (&json!("skill://pdf"), &id));
        cancelled(&id, &mut client.session);
    }
}

#[test]
fn several_listeners_are_each_told_with_their_own_id() {
    let (mut client, first) = Client::modern(&SMALL, json!({"toolsListChanged": true}));
    let second = listen(&mut client.session, &json!({"toolsListChanged": true, "promptsListChanged": true}));
    client.put("new/SKILL.md", &skill("new", "x"));
    let sorted = |mut told: Vec<(String, Value)>| {
        told.sort_by_key(|(what, id)| (what.clone(), id.to_string()));
        told
    };
    // Who is told first is a matter of luck.
    let told = [(); 3].map(|()| client.session.notice());
    let told = told.iter().map(|notice| (in_short(notice), notice["params"]["_meta"][SUBSCRIPTION].clone()));
    let expected = [("prompts", &second), ("tools", &first), ("tools", &second)];
    let expected = expected.map(|(what, id)| (what.to_owned(), id.clone()));
    assert_eq!(sorted(told.collect()), sorted(expected.to_vec()));
    assert_eq!(client.told(), [""; 0]);
}

#[test]
fn many_listeners_at_once_keep_nobody_from_being_answered() {
    let folder = library(&SMALL);
    let mut session = serve(folder.path()).modern();
    let uris: Vec<String> = (0..50).map(|number| format!("skill://pdf/file-{number}.txt")).collect();
    let listen = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": uris}});
    for _ in 0..30 {
        session.post("subscriptions/listen", listen.clone());
    }
    still_answers(&mut session);
    for _ in 0..30 {
        session.notification("notifications/subscriptions/acknowledged");
    }
    still_answers(&mut session);
    session.close_input();
    let (status, took) = session.wait();
    assert!(status.success() && took < Duration::from_secs(1), "{status} after {took:?}");
}
