//! `list_changed`: exactly when the answer to that list is another one, once, and with a reason.

use super::{Client, MARK, PDF, in_short, listen, lists, put, talkative, with_mark};
use crate::resources::skill;
use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::write_files;
use std::time::{Duration, Instant};

#[test]
fn a_skill_that_comes_or_goes_is_told_once_in_all_three_lists() {
    let all = ["prompts", "resources", "tools"];
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let folder = with_mark(&SMALL);
        let mut session = talkative(folder.path()).silent();
        session.initialize(version);
        session.result("resources/subscribe", json!({"uri": MARK}));
        let mut client = Client { folder, session, edits: 0 };
        assert_eq!(client.told(), [""; 0], "nothing happened");
        client.put("new/SKILL.md", &skill("new", "x"));
        assert_eq!(client.told(), all);
        client.put("deep/er/leaf.md", SMALL[0].1);
        assert_eq!(client.told(), all);
        client.remove("new");
        assert_eq!(client.told(), all);
        assert_eq!(client.told(), [""; 0]);
    }
}

#[test]
fn an_unwatched_change_is_noticed_without_any_request() {
    let folder = library(&SMALL);
    let mut session = serve(folder.path()).start();
    put(folder.path(), "new/SKILL.md", &skill("new", "x"));
    for list in ["tools", "prompts", "resources"] {
        let notice = session.notification(&format!("notifications/{list}/list_changed"));
        assert_eq!(notice.get("id"), None, "{notice}");
    }
}

/// A change on disk, and what it is called.
type Change<'a> = (&'a str, &'a dyn Fn(&Client));

/// Applies changes one by one. After each, exactly those lists are told whose answer is another one than before.
fn check_lists(client: &mut Client, changes: &[Change]) -> Vec<Vec<String>> {
    let mut before = lists(&mut client.session);
    let mut all = Vec::new();
    client.told();
    for (what, change) in changes {
        change(client);
        let after = lists(&mut client.session);
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).map(|(list, _)| list.0);
        let changed: Vec<&str> = changed.collect();
        let told = client.told();
        assert_eq!(told, changed, "{what}");
        before = after;
        all.push(told);
    }
    all
}

/// What happens to libraries, from an edit that concerns nobody to one that concerns every list.
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
fn a_list_is_told_exactly_when_its_answer_changed() {
    let mut client = Client::legacy(&SMALL);
    let told = check_lists(&mut client, &CHANGES);
    assert!(told[..8].iter().all(Vec::is_empty), "edits that change no list: {told:?}");
    assert_eq!(told[8].len(), 3, "a description is in all of them");
}

#[test]
fn a_list_without_the_catalog_in_it_is_not_told() {
    let mut client = Client::launched(&SMALL, |launch| launch.arg("--profile").arg("skills-mcp"));
    let told = check_lists(&mut client, &CHANGES);
    assert!(told.iter().flatten().all(|list| list != "tools"), "{told:?}");
    assert_eq!(told[11], ["prompts", "resources"]);
}

#[test]
fn a_place_that_a_list_shows_counts_as_its_answer() {
    let mut client = Client::launched(&SMALL, |launch| launch.config("catalog_format: xml"));
    check_lists(&mut client, &CHANGES);
}

#[test]
fn a_name_that_only_one_list_shows_is_told_for_that_list() {
    let named = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n");
    let files = [("x1", "same"), ("x2", "same"), ("x3", "same"), ("y1", "other"), ("y2", "other")];
    let files: Vec<(String, String)> =
        files.map(|(folder, name)| (format!("{folder}/SKILL.md"), named(name))).into_iter().collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut client = Client::legacy(&files);
    let told = check_lists(&mut client, &[("another side", &|client| client.put("x3/SKILL.md", &named("other")))]);
    assert_eq!(told, [["resources"]]);
}

#[test]
fn nothing_is_told_before_the_handshake_is_over() {
    let folder = with_mark(&SMALL);
    let mut session = talkative(folder.path()).silent();
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}});
    session.request("initialize", hello);
    session.wait_for_log("generation 1: 3 skills");
    put(folder.path(), "new/SKILL.md", &skill("new", "x"));
    session.wait_for_log("the lists of generation 2 were compared");
    let id = session.post("ping", json!({}));
    assert_eq!(session.next_message()["id"], id, "nothing came before the answer");
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    session.result("resources/subscribe", json!({"uri": MARK}));
    let mut client = Client { folder, session, edits: 0 };
    assert_eq!(client.told(), [""; 0]);
    client.remove("new");
    assert_eq!(client.told(), ["prompts", "resources", "tools"]);
}

#[test]
fn a_handshake_that_ends_twice_tells_nothing_twice() {
    let mut client = Client::legacy(&SMALL);
    client.session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.session.result("ping", json!({}));
    client.put("new/SKILL.md", &skill("new", "x"));
    assert_eq!(client.told(), ["prompts", "resources", "tools"]);
}

#[test]
fn the_profiles_that_announce_more_do_so() {
    let folder = library(&SMALL);
    let mut skilljack = serve(folder.path()).arg("--profile").arg("skilljack").start();
    let mut sk = serve(folder.path()).arg("--profile").arg("sk").start();
    for number in 0..2 {
        // No list has other words because of it.
        put(folder.path(), "pdf/SKILL.md", &format!("{PDF}{number}\n"));
        for list in LISTS {
            for session in [&mut skilljack, &mut sk] {
                let notice = session.notification(&format!("notifications/{list}/list_changed"));
                assert_eq!(notice["params"]["_meta"]["reason"], "1 change in the folders of skills", "{notice}");
            }
        }
    }
    put(folder.path(), "forms.md", &SMALL[0].1.replace("submit", "blur"));
    sk.notification("notifications/tools/list_changed");
}

const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

/// Clients of both eras that are told of all lists.
fn both() -> [Client; 2] {
    let all = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
    [Client::legacy(&SMALL), Client::modern(&SMALL, all).0]
}

/// What was told of lists, and every reason.
fn told_with_reasons(client: &mut Client) -> (Vec<String>, Vec<String>) {
    let notices = client.notices();
    let reason = |notice: &Value| notice["params"]["_meta"]["reason"].as_str().unwrap_or("none").to_owned();
    let mut told: Vec<String> = notices.iter().map(in_short).collect();
    told.sort();
    (told, notices.iter().map(reason).collect())
}

const ALL: [&str; 3] = ["prompts", "resources", "tools"];

#[test]
fn every_change_of_a_list_says_why() {
    for mut client in both() {
        client.put("pdf/SKILL.md", &PDF.replace("Read portable", "Read and write"));
        client.put("forms.md", &SMALL[0].1.replace("Forms", "Fields"));
        let (told, reasons) = told_with_reasons(&mut client);
        assert_eq!(told, ALL);
        assert_eq!(reasons, ["2 changes in the folders of skills"; 3]);
    }
}

#[test]
fn a_thousand_files_of_a_checkout_are_told_once() {
    for mut client in both() {
        // As git does it: one file after the other, and for longer than the server waits for quiet.
        let began = Instant::now();
        for number in 0..1_000 {
            write_files(client.folder.path(), &[(&format!("checkout/{number}.md"), SMALL[0].1)]);
            // A pause now and then, because the disk of a test is faster than any checkout.
            if number % 10 == 0 {
                std::thread::park_timeout(Duration::from_millis(8));
            }
        }
        assert!(began.elapsed() > Duration::from_millis(500), "{:?} is no long checkout", began.elapsed());
        assert_eq!(client.told(), ALL);
        std::fs::remove_dir_all(client.folder.path().join("checkout")).unwrap();
        assert_eq!(client.told(), ALL);
    }
}

#[test]
fn a_checkout_is_told_once_also_when_lists_are_asked_for_meanwhile() {
    for mut client in both() {
        for number in 0..60 {
            write_files(client.folder.path(), &[(&format!("checkout/{number}.md"), SMALL[0].1)]);
            let prompts = client.session.all("prompts/list", "prompts");
            assert_eq!(prompts.len(), 5 + number, "each list is fresh");
        }
        assert_eq!(client.told(), ALL);
    }
}

#[test]
fn a_list_that_was_answered_and_is_as_before_again_is_told() {
    let mut client = Client::legacy(&SMALL);
    let before = lists(&mut client.session);
    client.put("new/SKILL.md", &skill("new", "x"));
    assert_ne!(lists(&mut client.session), before);
    client.remove("new");
    assert_eq!(lists(&mut client.session), before);
    assert_eq!(client.told(), ALL);
    assert_eq!(client.told(), [""; 0]);
}

#[test]
fn a_touched_file_with_the_same_bytes_is_told_to_nobody() {
    for mut client in both() {
        for _ in 0..3 {
            client.put("pdf/SKILL.md", PDF);
            let file = std::fs::File::options().append(true).open(client.folder.path().join("forms.md")).unwrap();
            file.set_modified(std::time::SystemTime::now()).unwrap();
            assert_eq!(client.told(), [""; 0]);
        }
    }
}

#[test]
fn each_client_is_told_only_what_is_its_own() {
    let folder = library(&SMALL);
    let mut listening = serve(folder.path()).modern();
    listen(&mut listening, &json!({"promptsListChanged": true}));
    let mut silent = serve(folder.path()).modern();
    silent.result("prompts/list", json!({}));
    let mut legacy = serve(folder.path()).start();
    put(folder.path(), "new/SKILL.md", &skill("new", "x"));
    for list in LISTS {
        legacy.notification(&format!("notifications/{list}/list_changed"));
    }
    assert_eq!(in_short(&listening.notice()), "prompts");
    // The answer to a question comes alone.
    let id = silent.post("prompts/list", json!({}));
    assert_eq!(silent.next_message()["id"], id);
}
