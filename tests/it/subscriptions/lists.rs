//! `list_changed`: exactly when the answer to that list changed, once, and with a reason.

use super::{
    Client, DEBOUNCE, FENCE, PDF, library_with_fence, listen, lists, serve_verbose, summarize, wait_until_announcing,
};
use crate::resources::skill;
use crate::{SMALL, library};
use serde_json::{Value, json};
use skillcell_tests::{put_file, write_files};
use std::time::Instant;

#[test]
fn all_three_lists_are_announced_once_when_a_skill_appears_or_disappears() {
    let all = ["prompts", "resources", "tools"];
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let folder = library_with_fence(&SMALL);
        let mut session = serve_verbose(folder.path()).silent();
        session.initialize(version);
        session.result("resources/subscribe", json!({"uri": FENCE}));
        let mut client = Client::when_ready(folder, session);
        assert_eq!(client.notified(), [""; 0], "nothing happened");
        client.put("new/SKILL.md", &skill("new", "x"));
        assert_eq!(client.notified(), all);
        client.put("deep/er/leaf.md", SMALL[0].1);
        assert_eq!(client.notified(), all);
        client.remove("new");
        assert_eq!(client.notified(), all);
        assert_eq!(client.notified(), [""; 0]);
    }
}

#[test]
fn a_change_is_announced_without_any_request() {
    let folder = library(&SMALL);
    let mut session = serve_verbose(folder.path()).start();
    wait_until_announcing(&session);
    put_file(folder.path(), "new/SKILL.md", skill("new", "x"));
    for list in ["tools", "prompts", "resources"] {
        let notification = session.notification(&format!("notifications/{list}/list_changed"));
        assert_eq!(notification.get("id"), None, "{notification}");
    }
}

/// The name of a change on disk, and the change.
type Change<'a> = (&'a str, &'a dyn Fn(&Client));

/// Makes changes one by one. After each, exactly those lists must be announced whose answer changed.
fn check_lists(client: &mut Client, changes: &[Change]) -> Vec<Vec<String>> {
    let mut before = lists(&mut client.session);
    let mut all = Vec::new();
    client.notified();
    for (what, change) in changes {
        change(client);
        let after = client.session.fresh(lists);
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).map(|(list, _)| list.0);
        let changed: Vec<&str> = changed.collect();
        let notified = client.notified();
        assert_eq!(notified, changed, "{what}");
        before = after;
        all.push(notified);
    }
    all
}

/// Edits that change no list, up to edits that change all of them.
const CHANGES: [Change; 17] = [
    ("another body", &|client| client.put("pdf/SKILL.md", &format!("{PDF}More.\n"))),
    ("the same bytes again", &|client| client.put("pdf/SKILL.md", &format!("{PDF}More.\n"))),
    ("another field", &|client| client.put("pdf/SKILL.md", &PDF.replace("name: pdf", "name: pdf\nlicense: MIT"))),
    ("a file of a skill", &|client| client.put("pdf/a.txt", "a")),
    ("a file that is no skill", &|client| client.put("notes.md", "# Notes\n")),
    ("another body of a tree skill", &|client| client.put("forms.md", &SMALL[0].1.replace("submit", "blur"))),
    ("other keywords", &|client| client.put("forms.md", &SMALL[0].1.replace("[form,", "[forms, field,"))),
    ("a broken skill", &|client| client.put("broken/SKILL.md", "---\nname: broken\n---\n")),
    ("a description", &|client| client.put("pdf/SKILL.md", &PDF.replace("Read portable", "Read and write"))),
    ("two spaces", &|client| client.put("pdf/SKILL.md", &PDF.replace("Read portable", "Read and  write"))),
    ("another name", &|client| client.put("pdf/SKILL.md", &PDF.replace("name: pdf", "name: portable"))),
    ("a skill", &|client| client.put("new/SKILL.md", &skill("new", "x"))),
    ("another place", &|client| {
        std::fs::create_dir(client.folder.path().join("moved")).unwrap();
        std::fs::rename(client.folder.path().join("new"), client.folder.path().join("moved/new")).unwrap();
    }),
    ("a second skill of that name", &|client| client.put("more/new/SKILL.md", &skill("new", "y"))),
    ("a parent", &|client| client.put("_root.md", "---\nkeywords: [r]\ndescription: Rules\n---\nBe kind.\n")),
    ("a tree skill less", &|client| client.remove("forms.md")),
    ("a folder skill less", &|client| client.remove("pdf")),
];

#[test]
fn a_list_is_announced_exactly_when_its_answer_changed() {
    let mut client = Client::legacy(&SMALL);
    let notified = check_lists(&mut client, &CHANGES);
    assert!(notified[..8].iter().all(Vec::is_empty), "edits that change no list: {notified:?}");
    assert_eq!(notified[8].len(), 3, "a description is in all of them");
}

#[test]
fn a_list_that_does_not_contain_the_catalog_is_not_announced() {
    let mut client = Client::with_launch(&SMALL, |launch| launch.arg("--profile").arg("skills-mcp"));
    let notified = check_lists(&mut client, &CHANGES);
    assert!(notified.iter().flatten().all(|list| list != "tools"), "{notified:?}");
    assert_eq!(notified[11], ["prompts", "resources"]);
}

#[test]
fn a_list_that_shows_paths_is_announced_when_a_path_changes() {
    let mut client = Client::with_launch(&SMALL, |launch| launch.config("catalog_format: xml"));
    check_lists(&mut client, &CHANGES);
}

#[test]
fn only_the_list_that_shows_a_name_is_announced_when_it_changes() {
    let with_name = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n");
    let files = [("x1", "same"), ("x2", "same"), ("x3", "same"), ("y1", "other"), ("y2", "other")];
    let files: Vec<(String, String)> =
        files.map(|(folder, name)| (format!("{folder}/SKILL.md"), with_name(name))).into_iter().collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut client = Client::legacy(&files);
    let notified =
        check_lists(&mut client, &[("another side", &|client| client.put("x3/SKILL.md", &with_name("other")))]);
    assert_eq!(notified, [["resources"]]);
}

#[test]
fn nothing_is_announced_before_the_handshake_is_complete() {
    let folder = library_with_fence(&SMALL);
    let mut session = serve_verbose(folder.path()).silent();
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}});
    session.request("initialize", params);
    session.wait_for_log("generation 1: 3 skills");
    put_file(folder.path(), "new/SKILL.md", skill("new", "x"));
    session.wait_for_log("the lists of generation 2 were compared");
    let id = session.post("ping", json!({}));
    assert_eq!(session.next_message()["id"], id, "nothing came before the answer");
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    session.result("resources/subscribe", json!({"uri": FENCE}));
    let mut client = Client::when_ready(folder, session);
    assert_eq!(client.notified(), [""; 0]);
    client.remove("new");
    assert_eq!(client.notified(), ["prompts", "resources", "tools"]);
}

#[test]
fn a_repeated_end_of_the_handshake_does_not_duplicate_notifications() {
    let mut client = Client::legacy(&SMALL);
    client.session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.session.result("ping", json!({}));
    client.put("new/SKILL.md", &skill("new", "x"));
    assert_eq!(client.notified(), ["prompts", "resources", "tools"]);
}

#[test]
fn profiles_that_announce_every_change_do_so() {
    let folder = library(&SMALL);
    let [mut skilljack, mut sk] = ["skilljack", "sk"].map(|profile| {
        let session = serve_verbose(folder.path()).arg("--profile").arg(profile).start();
        wait_until_announcing(&session);
        session
    });
    for number in 0..2 {
        // This changes no list.
        put_file(folder.path(), "pdf/SKILL.md", format!("{PDF}{number}\n"));
        for list in LISTS {
            for session in [&mut skilljack, &mut sk] {
                let notification = session.notification(&format!("notifications/{list}/list_changed"));
                assert_eq!(
                    notification["params"]["_meta"]["reason"], "1 change in the folders of skills",
                    "{notification}"
                );
            }
        }
    }
    put_file(folder.path(), "forms.md", SMALL[0].1.replace("submit", "blur"));
    sk.notification("notifications/tools/list_changed");
}

const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

/// Clients of both eras that get all list changes.
fn both_clients() -> [Client; 2] {
    let all = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
    [Client::legacy(&SMALL), Client::modern(&SMALL, all).0]
}

const ALL: [&str; 3] = ["prompts", "resources", "tools"];

#[test]
fn a_list_change_has_a_reason() {
    const EXPECTED: &str = "2 changes in the folders of skills";
    for mut client in both_clients() {
        let notifications = (0..20).find_map(|round| {
            client.wait_until_settled();
            let started = Instant::now();
            client.put("pdf/SKILL.md", &PDF.replace("Read portable", &format!("Edition {round} of")));
            client.put("forms.md", &SMALL[0].1.replace("Forms", &format!("Forms {round}")));
            let was_quick = started.elapsed() < DEBOUNCE;
            let notifications = client.notifications();
            let reason = |notification: &Value| notification["params"]["_meta"]["reason"].clone();
            assert!(notifications.iter().all(|notification| reason(notification).is_string()), "{notifications:?}");
            // Two changes that are too far apart are announced one by one.
            let is_combined = notifications.iter().all(|notification| reason(notification) == EXPECTED);
            (was_quick && is_combined).then_some(notifications)
        });
        let mut notified: Vec<String> = notifications.expect(EXPECTED).iter().map(summarize).collect();
        notified.sort();
        assert_eq!(notified, ALL);
    }
}

#[test]
fn a_checkout_that_takes_longer_than_the_debounce_is_announced_once() {
    for mut client in both_clients() {
        client.assert_announced_once(1, &ALL, |client, round| {
            // Like git, one file after the other. The pauses make it longer than the debounce on any machine.
            let started = Instant::now();
            for number in 0..100 {
                let path = format!("checkout{round}/{number}.md");
                write_files(client.folder.path(), &[(&path, SMALL[0].1)]);
                std::thread::park_timeout(DEBOUNCE / 80);
            }
            while started.elapsed() < DEBOUNCE {
                std::thread::park_timeout(DEBOUNCE / 80);
            }
        });
        for number in 0..150 {
            write_files(client.folder.path(), &[(&format!("old{}/{number}.md", number % 30), SMALL[0].1)]);
        }
        client.notified();
        client.assert_announced_once(1, &ALL, |client, round| client.remove(&format!("old{round}")));
    }
}

#[test]
fn a_checkout_is_announced_once_even_if_lists_are_requested_during_it() {
    for mut client in both_clients() {
        client.assert_announced_once(1, &ALL, |client, round| {
            let before = client.session.all("prompts/list", "prompts").len();
            for number in 1..=30 {
                let path = format!("checkout{round}/{number}.md");
                write_files(client.folder.path(), &[(&path, SMALL[0].1)]);
                let prompts = client.session.fresh(|session| session.all("prompts/list", "prompts"));
                assert_eq!(prompts.len(), before + number, "each list is fresh");
            }
        });
    }
}

#[test]
fn a_list_that_changed_and_changed_back_is_announced_if_it_was_requested_in_between() {
    let mut client = Client::legacy(&SMALL);
    let before = lists(&mut client.session);
    client.assert_announced_once(1, &ALL, |client, _| {
        client.put("new/SKILL.md", &skill("new", "x"));
        assert_ne!(client.session.fresh(lists), before);
        client.remove("new");
        assert_eq!(client.session.fresh(lists), before);
    });
    assert_eq!(client.notified(), [""; 0]);
}

#[test]
fn a_touched_file_with_the_same_bytes_is_not_announced() {
    for mut client in both_clients() {
        for _ in 0..3 {
            client.put("pdf/SKILL.md", PDF);
            let file = std::fs::File::options().append(true).open(client.folder.path().join("forms.md")).unwrap();
            file.set_modified(std::time::SystemTime::now()).unwrap();
            assert_eq!(client.notified(), [""; 0]);
        }
    }
}

#[test]
fn each_client_gets_only_its_own_notifications() {
    let folder = library(&SMALL);
    let mut listening = serve_verbose(folder.path()).modern();
    listen(&mut listening, &json!({"promptsListChanged": true}));
    let mut silent = serve_verbose(folder.path()).modern();
    silent.result("prompts/list", json!({}));
    let mut legacy = serve_verbose(folder.path()).start();
    for session in [&listening, &silent, &legacy] {
        wait_until_announcing(session);
    }
    put_file(folder.path(), "new/SKILL.md", skill("new", "x"));
    for list in LISTS {
        legacy.notification(&format!("notifications/{list}/list_changed"));
    }
    assert_eq!(summarize(&listening.notice()), "prompts");
    // The answer is the first message.
    let id = silent.post("prompts/list", json!({}));
    assert_eq!(silent.next_message()["id"], id);
}
