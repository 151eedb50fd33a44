//! The end of a connection, and of the server.

use super::{STATELESS, meta, run, still_answers};
use crate::scripts::skill;
use crate::{SMALL, library, serve};
use serde_json::json;
use skillcell_tests::Launch;
use skillcell_tests::http::{Connection, HttpServer};
use std::time::{Duration, Instant};

/// Longest a server may take to end.
const END: Duration = Duration::from_secs(1);

fn terminate(server: &HttpServer) {
    let id = server.session.process_id().to_string();
    assert!(std::process::Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
}

/// Asks for short runs until one has to wait, which means that all slots are taken.
fn first_that_waits(server: &HttpServer) -> Connection {
    loop {
        let mut next = server.message("2025-11-25", &run("a.sh", json!({"progressToken": "q"}))).send();
        assert_eq!(next.head().status, 200);
        let told = next.event().and_then(|event| event["params"]["message"].as_str().map(str::to_owned));
        if told.is_some_and(|told| told.starts_with("waiting for a free slot")) {
            return next;
        }
    }
}

#[test]
fn a_script_stops_when_its_client_goes_away() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n"), ("a.sh", "echo ran\n")]);
    let server = serve(folder.path()).config("scripts: {runs_at_once: 1}").http();
    // One that is told how it goes has a stream of events; the other waits for the head of its answer.
    for meta in [json!({"progressToken": "p"}), json!({})] {
        let is_told = meta.get("progressToken").is_some();
        let mut endless = server.message("2025-11-25", &run("spin.sh", meta)).send();
        if is_told {
            assert_eq!(endless.head().header("content-type"), Some("text/event-stream"));
            let running = endless.event().unwrap();
            assert!(running["params"]["message"].as_str().unwrap().starts_with("running"), "{running}");
        }
        let mut next = first_that_waits(&server);
        endless.hang_up();
        let began = Instant::now();
        let answer = std::iter::from_fn(|| next.event()).find(|event| event["id"] == 1).unwrap();
        assert!(answer.to_string().contains("ran"), "{answer}");
        assert!(began.elapsed() < END, "{:?}", began.elapsed());
    }
}

#[test]
fn the_server_ends_in_time_whatever_is_open() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n"), ("a.sh", "echo ran\n")]);
    let mut server = serve(folder.path()).config("scripts: {runs_at_once: 2}").http();
    let mut running = server.message("2025-11-25", &run("spin.sh", json!({"progressToken": "p"}))).send();
    assert_eq!(running.head().status, 200);
    running.event().unwrap();
    let mut silent = server.message("2025-11-25", &run("spin.sh", json!({}))).send();
    let mut waiting = first_that_waits(&server);
    let filter = json!({"toolsListChanged": true});
    let listen = json!({"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": {"notifications": filter, "_meta": meta()}});
    let mut listening = server.message(STATELESS, &listen).send();
    let head = listening.head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
    assert_eq!(listening.event().unwrap()["method"], "notifications/subscriptions/acknowledged");
    let mut idle = server.connect();
    let mut half = server.connect();
    half.write(b"POST /mcp HTTP/1.1\r\nHost: loc");

    terminate(&server);
    let (status, took) = server.session.wait();
    assert!(status.success() && took < END, "{status} after {took:?}; log:\n{}", server.session.log());
    for stream in [&mut running, &mut waiting, &mut listening] {
        while stream.event().is_some() {}
    }
    assert!(idle.is_closed() && half.is_closed());
    assert_eq!(silent.reply().status, 503);
    let home = server.session.home().to_owned();
    let shown = Launch::bare(crate::SKILLCELL).with_home(&home).arg("audit").output();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert_eq!(shown.matches("tool spin.sh  exit 137").count(), 2, "{shown}");
}

#[test]
fn the_end_of_input_means_nothing() {
    let library = library(&SMALL);
    let mut server = serve(library.path()).http();
    server.session.close_input();
    still_answers(&server);
    terminate(&server);
    let (status, took) = server.session.wait();
    assert!(status.success() && took < END, "{status} after {took:?}");
    server.session.wait_for_log("shutting down");
}
