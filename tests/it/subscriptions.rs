//! Telling clients that a list or a resource changed: in time, once, and only what they want to know.

use crate::resources::{bytes, read, skill};
use crate::{SMALL, library, serve, still_answers};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, write_files};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const UPDATED: &str = "notifications/resources/updated";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A skill that every client of these tests watches. Its edits change no list, and when one is told, everything before it was
/// told as well.
const MARK: &str = "skill://mark";

/// A library, and a client that is told what happens in it.
struct Client {
    folder: TempDir,
    session: Session,
    edits: usize,
}

impl Client {
    /// One that shook hands.
    fn legacy(files: &[(&str, &str)]) -> Self {
        Self::launched(files, |launch| launch)
    }

    fn launched(files: &[(&str, &str)], how: impl FnOnce(Launch) -> Launch) -> Self {
        let folder = with_mark(files);
        let mut session = how(serve(folder.path())).start();
        session.result("resources/subscribe", json!({"uri": MARK}));
        Self { folder, session, edits: 0 }
    }

    /// One without a handshake, which listens to this and to the mark. Returns the id of its subscription too.
    fn modern(files: &[(&str, &str)], mut filter: Value) -> (Self, Value) {
        let folder = with_mark(files);
        let mut session = serve(folder.path()).modern();
        let uris = filter["resourceSubscriptions"].as_array().cloned().unwrap_or_default();
        filter["resourceSubscriptions"] = uris.into_iter().chain([json!(MARK)]).collect();
        session.result("prompts/list", json!({}));
        let id = listen(&mut session, &filter);
        (Self { folder, session, edits: 0 }, id)
    }

    /// Writes a file in one step, as editors do that write beside it and rename.
    fn put(&self, path: &str, text: &str) {
        put(self.folder.path(), path, text);
    }

    fn remove(&self, path: &str) {
        let path = self.folder.path().join(path);
        let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.unwrap();
    }

    /// Everything that was told since the last time, sorted: `tools`, `prompts` or `resources` for a list, else the URI.
    fn told(&mut self) -> Vec<String> {
        let mut told: Vec<String> = self.notices().iter().map(in_short).collect();
        told.sort();
        told
    }

    /// The same as it was sent.
    fn notices(&mut self) -> Vec<Value> {
        // A list is made from everything that changed so far, and so that is brought in before the mark.
        self.session.result("prompts/list", json!({}));
        let mut notices = Vec::new();
        // All resources that changed are told in one go, in any order. What came with the first mark is complete at the second.
        for _ in 0..2 {
            self.edits += 1;
            self.put("mark/SKILL.md", &skill("mark", &format!("edit {}", self.edits)));
            loop {
                let notice = self.session.notice();
                if notice["method"] == UPDATED && notice["params"]["uri"] == MARK {
                    break;
                }
                notices.push(notice);
            }
        }
        notices
    }
}

fn with_mark(files: &[(&str, &str)]) -> TempDir {
    let folder = library(files);
    write_files(folder.path(), &[("mark/SKILL.md", &skill("mark", "edit 0"))]);
    folder
}

fn put(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    let above = file.parent().unwrap();
    std::fs::create_dir_all(above).unwrap();
    std::fs::write(above.join(".next"), text).unwrap();
    std::fs::rename(above.join(".next"), file).unwrap();
}

fn in_short(notice: &Value) -> String {
    let method = notice["method"].as_str().unwrap();
    match method.strip_prefix("notifications/").and_then(|method| method.strip_suffix("/list_changed")) {
        Some(list) => list.to_owned(),
        None if method == UPDATED => notice["params"]["uri"].as_str().unwrap().to_owned(),
        None => panic!("{notice}"),
    }
}

/// Begins to listen and waits until the server says that it does.
fn listen(session: &mut Session, filter: &Value) -> Value {
    let id = session.post("subscriptions/listen", json!({"notifications": filter}));
    let first = session.notification(ACKNOWLEDGED);
    assert_eq!(first["params"]["notifications"], *filter, "{first}");
    assert_eq!(first["params"]["_meta"][SUBSCRIPTION], id, "{first}");
    id
}

fn cancel(session: &mut Session, id: &Value) {
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
}

/// The answers to the three lists, in the order of their names.
fn lists(session: &mut Session) -> [(&'static str, Vec<Value>); 3] {
    ["prompts", "resources", "tools"].map(|list| (list, session.all(&format!("{list}/list"), list)))
}

#[test]
fn a_skill_that_comes_or_goes_is_told_once_in_all_three_lists() {
    let all = ["prompts", "resources", "tools"];
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let folder = with_mark(&SMALL);
        let mut session = serve(folder.path()).silent();
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

const PDF: &str = "---\nname: pdf\ndescription: Read portable documents\n---\n\nUse the reader.\n";

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
    let mut session = serve(folder.path()).silent();
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}});
    session.request("initialize", hello);
    session.wait_for_log("generation 1: 3 skills");
    put(folder.path(), "new/SKILL.md", &skill("new", "x"));
    session.wait_for_log("generation 2: 4 skills");
    // One more, which tells nothing: what the one before tells has been told when this is brought in.
    put(folder.path(), "new/SKILL.md", &skill("new", "y"));
    session.wait_for_log("generation 3: 4 skills");
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
        for list in ["tools", "prompts", "resources"] {
            skilljack.notification(&format!("notifications/{list}/list_changed"));
        }
        let notice = sk.notification("notifications/tools/list_changed");
        let reason = &notice["params"]["_meta"]["reason"];
        assert!(reason.as_str().is_some_and(|reason| !reason.is_empty()), "{notice}");
    }
    put(folder.path(), "forms.md", &SMALL[0].1.replace("submit", "blur"));
    sk.notification("notifications/tools/list_changed");
}

/// A skill with files, a neighbour, and a tree skill with a parent.
fn watched_files() -> Vec<(&'static str, &'static str)> {
    let parent = "---\nkeywords: [r]\ndescription: Rules\n---\nBe kind.\n";
    let files = [("pdf/SKILL.md", PDF), ("pdf/a.txt", "a"), ("pdf/docs/deep/b.txt", "b"), ("_root.md", parent)];
    let other = ("other/SKILL.md", "---\nname: other\ndescription: d\n---\n");
    files.into_iter().chain([SMALL[0], other]).collect()
}

/// What is told of `pdf` and its files, and of a tree skill, for each change.
fn check_updates(client: &mut Client) {
    let expect = |client: &mut Client, what: &str, expected: &[&str]| {
        let told: Vec<String> = client.told().into_iter().filter(|told| told.starts_with("skill://")).collect();
        assert_eq!(told, expected, "{what}");
    };
    let (document, collection, file, tree) = ("skill://pdf", "skill://pdf/", "skill://pdf/a.txt", "skill://forms");
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
    expect(client, "a tree skill", &[tree]);
    client.put("_root.md", "---\nkeywords: [r]\ndescription: Rules\n---\nBe firm.\n");
    expect(client, "its parent", &[tree]);
}

#[test]
fn a_subscription_is_told_what_it_covers_and_nothing_else() {
    let uris = ["skill://pdf", "skill://pdf/", "skill://pdf/a.txt", "skill://forms"];
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
