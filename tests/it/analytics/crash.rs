//! Servers that are killed at any moment, and an endpoint that cannot be relied on.

use super::{SKILLS, home_for, launch, post_feedback, waiting_files, words};
use crate::library;
use serde_json::Value;
use skillcell_tests::endpoint::{Endpoint, Order};
use skillcell_tests::{Numbers, Session, eventually};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const EVENTS: usize = 10_000;

/// Requests that are under way at once.
const AT_ONCE: usize = 40;

/// Misbehaves in every way, and now and then does what it should.
fn unreliable(number: usize) -> Order {
    match Numbers(number as u64).below(9) {
        0 => Order::Refuse(500),
        1 => Order::Hang,
        2 => Order::TakeLate,
        3 => Order::TakeAndClose,
        4 => Order::Close,
        5 => Order::Refuse(404),
        _ => Order::Take,
    }
}

/// Sends feedback with numbers for words, and kills the server at some moment while more is under way. Returns the words
/// that were answered for.
fn some_work(mut session: Session, next: &mut usize, chance: &mut Numbers) -> Vec<String> {
    let answers = chance.below(600);
    let mut open: BTreeMap<String, String> = BTreeMap::new();
    let mut answered = Vec::new();
    let is_recorded = |message: &Value| message.to_string().contains("\\\"recorded\\\":true");
    while answered.len() < answers {
        while open.len() < AT_ONCE {
            let text = next.to_string();
            open.insert(post_feedback(&mut session, &text).to_string(), text);
            *next += 1;
        }
        let message = session.next_message();
        if let Some(text) = open.remove(&message["id"].to_string()) {
            assert!(is_recorded(&message), "{message}");
            answered.push(text);
        }
    }
    let last = session.kill();
    let last = last.iter().filter(|message| is_recorded(message));
    answered.extend(last.filter_map(|message| open.remove(&message["id"].to_string())));
    answered
}

#[test]
fn over_ten_thousand_events_none_is_lost_and_none_counted_twice() {
    let skills = library(&SKILLS);
    let mended = Arc::new(AtomicBool::new(false));
    let is_mended = Arc::clone(&mended);
    let endpoint =
        Endpoint::with_orders(
            move |number| if is_mended.load(Ordering::SeqCst) { Order::Take } else { unreliable(number) },
        );
    let home = home_for(&endpoint, "include_text: true, interval_seconds: 0.01, timeout_seconds: 0.1");
    let (mut next, mut chance, mut answered, mut deaths) = (0, Numbers(1), Vec::new(), 0);
    while answered.len() < EVENTS {
        // Sometimes two servers, so that one dies while the other sends.
        let other = (chance.below(3) == 0).then(|| launch(skills.path(), home.path()).start());
        let session = launch(skills.path(), home.path()).arg("-q").start();
        answered.extend(some_work(session, &mut next, &mut chance));
        deaths += 1;
        drop(other);
    }
    mended.store(true, Ordering::SeqCst);
    let _last = launch(skills.path(), home.path()).start();
    let answered: BTreeSet<String> = answered.into_iter().collect();
    let taken = |received: &skillcell_tests::endpoint::Received| -> BTreeSet<String> {
        received.taken.values().map(|(event, _)| words(event)).collect()
    };
    drop(endpoint.wait("every event that was answered for", |received| taken(received).is_superset(&answered)));
    eventually("the end of all files", || waiting_files(home.path()).is_empty());
    let received = endpoint.received();
    // By id each is one event: what was asked for once is there once.
    let said = taken(&received);
    assert_eq!(said.len(), received.taken.len(), "an event got two ids");
    let lost: Vec<&String> = answered.difference(&said).collect();
    assert_eq!(lost, Vec::<&String>::new());
    assert!(deaths > EVENTS / 640, "{deaths} servers died");
    let twice = received.taken.values().filter(|(_, times)| *times > 1).count();
    assert!(twice > 0, "the endpoint took events late, so some came again and were told apart by their ids");
}
