//! What reaches an endpoint, and what happens when it misbehaves.

use super::{
    NEVER, OFTEN, SKILLS, feedback, home, home_for, launch, leave_behind, lost_feedback, post_feedback, records, stats,
    waiting, waiting_files, words,
};
use crate::{SKILLCELL, library};
use serde_json::Value;
use skillcell_tests::endpoint::{Endpoint, Order};
use skillcell_tests::{Launch, Session, eventually, write_files};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

fn ids(request: &Value) -> BTreeSet<String> {
    let id = |event: &Value| event["id"].as_str().unwrap().to_owned();
    request["events"].as_array().unwrap().iter().map(id).collect()
}

#[test]
fn whatever_an_endpoint_does_each_event_stays_until_it_was_taken() {
    let elsewhere = Endpoint::start();
    let other = elsewhere.url();
    let endpoint = Endpoint::with_orders(move |number| match number {
        0 => Order::Refuse(500),
        1 => Order::Hang,
        2 => Order::Close,
        3 => Order::Refuse(404),
        4 => Order::Redirect(other.clone()),
        5 => Order::Refuse(429),
        6 => Order::TakeLate,
        7 => Order::TakeAndClose,
        8 => Order::Flood,
        _ => Order::Take,
    });
    let skills = library(&SKILLS);
    // Events are there before the first try, and nothing is sent while they are raised.
    let home = home_for(&endpoint, &format!("include_text: true, {OFTEN}"));
    let quiet =
        home_with_config(home.path(), &format!("endpoint: \"{}\", include_text: true, {NEVER}", endpoint.url()));
    let mut session = launch(skills.path(), home.path()).arg("--config").arg(&quiet).start();
    for number in 0..3 {
        feedback(&mut session, &number.to_string());
    }
    session.kill();
    let mut session = launch(skills.path(), home.path()).start();
    let first = {
        let received = endpoint.wait("an answer that counts", |received| received.requests.len() >= 9);
        for request in &received.requests[..9] {
            assert_eq!(request, &received.requests[0], "the same batch each time");
        }
        ids(&received.requests[0])
    };
    eventually("the end of taken events", || waiting(home.path()).is_empty());
    feedback(&mut session, "later");
    let received = endpoint.wait("the next event", |received| received.taken.len() == 4);
    let later = ids(received.requests.last().unwrap());
    assert!(later.len() == 1 && later.is_disjoint(&first), "what was taken is not sent again");
    let said: BTreeSet<String> = received.taken.values().map(|(event, _)| words(event)).collect();
    assert_eq!(said, ["0", "1", "2", "later"].map(str::to_owned).into());
    drop(received);
    assert_eq!(elsewhere.received().requests.len(), 0, "redirects are not followed");
    eventually("the word of the end", || session.log().contains("takes events again"));
    let log = session.log();
    for (part, times) in [("answers 500", 1), ("answers 404", 1), ("answers 307", 1), ("answers 429", 1), ("again", 1)]
    {
        assert_eq!(log.matches(part).count(), times, "{part}: {log}");
    }
    assert!(log.contains("check `analytics.endpoint`") && !log.contains("secret"), "{log}");
}

/// Another file of the operator's in the same home.
fn home_with_config(home: &Path, analytics: &str) -> std::path::PathBuf {
    write_files(home, &[("other.yaml", &format!("analytics: {{{analytics}}}\n"))]);
    home.join("other.yaml")
}

#[test]
fn what_waits_for_one_endpoint_is_never_sent_to_another() {
    let (skills, first, second) = (library(&SKILLS), Endpoint::start(), Endpoint::start());
    let home = home_for(&first, &format!("include_text: true, {NEVER}"));
    let mut session = launch(skills.path(), home.path()).start();
    feedback(&mut session, "secret");
    session.kill();
    let other = home_with_config(home.path(), &format!("endpoint: \"{}\", {OFTEN}", second.url()));
    let mut session = launch(skills.path(), home.path()).arg("--config").arg(&other).start();
    for _ in 0..2 {
        let taken = second.received().taken.len();
        feedback(&mut session, "kept");
        drop(second.wait("the event of its own server", |received| received.taken.len() > taken));
    }
    session.kill();
    assert!(second.received().requests.iter().all(|request| !request.to_string().contains("secret")));
    assert_eq!(second.received().taken.len(), 2);
    assert_eq!(stats(home.path())["events_waiting"], waiting(home.path()).len(), "of both endpoints");
    assert!(waiting(home.path()).iter().any(|event| event["data"]["comment"] == "secret"));
    let _session = launch(skills.path(), home.path()).start();
    let received = first.wait("what waited for it", |received| received.taken.len() == 1);
    assert!(received.taken.values().all(|(event, _)| words(event) == "secret"));
}

#[test]
fn events_wait_for_an_endpoint_that_is_not_there_yet() {
    let skills = library(&SKILLS);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let home = home(&format!("endpoint: \"http://{address}/\", {OFTEN}"));
    let mut session = launch(skills.path(), home.path()).start();
    feedback(&mut session, "early");
    session.wait_for_log("gives no answer; events wait on disk until");
    assert_eq!(waiting(home.path()).len(), 1);
    let endpoint = Endpoint::on(TcpListener::bind(address).unwrap(), |_| Order::Take);
    drop(endpoint.wait("the event", |received| received.taken.len() == 1));
    session.wait_for_log("takes events again");
    assert_eq!(session.log().matches("gives no answer").count(), 1, "{}", session.log());
}

#[test]
fn an_endpoint_that_hangs_delays_neither_calls_nor_the_end() {
    let skills = library(&SKILLS);
    for way in ["TERM", "end of input"] {
        let endpoint = Endpoint::with_orders(|number| if number == 0 { Order::Hang } else { Order::Take });
        let home = home_for(&endpoint, "interval_seconds: 0.02, timeout_seconds: 600");
        let mut session = launch(skills.path(), home.path()).start();
        feedback(&mut session, "first");
        drop(endpoint.wait("the first try", |received| received.requests.len() == 1));
        let began = Instant::now();
        for _ in 0..100 {
            feedback(&mut session, "meanwhile");
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        let began = Instant::now();
        if way == "TERM" {
            session.signal("TERM");
        } else {
            session.close_input();
        }
        let (status, _) = session.wait();
        assert!(status.success() && began.elapsed() < Duration::from_secs(1), "{way}: {:?}", began.elapsed());
        assert_eq!(waiting(home.path()).len(), 101, "{way}");
        let _next = launch(skills.path(), home.path()).start();
        let received = endpoint.wait("all events", |received| received.taken.len() == 101);
        assert!(received.taken.values().all(|(_, times)| *times == 1));
    }
}

#[test]
fn four_servers_share_a_buffer_and_one_sends_at_a_time() {
    const EACH: usize = 150;
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, &format!("include_text: true, {OFTEN}"));
    let mut servers: Vec<Session> = (0..4).map(|_| launch(skills.path(), home.path()).start()).collect();
    for number in 0..EACH {
        let posted: Vec<Value> = servers
            .iter_mut()
            .enumerate()
            .map(|(place, server)| post_feedback(server, &format!("{place}-{number}")))
            .collect();
        for (server, id) in servers.iter_mut().zip(&posted) {
            assert!(server.answer(id)["result"].is_object());
        }
    }
    let received = endpoint.wait("all events", |received| received.taken.len() == 4 * EACH);
    assert!(received.taken.values().all(|(_, times)| *times == 1), "each is sent once");
    assert_eq!(received.most_open, 1);
    let said: BTreeSet<String> = received.taken.values().map(|(event, _)| words(event)).collect();
    assert_eq!(said.len(), 4 * EACH);
    drop(received);
    eventually("the end of all events", || waiting(home.path()).is_empty());
}

#[test]
fn a_full_buffer_drops_the_oldest_and_says_how_many() {
    const MOST: u64 = 65_536;
    const RAISED: usize = 1_000;
    let skills = library(&SKILLS);
    let endpoint = Endpoint::start();
    let home = home_for(&endpoint, &format!("include_text: true, buffer_max_bytes: {MOST}, {NEVER}"));
    let mut session = launch(skills.path(), home.path()).start();
    for number in 0..RAISED {
        feedback(&mut session, &number.to_string());
    }
    let bytes: u64 = waiting_files(home.path()).iter().map(|file| std::fs::metadata(file).unwrap().len()).sum();
    assert!(bytes <= MOST, "{bytes}");
    let counted = stats(home.path());
    let (kept, dropped) = (counted["events_waiting"].as_u64().unwrap(), counted["events_dropped"].as_u64().unwrap());
    assert_eq!(kept + dropped, RAISED as u64, "{counted}");
    assert!(dropped > 0 && kept > 200, "{counted}");
    assert!(session.log().contains("raise `analytics.buffer_max_bytes`"), "{}", session.log());
    session.kill();

    let config = home_with_config(home.path(), &format!("endpoint: \"{}\", {OFTEN}", endpoint.url()));
    let _session = launch(skills.path(), home.path()).arg("--config").arg(config).start();
    let received = endpoint.wait("what is left", |received| received.taken.len() as u64 == kept);
    let said: BTreeSet<usize> = received.taken.values().map(|(event, _)| words(event).parse().unwrap()).collect();
    let newest: BTreeSet<usize> = (usize::try_from(dropped).unwrap()..RAISED).collect();
    assert_eq!(said, newest, "the oldest went");
    assert!(
        received.requests.iter().all(|request| request["dropped"] == dropped),
        "{:?}",
        received.requests[0]["dropped"]
    );
}

#[test]
fn what_is_too_large_for_an_endpoint_is_sent_in_halves_and_one_that_never_fits_is_dropped() {
    const MOST_BYTES: usize = 1_500;
    let skills = library(&SKILLS);
    let endpoint = Endpoint::with_orders(|_| Order::TakeUpTo(MOST_BYTES));
    let home = home(&format!("endpoint: \"{}\", include_text: true, {NEVER}", endpoint.url()));
    let config =
        home_with_config(home.path(), &format!("endpoint: \"{}\", include_text: true, {OFTEN}", endpoint.url()));
    // Nothing waits when the first server starts, so it sends nothing.
    let mut session = launch(skills.path(), home.path()).start();
    let large = |number: usize| number == 7 || number == 20;
    for number in 0..30 {
        let more = if large(number) { "x".repeat(MOST_BYTES) } else { String::new() };
        feedback(&mut session, &format!("{number} {more}"));
    }
    session.kill();
    let mut session = launch(skills.path(), home.path()).arg("--config").arg(config).start();
    eventually("the end of all events", || waiting_files(home.path()).is_empty());
    feedback(&mut session, "30 ");
    let received = endpoint.wait("the next event", |received| received.taken.len() == 29);
    let said = |event: &Value| words(event).split(' ').next().unwrap().parse::<usize>().unwrap();
    let taken: BTreeSet<usize> = received.taken.values().map(|(event, _)| said(event)).collect();
    assert_eq!(taken, (0..31).filter(|number| !large(*number)).collect());
    assert!(received.taken.values().all(|(_, times)| *times == 1), "none is sent twice");
    assert_eq!(ids(&received.requests[0]).len(), 30);
    assert_eq!(ids(&received.requests[1]).len(), 15, "half of them");
    assert_eq!(received.requests.last().unwrap()["dropped"], 2);
    drop(received);
    assert_eq!(stats(home.path())["events_dropped"], 2);
    let log = session.log();
    assert_eq!(log.matches("dropped 2 events").count(), 1, "{log}");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn half_a_line_of_a_crash_is_skipped() {
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, OFTEN);
    let whole = "{\"id\":\"a\",\"type\":\"no_match\",\"data\":{\"context\":null}}\n";
    launch(skills.path(), home.path()).start().kill();
    leave_behind(home.path(), "1.jsonl", &format!("{whole}{{\"id\":\"b\",\"ty"));
    leave_behind(home.path(), "2.jsonl", &whole.replace("\"a\"", "\"c\""));
    leave_behind(home.path(), "3.jsonl", "");
    let mut session = launch(skills.path(), home.path()).start();
    feedback(&mut session, "new");
    let received = endpoint.wait("whole events", |received| received.taken.len() == 3);
    assert!(received.taken.contains_key("a") && received.taken.contains_key("c"));
    assert_eq!(ids(&received.requests[0]).len(), 2, "small files are sent together");
    drop(received);
    eventually("the end of all files", || waiting_files(home.path()).is_empty());
}

#[test]
fn the_buffer_of_an_older_server_is_sent_once() {
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, OFTEN);
    let line = "{\"type\":\"no_match\",\"timestamp\":\"t\",\"server_id\":\"dev-a\",\"data\":{\"context\":\"words\"}}\n";
    write_files(home.path(), &[(".skills-mcp/analytics-buffer.jsonl", &line.repeat(3))]);
    let mut session = launch(skills.path(), home.path()).start();
    drop(endpoint.wait("the old events", |received| received.taken.len() == 3));
    feedback(&mut session, "new");
    let received = endpoint.wait("the new event", |received| received.taken.len() == 4);
    assert!(received.taken.values().all(|(event, times)| *times == 1 && !event.to_string().contains("words")));
    assert_eq!(std::fs::read_dir(home.path().join(".skills-mcp")).unwrap().count(), 0);
}

#[test]
fn a_call_is_answered_when_nothing_can_be_written_and_one_warning_tells_it() {
    let skills = library(&SKILLS);
    let home = home(&format!("endpoint: \"http://127.0.0.1:1/\", {NEVER}"));
    // From the beginning.
    write_files(home.path(), &[(".local/share/skillcell/analytics", "in the way")]);
    let mut session = launch(skills.path(), home.path()).start();
    lost_feedback(&mut session, "one");
    lost_feedback(&mut session, "two");
    assert_eq!(session.log().matches("events are lost").count(), 1, "{}", session.log());
    drop(session);
    // Later, and then no longer.
    std::fs::remove_file(records(home.path())).unwrap();
    let mut session = launch(skills.path(), home.path()).start();
    feedback(&mut session, "one");
    std::fs::remove_dir_all(records(home.path())).unwrap();
    std::fs::write(records(home.path()), "in the way").unwrap();
    lost_feedback(&mut session, "two");
    lost_feedback(&mut session, "three");
    assert_eq!(session.log().matches("events are lost").count(), 1, "{}", session.log());
    std::fs::remove_file(records(home.path())).unwrap();
    feedback(&mut session, "four");
    session.wait_for_log("events can be written to disk again");
    assert_eq!(waiting(home.path()).len(), 1);
}

#[test]
fn a_server_that_could_write_nothing_when_it_started_keeps_and_sends_what_comes_when_it_can() {
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, OFTEN);
    write_files(home.path(), &[(".local/share/skillcell/analytics", "in the way")]);
    let mut session = launch(skills.path(), home.path()).start();
    lost_feedback(&mut session, "lost");
    std::fs::remove_file(records(home.path())).unwrap();
    feedback(&mut session, "kept");
    session.wait_for_log("events can be written to disk again");
    drop(endpoint.wait("the event", |received| received.taken.len() == 1));
    assert_eq!(session.log().matches("events are lost").count(), 1, "{}", session.log());
    eventually("the end of its file", || waiting_files(home.path()).is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_takes_half_a_line_leaves_only_whole_ones() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let skills = library(&SKILLS);
    let home = home(&format!("endpoint: \"http://127.0.0.1:1/\", {NEVER}"));
    let command = format!("trap '' XFSZ; exec '{SKILLCELL}' serve '{}'", skills.path().display());
    let mut session = Launch::bare("sh").arg("-c").arg(command).with_home(home.path()).env("USER", "tester").start();
    feedback(&mut session, "x");
    // From now on no file grows beyond this: a write takes what fits, and the rest of it fails.
    let process = Pid::from_raw(session.process_id().cast_signed());
    prlimit(process, Resource::Fsize, Rlimit { current: Some(1_500), maximum: Some(1_500) }).unwrap();
    for _ in 0..60 {
        let id = post_feedback(&mut session, "x");
        session.answer(&id);
    }
    assert_eq!(session.log().matches("events are lost").count(), 1, "{}", session.log());
    let kept = waiting(home.path());
    assert!(kept.len() > 5 && kept.iter().all(|event| event["type"] == "skill_feedback"), "{}", kept.len());
    assert!(stats(home.path())["skills"][0]["useful"].as_u64().unwrap() > 2);
}
