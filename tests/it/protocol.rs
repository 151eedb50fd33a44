//! JSON-RPC and MCP on the wire.

mod malformed;

use crate::hostile::StopOnDrop;
use crate::profiles::ALL_TOOLS;
use crate::{SKILLCELL, SMALL, library, serve, still_answers};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session, put_file, write_files, write_library};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long requests may still run after the end of input.
const GRACE: Duration = Duration::from_millis(700);

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}

#[test]
fn messages_before_the_first_request_do_not_end_the_session() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).silent();
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}));
    session.send(&json!({"jsonrpc": "2.0", "id": 77, "result": {}}));
    session.send(&json!({"jsonrpc": "2.0", "id": 78, "error": {"code": 1, "message": "x"}}));
    session.initialize("2025-11-25");
    still_answers(&mut session);
}

#[test]
fn a_request_before_the_handshake_is_refused_and_the_session_goes_on() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).silent();
    let answer = session.request("tools/list", json!({}));
    assert!(answer.get("error").is_some(), "{answer}");
    session.initialize("2025-06-18");
    still_answers(&mut session);
}

#[test]
fn known_methods_with_wrong_parameters_are_invalid_params() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": 3})),
        ("tools/call", json!({"name": "get_skill", "arguments": [1]})),
        ("tools/call", json!("text")),
        ("resources/read", json!({"uri": 5})),
        ("completion/complete", json!({})),
    ] {
        let answer = session.request(method, params.clone());
        assert_eq!(code(&answer), -32602, "{method} {params}: {answer}");
    }
    assert_eq!(code(&session.request("no/such/method", json!({}))), -32601);
    let answer = session.request("tools/call", json!({"name": "no_such_tool", "arguments": {}}));
    assert_eq!(
        (code(&answer), answer["error"]["message"].as_str()),
        (-32602, Some("there is no tool `no_such_tool`: see tools/list"))
    );
    still_answers(&mut session);
}

#[test]
fn two_requests_with_one_id_are_both_answered() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    let request = |query: &str| json!({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": {"name": "skills_search", "arguments": {"query": query}}});
    for query in ["validate", "reader", "nothing"] {
        session.send(&request(query));
    }
    let totals: Vec<Value> =
        (0..3).map(|_| session.next_message()["result"]["structuredContent"]["total"].clone()).collect();
    assert_eq!(totals, [json!(1), json!(1), json!(0)]);
    still_answers(&mut session);
}

#[test]
fn the_id_of_a_cancelled_request_can_be_used_again() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    let search = |query: &str| json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": {"name": "skills_search", "arguments": {"query": query}}});
    for _ in 0..20 {
        session.send(&search("nothing"));
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 900}}));
    }
    session.send(&search("reader"));
    // A cancelled search may have been answered before it was cancelled.
    while session.next_message()["result"]["structuredContent"]["total"] != 1 {}
    still_answers(&mut session);
    session.close_input();
    session.exits_soon();
}

/// Requests a list several times, closes the input, and checks that every list is answered and that no answer is cut off. A
/// server that had no more time for all of them may leave some out.
fn answers_last_requests(session: &mut Session, skills: usize) {
    session.call("skills_list", json!({}));
    let list = json!({"name": "skills_list", "arguments": {}});
    let ids = [(); 4].map(|()| session.post("tools/call", list.clone()));
    let closed = Instant::now();
    session.close_input();
    let messages = session.remaining_messages();
    let had_time = closed.elapsed() < GRACE;
    let listed = |id: &Value| {
        let answer = messages.iter().find(|message| message["id"] == *id)?;
        Some(answer["result"]["structuredContent"]["skills"].as_array().unwrap().len())
    };
    let lengths: Vec<usize> = ids.iter().filter_map(listed).collect();
    assert!(lengths.iter().all(|length| *length >= skills), "{lengths:?} skills");
    assert!(lengths.len() == ids.len() || !had_time, "{} answers", lengths.len());
    assert_eq!(messages.iter().find(|message| message.get("not a message").is_some()), None);
    session.exits_soon();
}

#[test]
fn the_end_of_input_ends_the_server_and_pending_requests_are_answered() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    answers_last_requests(&mut session, 2);
    session.wait_for_log("shutting down");
}

#[test]
fn long_last_answers_are_complete() {
    let library = tempfile::tempdir().unwrap();
    write_library(library.path(), 300);
    answers_last_requests(&mut serve(library.path()).start(), 50);
}

#[test]
fn an_immediate_end_of_input_is_not_an_error() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).silent();
    session.close_input();
    session.exits_soon();
}

#[test]
fn signals_end_the_server() {
    for name in ["INT", "TERM"] {
        let library = library(&SMALL);
        let mut session = serve(library.path()).start();
        session.signal(name);
        session.exits_soon();
        session.wait_for_log("shutting down");
    }
}

#[test]
fn error_answers_are_not_logged_with_their_payload() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    session.send(&json!({"jsonrpc": "2.0", "id": 55, "result": {"secret": "hunter2"}}));
    session.call("get_skill", json!({"context": "x", "hunter2": true}));
    session.call("get_skill", json!({"context": ["hunter2"]}));
    session.close_input();
    session.wait();
    assert!(!session.log().contains("hunter2"), "{}", session.log());
}

#[test]
fn every_handshake_revision_is_supported() {
    let library = library(&SMALL);
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut session = serve(library.path()).silent();
        let answer = session.initialize(version);
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "skillcell");
        let found = session.call("skills_list", json!({}));
        let structured = found.get("structuredContent").is_some();
        assert_eq!(structured, version >= "2025-06-18", "{version}: {found}");
        let tools = session.request("tools/list", json!({}))["result"]["tools"].clone();
        let described: Vec<&Value> = (tools.as_array().unwrap().iter())
            .filter(|tool| tool.get("outputSchema").is_some())
            .map(|tool| &tool["name"])
            .collect();
        let expected: &[&str] = if structured { &["skills_list", "skills_search"] } else { &[] };
        assert_eq!(described, expected, "{version}");
        still_answers(&mut session);
    }
}

#[test]
fn the_stateless_revision_needs_no_handshake() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).silent();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"}});
    let found = session.request("server/discover", json!({"_meta": meta}));
    assert!(
        found["result"]["supportedVersions"].as_array().is_some_and(|versions| versions.contains(&json!("2026-07-28"))),
        "{found}"
    );
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    let arguments = json!({"context": "form validation"});
    let answer = session.request("tools/call", json!({"name": "get_skill", "arguments": arguments, "_meta": meta}));
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("Validate on submit."));
}

#[test]
fn tools_are_listed_in_a_stable_order_with_all_annotations() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").start();
    let first = session.request("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(first, session.request("tools/list", json!({}))["result"]["tools"]);
    let names: Vec<&str> = first.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ALL_TOOLS);
    for tool in first.as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint} of {tool}");
        }
        assert!(tool["description"].as_str().unwrap().chars().count() < 2_000, "{tool}");
    }
}

/// The file of a skill. Its last line shows that it is complete.
fn edition(number: usize, edition: usize) -> String {
    format!("---\nkeywords: [topic{number}x]\ndescription: Topic {number}\n---\nbody {number} edition {edition} ends\n")
}

#[test]
fn five_hundred_concurrent_requests_during_rebuilds_are_answered_correctly() {
    const SKILLS: usize = 200;
    let library = library(&[]);
    for number in 0..SKILLS {
        write_files(library.path(), &[(&format!("s{number}.md"), &edition(number, 0))]);
    }
    let mut session = serve(library.path()).start();
    let written = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Every skill is edited again and again, and new ones appear.
            for change in 1.. {
                if stop.load(Ordering::Acquire) {
                    break;
                }
                let number = change % SKILLS;
                put_file(library.path(), &format!("s{number}.md"), edition(number, change));
                if change % 10 == 0 {
                    let new = change / 10;
                    put_file(library.path(), &format!("more{new}.md"), edition(SKILLS + new, 0));
                    written.store(new, Ordering::Release);
                }
                // The library does not grow without bounds on a slow machine.
                std::thread::park_timeout(Duration::from_millis(1));
            }
        });
        let _stop = StopOnDrop(&stop);
        let requests: Vec<(Value, usize)> = (0..500)
            .map(|count| {
                let number = (count / 2) % SKILLS;
                let call = if count % 2 == 0 {
                    json!({"name": "get_skill", "arguments": {"context": format!("topic{number}x")}})
                } else {
                    json!({"name": "skill", "arguments": {"name": format!("S{number}")}})
                };
                (session.post("tools/call", call), number)
            })
            .collect();
        for (count, (id, number)) in requests.into_iter().enumerate() {
            let answer = session.answer(&id);
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
            let (name, end) = if count % 2 == 0 {
                (format!("\"skill_path\":\"s{number}\""), " ends\"")
            } else {
                (format!("Loading: s{number}\n"), " ends\n")
            };
            assert!(text.contains(&name) && text.contains(&format!("body {number} edition ")), "{number}: {text}");
            assert!(text.contains(end), "{number}: {text}");
        }
        // The catalog was rebuilt in the meantime.
        session.wait_for_log("generation 3");
    });
    let written = written.load(Ordering::Acquire);
    // Nothing that was written is lost.
    let refreshed = session.call_json("refresh_skills", json!({}));
    assert_eq!(refreshed["skills_reindexed"], SKILLS + written);
    for number in [0, 1, SKILLS - 1] {
        let arguments = json!({"name": format!("s{number}")});
        let loaded = session.fresh(|session| session.call("skill", arguments.clone()));
        let file = std::fs::read_to_string(library.path().join(format!("s{number}.md"))).unwrap();
        assert!(loaded["content"][0]["text"].as_str().unwrap().ends_with(&file), "{loaded}");
    }
}

#[test]
fn without_a_folder_the_server_reports_what_to_set() {
    let empty = tempfile::tempdir().unwrap();
    let mut session = Launch::new(SKILLCELL).folder(empty.path()).silent();
    let (status, _) = session.wait();
    assert_eq!(status.code(), Some(2));
    session.wait_for_log("SKILLS_DIR");
}

#[test]
fn folders_come_from_flags_arguments_and_the_environment() {
    let library = library(&SMALL);
    let folder = library.path().to_str().unwrap();
    let other_folder = tempfile::tempdir().unwrap();
    for launch in [
        Launch::bare(SKILLCELL).arg(folder),
        Launch::bare(SKILLCELL).arg("mcp-server").arg("--root").arg(folder),
        Launch::new(SKILLCELL).arg("--root").arg(folder),
        Launch::new(SKILLCELL).arg(format!("{},{folder}", other_folder.path().display())),
        Launch::new(SKILLCELL).env("SKILLS_DIR", folder),
    ] {
        let mut session = launch.folder(other_folder.path()).start();
        still_answers(&mut session);
    }
}
