//! `resources/updated`: in time, for what was subscribed to, and with the new bytes behind it.

use super::{Client, PDF, UPDATED, watched_files};
use crate::SMALL;
use crate::resources::{bytes, read, skill};
use serde_json::json;
use skillcell_tests::write_files;
use std::io::Write as _;

/// What is told of `pdf` and its files, and of a tree skill, for each change.
fn check_updates(client: &mut Client) {
    let expect = |client: &mut Client, what: &str, expected: &[&str]| {
        let told: Vec<String> = client.told().into_iter().filter(|told| told.starts_with("skill://")).collect();
        assert_eq!(told, expected, "{what}");
    };
    let (document, collection, file) = ("skill://pdf", "skill://pdf/", "skill://pdf/a.txt");
    let tree = ["skill://forms", "skill://forms/"];
    expect(client, "nothing", &[]);
    client.put("pdf/docs/deep/b.txt", "other bytes");
    expect(client, "a file", &[collection]);
    client.put("pdf/a.txt", "other bytes");
    expect(client, "a file that is watched", &[collection, file]);
    client.put("pdf/SKILL.md", &format!("{PDF}More.\n"));
    expect(client, "the document", &[document, collection]);
    client.put("pdf/SKILL.md", &format!("{PDF}More.\n"));
    expect(client, "the same bytes", &[]);
    client.put("pdf/docs/new.txt", "new");
    expect(client, "a new file", &[collection]);
    client.remove("pdf/docs/new.txt");
    expect(client, "a file less", &[collection]);
    client.put("pdf/.env", "hidden");
    client.put("other/SKILL.md", &skill("other", "another body"));
    client.put("other/a.txt", "another file");
    expect(client, "what is hidden or elsewhere", &[]);
    client.put("forms.md", &SMALL[0].1.replace("submit", "blur"));
    expect(client, "a tree skill", &tree);
    client.put("_root.md", "---\nkeywords: [r]\ndescription: Rules\n---\nBe firm.\n");
    expect(client, "its parent", &tree);
    // Without a moment in which the file is empty.
    let mut parent = std::fs::File::options().write(true).open(client.folder.path().join("_root.md")).unwrap();
    parent.write_all(b"---\nkeywords: [r]\ndescription: Rules\n---\nBe kind.\n").unwrap();
    expect(client, "its parent, in place", &tree);
}

#[test]
fn a_subscription_is_told_what_it_covers_and_nothing_else() {
    let uris = ["skill://pdf", "skill://pdf/", "skill://pdf/a.txt", "skill://forms", "skill://forms/"];
    let mut legacy = Client::legacy(&watched_files());
    for uri in uris {
        assert_eq!(legacy.session.result("resources/subscribe", json!({"uri": uri})), json!({}));
    }
    check_updates(&mut legacy);
    let (mut modern, _) = Client::modern(&watched_files(), json!({"resourceSubscriptions": uris}));
    check_updates(&mut modern);
}

#[test]
fn whoever_reads_again_at_once_gets_the_new_bytes() {
    for stateless in [false, true] {
        let uris = ["skill://pdf", "skill://pdf/SKILL.md", "skill://pdf/a.txt", "skill://PDF"];
        let mut client = if stateless {
            Client::modern(&watched_files(), json!({"resourceSubscriptions": uris})).0
        } else {
            let mut client = Client::legacy(&watched_files());
            for uri in uris {
                client.session.result("resources/subscribe", json!({"uri": uri}));
            }
            client
        };
        for number in 10..16 {
            let (document, file) = (skill("pdf", &format!("edition {number}")), format!("file {number}"));
            client.put("pdf/SKILL.md", &document);
            client.put("pdf/a.txt", &file);
            let mut waiting = uris.to_vec();
            while !waiting.is_empty() {
                let notice = client.session.notification(UPDATED);
                let uri = notice["params"]["uri"].as_str().unwrap();
                let expected = if uri.ends_with("a.txt") { &file } else { &document };
                assert_eq!(bytes(&read(&mut client.session, uri)), expected.as_bytes(), "{uri}");
                // The two files may be told one after the other, and what is covered twice is told twice then.
                waiting.retain(|waiting| *waiting != uri);
            }
        }
    }
}

#[test]
fn who_unsubscribes_is_told_no_more() {
    let mut client = Client::legacy(&watched_files());
    for uri in ["skill://pdf", "skill://pdf/a.txt", "skill://pdf/a.txt"] {
        client.session.result("resources/subscribe", json!({"uri": uri}));
    }
    client.put("pdf/a.txt", "1");
    assert_eq!(client.told(), ["skill://pdf/a.txt"], "twice subscribed is told once");
    assert_eq!(client.session.result("resources/unsubscribe", json!({"uri": "skill://pdf/a.txt"})), json!({}));
    assert_eq!(client.session.result("resources/unsubscribe", json!({"uri": "skill://never"})), json!({}));
    client.put("pdf/a.txt", "2");
    client.put("pdf/SKILL.md", &format!("{PDF}More.\n"));
    assert_eq!(client.told(), ["skill://pdf"]);
    client.session.result("resources/unsubscribe", json!({"uri": "skill://pdf"}));
    client.put("pdf/SKILL.md", PDF);
    assert_eq!(client.told(), [""; 0]);
    client.session.result("resources/subscribe", json!({"uri": "skill://pdf"}));
    client.put("pdf/SKILL.md", &format!("{PDF}More.\n"));
    assert_eq!(client.told(), ["skill://pdf"]);
}

#[test]
fn what_does_not_exist_cannot_be_subscribed_to() {
    let mut client = Client::legacy(&watched_files());
    for uri in [
        "skill://no-such",
        "skill://pdf/no-such.txt",
        "skill://pdf/.env",
        "https://example.com/",
        "skill://pdf/docs",
        "",
    ] {
        let error = client.session.error("resources/subscribe", json!({"uri": uri}));
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(uri)), "{error}");
    }
    for params in [json!({}), json!({"uri": 3})] {
        assert_eq!(client.session.error("resources/subscribe", params)["code"], -32602);
    }
    client.put("no-such/SKILL.md", &skill("no-such", "x"));
    assert_eq!(client.told(), ["prompts", "resources", "tools"], "a refused subscription is none");
}

#[test]
fn a_thousand_resources_are_watched_and_no_more() {
    let mut client = Client::legacy(&watched_files());
    // The mark is one of them.
    let uris: Vec<String> = (1..=1_000).map(|number| format!("skill://pdf/many/{number}.txt")).collect();
    for number in 1..=1_000 {
        write_files(client.folder.path(), &[(&format!("pdf/many/{number}.txt"), "x")]);
    }
    let (last, others) = uris.split_last().unwrap();
    for uri in others {
        client.session.result("resources/subscribe", json!({"uri": uri}));
    }
    let error = client.session.error("resources/subscribe", json!({"uri": last}));
    assert!(error["code"] == -32602 && error["message"].as_str().unwrap().contains("1000"), "{error}");
    client.session.result("resources/unsubscribe", json!({"uri": others[0]}));
    client.session.result("resources/subscribe", json!({"uri": last}));
    client.told();
    client.put("pdf/many/1.txt", "y");
    client.put("pdf/many/1000.txt", "y");
    assert_eq!(client.told(), [last.as_str()]);
}

#[test]
fn many_edits_at_once_are_told_a_few_times() {
    let mut client = Client::legacy(&watched_files());
    client.session.result("resources/subscribe", json!({"uri": "skill://pdf"}));
    for number in 0..300 {
        write_files(client.folder.path(), &[("pdf/SKILL.md", &skill("pdf", &format!("edition {number}")))]);
    }
    let told = client.told();
    let updates = told.iter().filter(|told| *told == "skill://pdf").count();
    assert!((1..=10).contains(&updates), "{told:?}");
    assert_eq!(bytes(&read(&mut client.session, "skill://pdf")), skill("pdf", "edition 299").as_bytes());
}

#[test]
fn a_file_that_is_deleted_and_made_anew_is_told_both_times() {
    let mut client = Client::legacy(&watched_files());
    for uri in ["skill://pdf", "skill://pdf/a.txt"] {
        client.session.result("resources/subscribe", json!({"uri": uri}));
    }
    client.remove("pdf/a.txt");
    assert_eq!(client.told(), ["skill://pdf/a.txt"]);
    client.put("pdf/a.txt", "a");
    assert_eq!(client.told(), ["skill://pdf/a.txt"]);
    client.remove("pdf");
    assert_eq!(client.told(), ["prompts", "resources", "skill://pdf", "skill://pdf/a.txt", "tools"]);
    assert_eq!(client.session.error("resources/read", json!({"uri": "skill://pdf"}))["code"], -32002);
    client.put("pdf/a.txt", "a");
    assert_eq!(client.told(), [""; 0], "without its document it is no skill");
    client.put("pdf/SKILL.md", PDF);
    assert_eq!(client.told(), ["prompts", "resources", "skill://pdf", "skill://pdf/a.txt", "tools"]);
    assert_eq!(bytes(&read(&mut client.session, "skill://pdf")), PDF.as_bytes());
}

/// A way to save a text, and what it is called.
type Way<'a> = (&'a str, &'a dyn Fn(&str));

#[test]
fn every_way_to_save_a_file_is_noticed() {
    let mut client = Client::legacy(&watched_files());
    client.session.result("resources/subscribe", json!({"uri": "skill://pdf"}));
    let folder = client.folder.path().join("pdf");
    let at = |name: &str| folder.join(name);
    let in_place = |text: &str| std::fs::write(at("SKILL.md"), text).unwrap();
    let with_backup = |text: &str| {
        std::fs::write(at("SKILL.md.new"), text).unwrap();
        std::fs::rename(at("SKILL.md"), at("SKILL.md~")).unwrap();
        std::fs::rename(at("SKILL.md.new"), at("SKILL.md")).unwrap();
    };
    let appended = |text: &str| {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().append(true).open(at("SKILL.md")).unwrap();
        file.write_all(text.rsplit("---\n").next().unwrap().as_bytes()).unwrap();
    };
    let from_elsewhere = |text: &str| {
        let elsewhere = tempfile::tempdir_in(folder.parent().unwrap().parent().unwrap()).unwrap();
        std::fs::write(elsewhere.path().join("x"), text).unwrap();
        std::fs::rename(elsewhere.path().join("x"), at("SKILL.md")).unwrap();
    };
    let ways: [Way; 4] = [
        ("in place", &in_place),
        ("with a backup", &with_backup),
        ("appended", &appended),
        ("from elsewhere", &from_elsewhere),
    ];
    for (what, save) in ways {
        save(&skill("pdf", what));
        client.session.notification(UPDATED);
        let read = bytes(&read(&mut client.session, "skill://pdf"));
        assert!(String::from_utf8(read).unwrap().ends_with(&format!("{what}\n")), "{what}");
        // Whatever else was told of it is over before the next.
        client.told();
    }
}
