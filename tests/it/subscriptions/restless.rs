//! Disks on which something always happens.

use super::{Client, PDF};
use crate::SMALL;
use crate::resources::skill;
use serde_json::json;
use std::io::Write as _;
use std::time::{Duration, Instant};

const TOLD: &str = "notifications/tools/list_changed";

#[test]
fn a_checkout_is_told_once_also_when_a_list_was_asked_for_in_the_middle() {
    let names: Vec<String> = (0..10).map(|number| format!("s{number}")).collect();
    let mut client = Client::legacy(&SMALL);
    for round in 0..4 {
        for (number, name) in names.iter().enumerate() {
            let text = format!("---\nname: {name}\ndescription: Edition {round}\n---\n");
            client.put(&format!("{name}/SKILL.md"), &text);
            if number == 4 {
                client.session.call("skills_list", json!({}));
            }
        }
        // Nobody asks until the first of them is told.
        client.session.notification(TOLD);
        assert_eq!(client.told(), ["prompts", "resources"], "round {round}");
    }
}

#[test]
fn what_changes_all_the_time_is_told_all_the_same() {
    let mut client = Client::legacy(&SMALL);
    client.told();
    let mut log = std::fs::File::create(client.folder.path().join("pdf/log.txt")).unwrap();
    let (began, mut edits, mut told) = (Instant::now(), 0, false);
    while !told && began.elapsed() < Duration::from_secs(20) {
        edits += 1;
        client.put("pdf/SKILL.md", &PDF.replace("Read portable", &format!("Edition {edits} of")));
        let id = client.session.post("tools/call", json!({"name": "skills_list", "arguments": {}}));
        loop {
            let message = client.session.next_message();
            if message["id"] == id {
                break;
            }
            told |= message["method"] == TOLD;
        }
        // More often than the server waits for quiet.
        for _ in 0..4 {
            log.write_all(b"x").unwrap();
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }
    // Five seconds are promised, and a busy machine may be late.
    assert!(told && began.elapsed() < Duration::from_secs(10), "{told} after {:?}, {edits} edits", began.elapsed());
}

#[test]
fn an_edit_is_told_in_time_whoever_asks_meanwhile() {
    let mut client = Client::legacy(&SMALL);
    client.told();
    let times: Vec<Duration> = (0..5)
        .map(|number| {
            let began = Instant::now();
            client.put("new/SKILL.md", &skill("new", "x").replace("description: ", &format!("description: {number} ")));
            client.session.call("skill", json!({"name": "new"}));
            client.session.notification(TOLD);
            let time = began.elapsed();
            client.told();
            time
        })
        .collect();
    // A busy machine may be late, but not always.
    let soonest = times.iter().min().unwrap();
    assert!((500..700).contains(&soonest.as_millis()), "{times:?}");
}
