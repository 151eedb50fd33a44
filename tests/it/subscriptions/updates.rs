//! `resources/updated`: for the subscribed resources, and never before their new bytes can be read.

use super::{Client, PDF, UPDATED, watched_files};
use crate::SMALL;
use crate::resources::{bytes, read, skill};
use serde_json::json;
use skillcell_tests::write_files;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// The debounce of resource updates.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// Checks the notifications for `pdf` and its files, and for a tree skill, after each change.
fn check_updates(client: &mut Client) {
    let expect = |client: &mut Client, what: &str, expected: &[&str]| {
        let mut notified = client.notified();
        notified.retain(|notified| notified.starts_with("skill://"));
        assert_eq!(notified, expected, "{what}");
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
    expect(client, "hidden files and other skills", &[]);
    client.put("forms.md", &SMALL[0].1.replace("submit", "blur"));
    expect(client, "a tree skill", &tree);
    client.put("_root.md", "---\nkeywords: [r]\ndescription: Rules\n---\nBe firm.\n");
    expect(client, "its parent", &tree);
    // The file is never empty.
    let mut parent = std::fs::File::options().write(true).open(client.folder.path().join("_root.md")).unwrap();
    parent.write_all(b"---\nkeywords: [r]\ndescription: Rules\n---\nBe kind.\n").unwrap();
    expect(client, "its parent, in place", &tree);
}

#[test]
fn a_subscription_is_notified_of_what_it_covers_and_nothing_else() {
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
fn a_read_right_after_the_notification_gets_the_new_bytes() {
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
            let mut pending = uris.to_vec();
            while !pending.is_empty() {
                let notification = client.session.notification(UPDATED);
                let uri = notification["params"]["uri"].as_str().unwrap();
                let expected = if uri.ends_with("a.txt") { &file } else { &document };
                let now = client.session.fresh(|session| bytes(&read(session, uri)));
                assert_eq!(now, expected.as_bytes(), "{uri}");
                // If the two files are notified separately, a resource that contains both is notified twice.
                pending.retain(|pending| *pending != uri);
            }
        }
    }
}

#[test]
fn no_notification_comes_after_unsubscribing() {
    let mut client = Client::legacy(&watched_files());
    for uri in ["skill://pdf", "skill://pdf/a.txt", "skill://pdf/a.txt"] {
        client.session.result("resources/subscribe", json!({"uri": uri}));
    }
    client.put("pdf/a.txt", "1");
    assert_eq!(client.notified(), ["skill://pdf/a.txt"], "a second subscription adds no notification");
    assert_eq!(client.session.result("resources/unsubscribe", json!({"uri": "skill://pdf/a.txt"})), json!({}));
    assert_eq!(client.session.result("resources/unsubscribe", json!({"uri": "skill://never"})), json!({}));
    client.put("pdf/a.txt", "2");
    client.put("pdf/SKILL.md", &format!("{PDF}More.\n"));
    assert_eq!(client.notified(), ["skill://pdf"]);
    client.session.result("resources/unsubscribe", json!({"uri": "skill://pdf"}));
    client.put("pdf/SKILL.md", PDF);
    assert_eq!(client.notified(), [""; 0]);
    client.session.result("resources/subscribe", json!({"uri": "skill://pdf"}));
    client.put("pdf/SKILL.md", &format!("{PDF}More.\n"));
    assert_eq!(client.notified(), ["skill://pdf"]);
}

#[test]
fn resources_that_do_not_exist_cannot_be_subscribed_to() {
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
    assert_eq!(client.notified(), ["prompts", "resources", "tools"], "the subscription was refused");
}

#[test]
fn a_thousand_resources_are_watched_and_no_more() {
    let mut client = Client::legacy(&watched_files());
    // The fence is one of them.
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
    client.notified();
    client.put("pdf/many/1.txt", "y");
    client.put("pdf/many/1000.txt", "y");
    assert_eq!(client.notified(), [last.as_str()]);
}

#[test]
fn edits_in_quick_succession_are_notified_once_and_the_last_one_always() {
    let mut client = Client::legacy(&watched_files());
    client.session.result("resources/subscribe", json!({"uri": "skill://pdf"}));
    let is_debounced = (0..40).any(|round| {
        client.wait_until_settled();
        let started = Instant::now();
        for number in 0..5 {
            client.put("pdf/SKILL.md", &skill("pdf", &format!("edition {round}.{number}")));
        }
        // A machine that takes longer for the edits may notify of several.
        let was_quick = started.elapsed() < DEBOUNCE;
        let updates = client.notified().iter().filter(|notified| *notified == "skill://pdf").count();
        assert!(updates > 0, "round {round}");
        let last = skill("pdf", &format!("edition {round}.4"));
        assert_eq!(bytes(&read(&mut client.session, "skill://pdf")), last.as_bytes());
        was_quick && updates == 1
    });
    assert!(is_debounced, "notified of several edits in every round");
    assert_eq!(client.notified(), [""; 0], "nothing changed since the last notification");
}

#[test]
fn deleting_and_recreating_a_file_is_notified_both_times() {
    let mut client = Client::legacy(&watched_files());
    for uri in ["skill://pdf", "skill://pdf/a.txt"] {
        client.session.result("resources/subscribe", json!({"uri": uri}));
    }
    client.remove("pdf/a.txt");
    assert_eq!(client.notified(), ["skill://pdf/a.txt"]);
    client.put("pdf/a.txt", "a");
    assert_eq!(client.notified(), ["skill://pdf/a.txt"]);
    client.remove("pdf");
    assert_eq!(client.notified(), ["prompts", "resources", "skill://pdf", "skill://pdf/a.txt", "tools"]);
    assert_eq!(client.session.error("resources/read", json!({"uri": "skill://pdf"}))["code"], -32002);
    client.put("pdf/a.txt", "a");
    assert_eq!(client.notified(), [""; 0], "without its document it is not a skill");
    client.put("pdf/SKILL.md", PDF);
    assert_eq!(client.notified(), ["prompts", "resources", "skill://pdf", "skill://pdf/a.txt", "tools"]);
    assert_eq!(bytes(&read(&mut client.session, "skill://pdf")), PDF.as_bytes());
}

/// The name of a way to save a text, and the function.
type SaveMethod<'a> = (&'a str, &'a dyn Fn(&str));

#[test]
fn every_way_of_saving_a_file_is_notified() {
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
    let from_another_folder = |text: &str| {
        let other_folder = tempfile::tempdir_in(folder.parent().unwrap().parent().unwrap()).unwrap();
        std::fs::write(other_folder.path().join("x"), text).unwrap();
        std::fs::rename(other_folder.path().join("x"), at("SKILL.md")).unwrap();
    };
    let methods: [SaveMethod; 4] = [
        ("in place", &in_place),
        ("with a backup", &with_backup),
        ("appended", &appended),
        ("from another folder", &from_another_folder),
    ];
    for (what, save) in methods {
        save(&skill("pdf", what));
        client.session.notification(UPDATED);
        let read = bytes(&read(&mut client.session, "skill://pdf"));
        assert!(String::from_utf8(read).unwrap().ends_with(&format!("{what}\n")), "{what}");
        // The next change begins after all notifications of this one.
        client.notified();
    }
}
