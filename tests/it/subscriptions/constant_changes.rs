//! Constant changes on disk.

use super::{Client, PDF};
use crate::SMALL;
use crate::freshness::assert_announced_by_watcher;
use crate::resources::skill;
use serde_json::json;
use skillcell_tests::{PATIENCE, put_file};
use std::io::Write as _;
use std::time::{Duration, Instant};

const CHANGED: &str = "notifications/tools/list_changed";

#[test]
fn a_checkout_is_announced_once_even_if_a_list_is_requested_midway() {
    let names: Vec<String> = (0..10).map(|number| format!("s{number}")).collect();
    let mut client = Client::legacy(&SMALL);
    client.assert_announced_once(3, &["prompts", "resources", "tools"], |client, round| {
        for (number, name) in names.iter().enumerate() {
            let text = format!("---\nname: {name}\ndescription: Edition {round}\n---\n");
            client.put(&format!("{name}/SKILL.md"), &text);
            if number == 4 {
                client.session.call("skills_list", json!({}));
            }
        }
    });
}

#[test]
fn a_change_that_a_request_applied_is_announced_without_another_request() {
    let Client { folder, mut session, .. } = Client::legacy(&SMALL);
    assert_announced_by_watcher(&mut session, |session, number| {
        let name = format!("new{number}");
        put_file(folder.path(), &format!("{name}/SKILL.md"), skill(&name, "x"));
        session.call("skill", json!({"name": name}));
    });
}

#[test]
fn constant_changes_do_not_delay_announcements_forever() {
    let mut client = Client::legacy(&SMALL);
    let mut log = std::fs::File::create(client.folder.path().join("pdf/log.txt")).unwrap();
    let (started, mut edits, mut notified) = (Instant::now(), 0, false);
    while !notified {
        assert!(started.elapsed() < PATIENCE, "nothing was announced for {edits} edits");
        edits += 1;
        client.put("pdf/SKILL.md", &PDF.replace("Read portable", &format!("Edition {edits} of")));
        let id = client.session.post("tools/call", json!({"name": "skills_list", "arguments": {}}));
        loop {
            let message = client.session.next_message();
            if message["id"] == id {
                break;
            }
            notified |= message["method"] == CHANGED;
        }
        // The disk is never quiet for as long as the debounce.
        for _ in 0..4 {
            log.write_all(b"x").unwrap();
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }
}
