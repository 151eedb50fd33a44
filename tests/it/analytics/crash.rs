//! Servers that are killed at random, and an unreliable endpoint.

use super::{SKILLS, comment, home_for, launch, post_feedback, waiting_files};
use crate::library;
use serde_json::Value;
use skillcell_tests::endpoint::{Endpoint, Order};
use skillcell_tests::{Numbers, Session, eventually};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const EVENTS: usize = 3_000;

/// The number of requests in flight.
const IN_FLIGHT: usize = 40;

/// Fails in every way, and sometimes accepts the events.
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

/// Sends feedback with numbers as comments, and kills the server while more is in flight. Returns the comments whose
/// feedback was confirmed.
fn send_until_killed(mut session: Session, next: &mut usize, rng: &mut Numbers) -> Vec<String> {
    let answers = rng.below(600);
    let mut open: BTreeMap<String, String> = BTreeMap::new();
    let mut answered = Vec::new();
    let is_recorded = |message: &Value| message.to_string().contains("\\\"recorded\\\":true");
    while answered.len() < answers {
        while open.len() < IN_FLIGHT {
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
fn no_event_is_lost_or_counted_twice_when_servers_crash() {
    let skills = library(&SKILLS);
    let recovered = Arc::new(AtomicBool::new(false));
    let has_recovered = Arc::clone(&recovered);
    let endpoint =
        Endpoint::with_orders(
            move |number| if has_recovered.load(Ordering::SeqCst) { Order::Take } else { unreliable(number) },
        );
    let home = home_for(&endpoint, "include_text: true, interval_seconds: 0.01, timeout_seconds: 0.1");
    let (mut next, mut rng, mut answered, mut kills) = (0, Numbers(1), Vec::new(), 0);
    while answered.len() < EVENTS {
        // Sometimes two servers, so that one is killed while the other sends.
        let other = (rng.below(3) == 0).then(|| launch(skills.path(), home.path()).start());
        let session = launch(skills.path(), home.path()).arg("-q").start();
        answered.extend(send_until_killed(session, &mut next, &mut rng));
        kills += 1;
        drop(other);
    }
    recovered.store(true, Ordering::SeqCst);
    let _last = launch(skills.path(), home.path()).start();
    let answered: BTreeSet<String> = answered.into_iter().collect();
    let taken = |received: &skillcell_tests::endpoint::Received| -> BTreeSet<String> {
        received.taken.values().map(|(event, _)| comment(event)).collect()
    };
    drop(endpoint.wait("every event that was confirmed", |received| taken(received).is_superset(&answered)));
    eventually("an empty buffer", || waiting_files(home.path()).is_empty());
    let received = endpoint.received();
    // Each request raised one event with one id.
    let comments = taken(&received);
    assert_eq!(comments.len(), received.taken.len(), "an event got two ids");
    let lost: Vec<&String> = answered.difference(&comments).collect();
    assert_eq!(lost, Vec::<&String>::new());
    assert!(kills > EVENTS / 640, "{kills} servers were killed");
    let resent = received.taken.values().filter(|(_, times)| *times > 1).count();
    assert!(resent > 0, "events that the endpoint accepted late are sent again with the same ids");
}
