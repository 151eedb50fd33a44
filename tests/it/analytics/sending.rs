//! What reaches an endpoint, and what happens when it misbehaves.

use super::{
    IMMEDIATELY, NEVER, SHORT_TIMEOUT, SKILLS, analytics_folder, comment, feedback, home, home_for, launch,
    lost_feedback, post_feedback, stats, waiting, waiting_files, write_leftover,
};
use crate::{SKILLCELL, library};
use serde_json::Value;
use skillcell_tests::endpoint::{Endpoint, Order};
use skillcell_tests::{Launch, Session, eventually, write_files};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;

fn ids(request: &Value) -> BTreeSet<String> {
    let id = |event: &Value| event["id"].as_str().unwrap().to_owned();
    request["events"].as_array().unwrap().iter().map(id).collect()
}

#[test]
fn each_event_is_kept_until_the_endpoint_accepts_it() {
    let other_endpoint = Endpoint::start();
    let other_url = other_endpoint.url();
    let endpoint = Endpoint::with_orders(move |number| match number {
        0 => Order::Refuse(500),
        1 => Order::Hang,
        2 => Order::Close,
        3 => Order::Refuse(404),
        4 => Order::Redirect(other_url.clone()),
        5 => Order::Refuse(429),
        6 => Order::TakeLate,
        7 => Order::TakeAndClose,
        8 => Order::Flood,
        _ => Order::Take,
    });
    let skills = library(&SKILLS);
    // The events exist before the first attempt, and nothing is sent while they are raised.
    let home = home_for(&endpoint, &format!("include_text: true, {SHORT_TIMEOUT}"));
    let quiet_config =
        other_config(home.path(), &format!("endpoint: \"{}\", include_text: true, {NEVER}", endpoint.url()));
    let mut session = launch(skills.path(), home.path()).arg("--config").arg(&quiet_config).start();
    for number in 0..3 {
        feedback(&mut session, &number.to_string());
    }
    session.kill();
    let mut session = launch(skills.path(), home.path()).start();
    let first = {
        let received = endpoint.wait("the first accepted batch", |received| received.requests.len() >= 9);
        for request in &received.requests[..9] {
            assert_eq!(request, &received.requests[0], "the same batch each time");
        }
        ids(&received.requests[0])
    };
    eventually("an empty buffer", || waiting(home.path()).is_empty());
    feedback(&mut session, "later");
    let received = endpoint.wait("the next event", |received| received.taken.len() == 4);
    let later = ids(received.requests.last().unwrap());
    assert!(later.len() == 1 && later.is_disjoint(&first), "accepted events are not sent again");
    let comments: BTreeSet<String> = received.taken.values().map(|(event, _)| comment(event)).collect();
    assert_eq!(comments, ["0", "1", "2", "later"].map(str::to_owned).into());
    drop(received);
    assert_eq!(other_endpoint.received().requests.len(), 0, "redirects are not followed");
    eventually("the message that sending works again", || session.log().contains("accepts events again"));
    let log = session.log();
    for (part, times) in [("answers 500", 1), ("answers 404", 1), ("answers 307", 1), ("answers 429", 1), ("again", 1)]
    {
        assert_eq!(log.matches(part).count(), times, "{part}: {log}");
    }
    assert!(log.contains("check `analytics.endpoint`") && !log.contains("secret"), "{log}");
}

/// Writes another operator's file into the same home.
fn other_config(home: &Path, analytics: &str) -> std::path::PathBuf {
    write_files(home, &[("other.yaml", &format!("analytics: {{{analytics}}}\n"))]);
    home.join("other.yaml")
}

#[test]
fn events_for_one_endpoint_are_never_sent_to_another() {
    let (skills, first, second) = (library(&SKILLS), Endpoint::start(), Endpoint::start());
    let home = home_for(&first, &format!("include_text: true, {NEVER}"));
    let mut session = launch(skills.path(), home.path()).start();
    feedback(&mut session, "secret");
    session.kill();
    let other = other_config(home.path(), &format!("endpoint: \"{}\", {IMMEDIATELY}", second.url()));
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
    let received = first.wait("the event that was kept for it", |received| received.taken.len() == 1);
    assert!(received.taken.values().all(|(event, _)| comment(event) == "secret"));
}

#[test]
fn events_wait_for_an_endpoint_that_does_not_exist_yet() {
    let skills = library(&SKILLS);
    // Other tests use other addresses of this machine, so they do not take the port.
    let host = if cfg!(target_os = "linux") { "127.0.0.2:0" } else { "127.0.0.1:0" };
    let listener = TcpListener::bind(host).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let home = home(&format!("endpoint: \"http://{address}/\", {IMMEDIATELY}"));
    let mut session = launch(skills.path(), home.path()).start();
    feedback(&mut session, "early");
    session.wait_for_log("does not answer; events stay on disk until");
    assert_eq!(waiting(home.path()).len(), 1);
    let endpoint = Endpoint::on(TcpListener::bind(address).unwrap(), |_| Order::Take);
    drop(endpoint.wait("the event", |received| received.taken.len() == 1));
    session.wait_for_log("accepts events again");
    assert_eq!(session.log().matches("does not answer").count(), 1, "{}", session.log());
}

#[test]
fn a_hanging_endpoint_delays_neither_requests_nor_the_shutdown() {
    let skills = library(&SKILLS);
    for way in ["TERM", "end of input"] {
        let endpoint = Endpoint::with_orders(|number| if number == 0 { Order::Hang } else { Order::Take });
        let home = home_for(&endpoint, IMMEDIATELY);
        let mut session = launch(skills.path(), home.path()).start();
        feedback(&mut session, "first");
        drop(endpoint.wait("the first attempt", |received| received.requests.len() == 1));
        for _ in 0..100 {
            feedback(&mut session, "meanwhile");
        }
        assert_eq!(endpoint.received().requests.len(), 1, "the first attempt still hangs");
        if way == "TERM" {
            session.signal("TERM");
        } else {
            session.close_input();
        }
        session.exits_soon();
        assert_eq!(waiting(home.path()).len(), 101, "{way}");
        let _next = launch(skills.path(), home.path()).start();
        let received = endpoint.wait("all events", |received| received.taken.len() == 101);
        assert!(received.taken.values().all(|(_, times)| *times == 1));
    }
}

#[test]
fn four_servers_share_a_buffer_and_one_sends_at_a_time() {
    const EACH: usize = 50;
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, &format!("include_text: true, {IMMEDIATELY}"));
    let mut servers: Vec<Session> = (0..4).map(|_| launch(skills.path(), home.path()).start()).collect();
    for number in 0..EACH {
        let posted: Vec<Value> = servers
            .iter_mut()
            .enumerate()
            .map(|(index, server)| post_feedback(server, &format!("{index}-{number}")))
            .collect();
        for (server, id) in servers.iter_mut().zip(&posted) {
            assert!(server.answer(id)["result"].is_object());
        }
    }
    let received = endpoint.wait("all events", |received| received.taken.len() == 4 * EACH);
    assert!(received.taken.values().all(|(_, times)| *times == 1), "each is sent once");
    assert_eq!(received.most_open, 1);
    let comments: BTreeSet<String> = received.taken.values().map(|(event, _)| comment(event)).collect();
    assert_eq!(comments.len(), 4 * EACH);
    drop(received);
    eventually("an empty buffer", || waiting(home.path()).is_empty());
}

#[test]
fn a_full_buffer_drops_the_oldest_events_and_reports_how_many() {
    const MAX_BYTES: u64 = 65_536;
    const RAISED: usize = 500;
    let skills = library(&SKILLS);
    let endpoint = Endpoint::start();
    let home = home_for(&endpoint, &format!("include_text: true, buffer_max_bytes: {MAX_BYTES}, {NEVER}"));
    let mut session = launch(skills.path(), home.path()).start();
    for number in 0..RAISED {
        feedback(&mut session, &number.to_string());
    }
    let bytes: u64 = waiting_files(home.path()).iter().map(|file| std::fs::metadata(file).unwrap().len()).sum();
    assert!(bytes <= MAX_BYTES, "{bytes}");
    let stats_json = stats(home.path());
    let (kept, dropped) =
        (stats_json["events_waiting"].as_u64().unwrap(), stats_json["events_dropped"].as_u64().unwrap());
    assert_eq!(kept + dropped, RAISED as u64, "{stats_json}");
    assert!(dropped > 0 && kept > 100, "{stats_json}");
    session.wait_for_log("raise `analytics.buffer_max_bytes`");
    session.kill();

    let config = other_config(home.path(), &format!("endpoint: \"{}\", {IMMEDIATELY}", endpoint.url()));
    let _session = launch(skills.path(), home.path()).arg("--config").arg(config).start();
    let received = endpoint.wait("the remaining events", |received| received.taken.len() as u64 == kept);
    let numbers: BTreeSet<usize> = received.taken.values().map(|(event, _)| comment(event).parse().unwrap()).collect();
    let newest: BTreeSet<usize> = (usize::try_from(dropped).unwrap()..RAISED).collect();
    assert_eq!(numbers, newest, "the oldest events are dropped");
    assert!(
        received.requests.iter().all(|request| request["dropped"] == dropped),
        "{:?}",
        received.requests[0]["dropped"]
    );
}

#[test]
fn batches_that_are_too_large_are_halved_and_an_event_that_never_fits_is_dropped() {
    const MAX_BYTES: usize = 1_500;
    let skills = library(&SKILLS);
    let endpoint = Endpoint::with_orders(|_| Order::TakeUpTo(MAX_BYTES));
    let home = home(&format!("endpoint: \"{}\", include_text: true, {NEVER}", endpoint.url()));
    let config =
        other_config(home.path(), &format!("endpoint: \"{}\", include_text: true, {IMMEDIATELY}", endpoint.url()));
    // The buffer is empty when the first server starts, so it sends nothing.
    let mut session = launch(skills.path(), home.path()).start();
    let is_large = |number: usize| number == 7 || number == 20;
    for number in 0..30 {
        let padding = if is_large(number) { "x".repeat(MAX_BYTES) } else { String::new() };
        feedback(&mut session, &format!("{number} {padding}"));
    }
    session.kill();
    let mut session = launch(skills.path(), home.path()).arg("--config").arg(config).start();
    eventually("an empty buffer", || waiting_files(home.path()).is_empty());
    feedback(&mut session, "30 ");
    let received = endpoint.wait("the next event", |received| received.taken.len() == 29);
    let number_of = |event: &Value| comment(event).split(' ').next().unwrap().parse::<usize>().unwrap();
    let taken: BTreeSet<usize> = received.taken.values().map(|(event, _)| number_of(event)).collect();
    assert_eq!(taken, (0..31).filter(|number| !is_large(*number)).collect());
    assert!(received.taken.values().all(|(_, times)| *times == 1), "no event is accepted twice");
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
fn a_partial_line_left_by_a_crash_is_skipped() {
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, IMMEDIATELY);
    let whole = "{\"id\":\"a\",\"type\":\"no_match\",\"data\":{\"context\":null}}\n";
    launch(skills.path(), home.path()).start().kill();
    write_leftover(home.path(), "1.jsonl", &format!("{whole}{{\"id\":\"b\",\"ty"));
    write_leftover(home.path(), "2.jsonl", &whole.replace("\"a\"", "\"c\""));
    write_leftover(home.path(), "3.jsonl", "");
    let mut session = launch(skills.path(), home.path()).start();
    feedback(&mut session, "new");
    let received = endpoint.wait("whole events", |received| received.taken.len() == 3);
    assert!(received.taken.contains_key("a") && received.taken.contains_key("c"));
    assert_eq!(ids(&received.requests[0]).len(), 2, "small files are sent together");
    drop(received);
    eventually("an empty buffer", || waiting_files(home.path()).is_empty());
}

#[test]
fn the_buffer_of_an_older_server_is_sent_once() {
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, IMMEDIATELY);
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
fn calls_are_answered_when_events_cannot_be_written_and_one_warning_is_logged() {
    let skills = library(&SKILLS);
    let home = home(&format!("endpoint: \"http://127.0.0.1:1/\", {NEVER}"));
    // From the start.
    write_files(home.path(), &[(".local/share/skillcell/analytics", "in the way")]);
    let mut session = launch(skills.path(), home.path()).start();
    lost_feedback(&mut session, "one");
    lost_feedback(&mut session, "two");
    assert_eq!(session.log().matches("events are lost").count(), 1, "{}", session.log());
    drop(session);
    // During a session, and then no longer.
    std::fs::remove_file(analytics_folder(home.path())).unwrap();
    let mut session = launch(skills.path(), home.path()).start();
    feedback(&mut session, "one");
    std::fs::remove_dir_all(analytics_folder(home.path())).unwrap();
    std::fs::write(analytics_folder(home.path()), "in the way").unwrap();
    lost_feedback(&mut session, "two");
    lost_feedback(&mut session, "three");
    assert_eq!(session.log().matches("events are lost").count(), 1, "{}", session.log());
    std::fs::remove_file(analytics_folder(home.path())).unwrap();
    feedback(&mut session, "four");
    session.wait_for_log("events can be written to disk again");
    assert_eq!(waiting(home.path()).len(), 1);
}

#[test]
fn a_server_that_could_not_write_at_startup_recovers_without_a_restart() {
    let (skills, endpoint) = (library(&SKILLS), Endpoint::start());
    let home = home_for(&endpoint, IMMEDIATELY);
    write_files(home.path(), &[(".local/share/skillcell/analytics", "in the way")]);
    let mut session = launch(skills.path(), home.path()).start();
    lost_feedback(&mut session, "lost");
    std::fs::remove_file(analytics_folder(home.path())).unwrap();
    feedback(&mut session, "kept");
    session.wait_for_log("events can be written to disk again");
    drop(endpoint.wait("the event", |received| received.taken.len() == 1));
    assert_eq!(session.log().matches("events are lost").count(), 1, "{}", session.log());
    eventually("an empty buffer", || waiting_files(home.path()).is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_write_that_is_cut_short_leaves_only_whole_lines() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let skills = library(&SKILLS);
    let home = home(&format!("endpoint: \"http://127.0.0.1:1/\", {NEVER}"));
    let command = format!("trap '' XFSZ; exec '{SKILLCELL}' serve '{}'", skills.path().display());
    // The log is a file as well, and must not reach the limit.
    let launch = Launch::bare("sh").arg("-c").arg(command).with_home(home.path()).env("SKILLCELL_LOG", "warn");
    let mut session = launch.env("USER", "tester").start();
    feedback(&mut session, "x");
    // From now on no file grows beyond this: a write takes what fits, and the rest fails.
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
