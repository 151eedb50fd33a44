//! Closed connections, and the shutdown of the server.

use super::{STATELESS, meta, run, still_answers};
use crate::scripts::skill;
use crate::{SMALL, library, serve};
use serde_json::json;
use skillcell_tests::http::{Connection, HttpServer};
use skillcell_tests::{Launch, SOON};
use std::time::Instant;

/// Requests short runs, one after the other, until one is queued, which means that all slots are taken by others.
fn first_queued_run(server: &HttpServer) -> Connection {
    loop {
        let mut next = server.message("2025-11-25", &run("a.sh", json!({"progressToken": "q"}))).send();
        assert_eq!(next.head().status, 200);
        let message = next.event().and_then(|event| event["params"]["message"].as_str().map(str::to_owned));
        if message.is_some_and(|message| message.starts_with("waiting for a free slot")) {
            return next;
        }
        while next.event().is_some() {}
    }
}

#[test]
fn a_script_stops_when_its_client_disconnects() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n"), ("a.sh", "echo ran\n")]);
    let server = serve(folder.path()).config("scripts: {runs_at_once: 1}").http();
    // The first client reads a stream of events; the other one waits for the head of its answer.
    for meta in [json!({"progressToken": "p"}), json!({})] {
        let has_progress = meta.get("progressToken").is_some();
        let mut endless = server.message("2025-11-25", &run("spin.sh", meta)).send();
        if has_progress {
            assert_eq!(endless.head().header("content-type"), Some("text/event-stream"));
            let running = endless.event().unwrap();
            assert!(running["params"]["message"].as_str().unwrap().starts_with("running"), "{running}");
        }
        let mut next = first_queued_run(&server);
        endless.hang_up();
        let began = Instant::now();
        let answer = std::iter::from_fn(|| next.event()).find(|event| event["id"] == 1).unwrap();
        assert!(answer.to_string().contains("ran"), "{answer}");
        // The time limit of the script would end it after a minute.
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    }
}

#[test]
fn open_requests_and_connections_do_not_delay_the_shutdown() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n"), ("a.sh", "echo ran\n")]);
    let mut server = serve(folder.path()).config("scripts: {runs_at_once: 2}").http();
    let mut running = server.message("2025-11-25", &run("spin.sh", json!({"progressToken": "p"}))).send();
    assert_eq!(running.head().status, 200);
    running.event().unwrap();
    let mut silent = server.message("2025-11-25", &run("spin.sh", json!({}))).send();
    let mut waiting = first_queued_run(&server);
    let filter = json!({"toolsListChanged": true});
    let listen = json!({"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": {"notifications": filter, "_meta": meta()}});
    let mut listening = server.message(STATELESS, &listen).send();
    let head = listening.head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
    assert_eq!(listening.event().unwrap()["method"], "notifications/subscriptions/acknowledged");
    let mut idle = server.connect();
    let mut half = server.connect();
    half.write(b"POST /mcp HTTP/1.1\r\nHost: loc");

    server.session.signal("TERM");
    server.session.exits_soon();
    for stream in [&mut running, &mut waiting, &mut listening] {
        while stream.event().is_some() {}
    }
    assert!(idle.is_closed() && half.is_closed());
    assert_eq!(silent.reply().status, 503);
    let home = server.session.home().to_owned();
    let audit = Launch::bare(crate::SKILLCELL).with_home(&home).arg("audit").output();
    let audit = String::from_utf8_lossy(&audit.stdout).into_owned();
    // Both are recorded, whether or not there was time to record how they ended.
    assert_eq!(audit.matches("tool spin.sh  ").count(), 2, "{audit}");
}

#[test]
fn the_end_of_input_does_not_end_an_http_server() {
    let library = library(&SMALL);
    let mut server = serve(library.path()).http();
    server.session.close_input();
    still_answers(&server);
    server.session.signal("TERM");
    server.session.exits_soon();
    server.session.wait_for_log("shutting down");
}
