//! `subscriptions/listen`: notifications for clients without a handshake.

use super::{ACKNOWLEDGED, Client, PDF, SUBSCRIPTION, UPDATED, cancel, listen, summarize, watched_files};
use crate::resources::{bytes, read, skill};
use crate::{SMALL, library, serve, still_answers};
use serde_json::{Value, json};
use skillcell_tests::{MAX_WAIT, Session, put_file};
use std::path::Path;
use std::time::Instant;

#[test]
fn a_listener_gets_only_what_it_asked_for_with_its_id() {
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
        let notifications = client.notifications();
        let mut notified: Vec<String> = notifications.iter().map(summarize).collect();
        notified.sort();
        notified.dedup();
        assert_eq!(notified, expected, "{filter}");
        assert!(
            notifications.iter().all(|notification| notification["params"]["_meta"][SUBSCRIPTION] == id),
            "{notifications:?}"
        );
    }
}

#[test]
fn a_client_that_does_not_listen_gets_no_notification() {
    let folder = library(&SMALL);
    let mut session = serve(folder.path()).modern();
    session.result("prompts/list", json!({}));
    put_file(folder.path(), "new/SKILL.md", skill("new", "x"));
    session.result("prompts/list", json!({}));
    // The first notification of all is the acknowledgement.
    session.post("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    assert_eq!(session.notice()["method"], ACKNOWLEDGED);
}

#[test]
fn a_listener_can_name_skills_that_do_not_exist_but_nothing_else() {
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
fn the_acknowledgement_names_the_resources_of_a_long_list_that_are_watched() {
    let folder = library(&SMALL);
    let uris: Vec<String> = (0..150).map(|number| format!("skill://later-{number}")).collect();
    let session = (0..20).find_map(|_| {
        let mut session = serve(folder.path()).modern();
        let sent = Instant::now();
        session.post("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": uris}}));
        let accepted = session.notification(ACKNOWLEDGED)["params"]["notifications"]["resourceSubscriptions"].take();
        assert_eq!(accepted, json!(uris[..100]));
        // A later acknowledgement may have been sent before the server knew all resources.
        (sent.elapsed() < MAX_WAIT).then_some(session)
    });
    let mut session = session.expect("a quick acknowledgement");
    put_file(folder.path(), "later-99/SKILL.md", skill("later-99", "x"));
    assert_eq!(session.notification(UPDATED)["params"]["uri"], "skill://later-99");
}

#[test]
fn a_skill_that_appears_after_the_subscription_is_notified() {
    let uris = ["skill://later", "skill://later/", "skill://later/a.txt"];
    let (mut client, _) = Client::modern(&SMALL, json!({"resourceSubscriptions": uris}));
    client.put("unrelated/SKILL.md", &skill("unrelated", "x"));
    assert_eq!(client.notified(), [""; 0]);
    client.put("later/SKILL.md", &skill("later", "x"));
    assert_eq!(client.notified(), ["skill://later", "skill://later/"]);
    assert_eq!(bytes(&read(&mut client.session, "skill://later")), skill("later", "x").as_bytes());
    client.put("later/a.txt", "a");
    assert_eq!(client.notified(), ["skill://later/", "skill://later/a.txt"]);
    client.remove("later/SKILL.md");
    assert_eq!(client.notified(), uris);
}

/// Edits a tree skill until that was notified twice, and returns the notifications of other resources before.
fn notified_before_forms(session: &mut Session, folder: &Path) -> Vec<String> {
    let mut notified = Vec::new();
    for edit in ["blur", "leave"] {
        session.result("prompts/list", json!({}));
        put_file(folder, "forms.md", SMALL[0].1.replace("submit", edit));
        loop {
            let notification = session.notification(UPDATED);
            match notification["params"]["uri"].as_str().unwrap() {
                "skill://forms" => break,
                other => notified.push(other.to_owned()),
            }
        }
    }
    notified
}

/// Listens to these resources and changes one right after the acknowledgement. Checks that this is notified.
///
/// False if the acknowledgement took so long that the server may have sent it before it knew all resources.
fn is_notified(folder: &Path, session: &mut Session, uris: &[&str], changed: &str) -> bool {
    let sent = Instant::now();
    listen(session, &json!({"resourceSubscriptions": uris}));
    if sent.elapsed() >= MAX_WAIT {
        return false;
    }
    put_file(folder, &format!("{changed}/SKILL.md"), skill(changed, "y"));
    assert_eq!(notified_before_forms(session, folder), [format!("skill://{changed}")]);
    true
}

#[test]
fn a_change_right_after_the_first_acknowledgement_is_notified() {
    // A client may also name a resource twice.
    for uris in [&["skill://pdf", "skill://forms"][..], &["skill://pdf", "skill://pdf", "skill://forms"]] {
        let rounds = (0..20).filter(|_| {
            let folder = library(&SMALL);
            let mut session = serve(folder.path()).modern();
            is_notified(folder.path(), &mut session, uris, "pdf")
        });
        assert_eq!(rounds.take(3).count(), 3, "every acknowledgement took {MAX_WAIT:?}");
    }
}

#[test]
fn a_change_right_after_the_acknowledgement_of_many_is_notified() {
    let files: Vec<(String, String)> = (0..90)
        .map(|number| format!("s{number}"))
        .map(|name| (format!("{name}/SKILL.md"), skill(&name, "x")))
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).chain([SMALL[0]]).collect();
    let uris: Vec<String> = (0..90).map(|number| format!("skill://s{number}")).collect();
    let uris: Vec<&str> = ["skill://forms"].into_iter().chain(uris.iter().map(String::as_str)).collect();
    let is_conclusive = (0..20).any(|_| {
        let folder = library(&files);
        let mut session = serve(folder.path()).modern();
        session.result("prompts/list", json!({}));
        is_notified(folder.path(), &mut session, &uris, "s89")
    });
    assert!(is_conclusive, "every acknowledgement took {MAX_WAIT:?}");
}

#[test]
fn a_cancelled_subscription_ends_and_its_id_can_be_reused() {
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
        // The next request with that id gets its own answer, not the end of the subscription.
        send(session, id, "prompts/list", json!({}));
        assert!(session.answer(id)["result"]["prompts"].is_array());
    };
    for id in [json!("listen:0"), json!(777)] {
        listening(&id, &mut client.session);
        client.put("new/SKILL.md", &skill("new", "x"));
        let notification = client.session.notification("notifications/tools/list_changed");
        assert_eq!(notification["params"]["_meta"][SUBSCRIPTION], id);
        cancelled(&id, &mut client.session);
        client.remove("new");
        client.put("pdf/SKILL.md", &format!("{PDF}{id}\n"));
        assert_eq!(client.notified(), [""; 0], "the subscription is over");
        // The id can be used to listen again.
        listening(&id, &mut client.session);
        client.put("pdf/SKILL.md", PDF);
        let notification = client.session.notification(UPDATED);
        assert_eq!(
            (&notification["params"]["uri"], &notification["params"]["_meta"][SUBSCRIPTION]),
            (&json!("skill://pdf"), &id)
        );
        cancelled(&id, &mut client.session);
    }
}

#[test]
fn several_listeners_get_notifications_with_their_own_ids() {
    let (mut client, first) = Client::modern(&SMALL, json!({"toolsListChanged": true}));
    let second = listen(&mut client.session, &json!({"toolsListChanged": true, "promptsListChanged": true}));
    client.put("new/SKILL.md", &skill("new", "x"));
    let sorted = |mut notified: Vec<(String, Value)>| {
        notified.sort_by_key(|(what, id)| (what.clone(), id.to_string()));
        notified
    };
    // The order among listeners is not defined.
    let notified = [(); 3].map(|()| client.session.notice());
    let notified = notified
        .iter()
        .map(|notification| (summarize(notification), notification["params"]["_meta"][SUBSCRIPTION].clone()));
    let expected = [("prompts", &second), ("tools", &first), ("tools", &second)];
    let expected = expected.map(|(what, id)| (what.to_owned(), id.clone()));
    assert_eq!(sorted(notified.collect()), sorted(expected.to_vec()));
    assert_eq!(client.notified(), [""; 0]);
}

#[test]
fn many_listeners_at_once_do_not_block_other_requests() {
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
    session.exits_soon();
}
