//! Malformed input on stdin, in both eras, does not end the session.

use super::code;
use crate::profiles::ALL_TOOLS;
use crate::{SKILLCELL, SMALL, both_eras, library, serve, still_answers};
use serde_json::{Value, json};
use skillcell_tests::{Numbers, Session};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// Returns malformed lines, each with the id and the error code of its answer.
fn malformed_lines() -> Vec<(Vec<u8>, Value, i64)> {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let cases: [(&[u8], Value, i64); 24] = [
        (b"{not json", Value::Null, -32700),
        (b"\xff\xfe{}", Value::Null, -32700),
        (b"\xef\xbb\xbf{}", Value::Null, -32700),
        (b"\0\0\0", Value::Null, -32700),
        (b"GET / HTTP/1.1\r", Value::Null, -32700),
        (b"Content-Length: 70", Value::Null, -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", Value::Null, -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} {}", Value::Null, -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}", Value::Null, -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", Value::Null, -32700),
        (deep.as_bytes(), Value::Null, -32700),
        (deep_object.as_bytes(), Value::Null, -32700),
        (b"42", Value::Null, -32600),
        (b"null", Value::Null, -32600),
        (b"\"text\"", Value::Null, -32600),
        (b"[]", Value::Null, -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", Value::Null, -32600),
        (b"{}", Value::Null, -32600),
        (b"{\"jsonrpc\":\"1.0\",\"id\":901,\"method\":\"ping\"}", json!(901), -32600),
        (b"{\"id\":903,\"method\":\"ping\"}", json!(903), -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"nine\"}", json!("nine"), -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":902,\"method\":5}", json!(902), -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{\"a\":1},\"method\":\"ping\"}", Value::Null, -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", Value::Null, -32600),
    ];
    cases.into_iter().map(|(line, id, code)| (line.to_vec(), id, code)).collect()
}

/// Lines that get no answer.
const UNANSWERED: [&[u8]; 12] = [
    b"",
    b"   \t ",
    b"\r",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"no/such/notification\"}",
    b"{\"jsonrpc\":\"2.0\",\"method\":7}",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":{}}}",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"of nobody\"}}",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":[]}",
    b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":78,\"error\":{\"code\":1,\"message\":\"x\"}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":\"seventy-nine\",\"result\":null}",
];

/// Sends all malformed lines and checks the answers.
fn send_malformed_lines(session: &mut Session) {
    for (line, id, expected) in malformed_lines() {
        session.send_line(&line);
        let answer = session.next_message();
        let excerpt = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        assert_eq!((&answer["id"], code(&answer)), (&id, expected), "{excerpt}: {answer}");
    }
    for line in UNANSWERED {
        session.send_line(line);
    }
    let id = json!("after the malformed lines");
    session.send(&json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": 5}));
    let next = session.next_message();
    assert_eq!(next["id"], id, "a line was answered that must not be: {next}");
}

#[test]
fn malformed_lines_get_the_right_error_and_never_end_the_session() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    send_malformed_lines(&mut session);
    still_answers(&mut session);
}

#[test]
fn malformed_lines_before_the_first_request_never_end_the_session() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).silent();
    send_malformed_lines(&mut session);
    session.initialize("2025-11-25");
    still_answers(&mut session);
}

#[test]
fn malformed_lines_never_end_a_stateless_session() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).modern();
    send_malformed_lines(&mut session);
    session.result("server/discover", json!({}));
    send_malformed_lines(&mut session);
    still_answers(&mut session);
}

#[test]
fn invalid_metadata_is_refused_and_never_ends_a_stateless_session() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).modern();
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    session.result("server/discover", json!({}));
    for (number, meta) in [
        json!({version: "1999-01-01", capabilities: {}}),
        json!({version: "", capabilities: {}}),
        json!({version: 20_260_728, capabilities: {}}),
        json!({version: ["2026-07-28"], capabilities: {}}),
        json!({version: "2026-07-28", capabilities: "all"}),
        json!({version: "2026-07-28"}),
        json!("2026-07-28"),
        json!([]),
        json!(7),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("meta-{number}");
        session.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"_meta": meta}}));
        let answer = session.answer(&json!(id));
        assert!((-32_799..=-32_000).contains(&code(&answer)), "{meta}: {answer}");
        still_answers(&mut session);
    }
}

/// Characters with a meaning in JSON.
const PUNCTUATION: &[u8] = b"{}[]\",:\\0 \n";

/// Changes, removes, inserts or swaps a few bytes of a message.
fn damage(message: &str, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = message.as_bytes().to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len());
        match numbers.below(5) {
            0 => bytes[at] = u8::try_from(numbers.below(256)).unwrap(),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, PUNCTUATION[numbers.below(PUNCTUATION.len())]),
            3 => bytes.truncate(at.max(1)),
            _ => {
                let other = numbers.below(bytes.len());
                bytes.swap(at, other);
            }
        }
        if bytes.is_empty() {
            bytes.push(b' ');
        }
    }
    bytes
}

#[test]
fn thousands_of_damaged_messages_never_end_a_session() {
    let library = library(&SMALL);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let client = json!({"name": "tests", "version": "1"});
    let messages = [
        ("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})),
        ("tools/call", json!({"name": "skill", "arguments": {"name": "pdf"}})),
        ("tools/call", json!({"name": "skills_search", "arguments": {"query": "reader", "limit": 3}, "_meta": meta})),
        ("tools/list", json!({"_meta": meta})),
        ("resources/read", json!({"uri": "skill://pdf/SKILL.md"})),
        ("prompts/get", json!({"name": "skill", "arguments": {"name": "pdf"}, "_meta": meta})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "skill"}, "argument": {"name": "name", "value": "p"}}),
        ),
        ("skills/get", json!({"uri": "skill://pdf/SKILL.md", "_meta": meta})),
        ("server/discover", json!({"_meta": meta})),
        ("ping", json!({})),
    ];
    for mut session in both_eras(library.path()) {
        let mut numbers = Numbers(7);
        for round in 0..3_000 {
            let (method, params) = &messages[round % messages.len()];
            let id = format!("damaged-{round}");
            let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
            session.send_line(&damage(&message, &mut numbers));
            if round % 500 == 0 {
                still_answers(&mut session);
            }
        }
        still_answers(&mut session);
        session.close_input();
        session.exits_soon();
    }
}

#[test]
fn a_last_line_without_a_line_break_is_a_message() {
    let library = library(&SMALL);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let request = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {"_meta": meta}});
    let mut server = Command::new(SKILLCELL);
    server.arg(library.path()).env("HOME", library.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.stderr(Stdio::null()).spawn().unwrap();
    let (mut input, mut output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
    let mut answer = || -> Value {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    // After the first answer the skills are indexed, and the last answer takes little time.
    input.write_all(format!("{}\n", request("first")).as_bytes()).unwrap();
    assert_eq!(answer()["id"], "first");
    input.write_all(request("last").to_string().as_bytes()).unwrap();
    drop(input);
    let answer = answer();
    assert_eq!(answer["id"], "last", "{answer}");
    assert_eq!(
        answer["result"]["tools"].as_array().map(Vec::len),
        Some(ALL_TOOLS.len() - 1),
        "all but `query`: {answer}"
    );
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn windows_line_ends_and_space_around_messages_are_accepted() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    session.send_line(b" \t{\"jsonrpc\" : \"2.0\", \"id\":\"spaced\",\"method\":\"ping\"}  \r");
    assert_eq!(session.answer(&json!("spaced"))["result"], json!({}));
    still_answers(&mut session);
}

#[test]
fn a_line_that_is_too_long_is_answered_and_skipped() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).start();
    let padding = "x".repeat(17 << 20);
    session.send_line(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\",\"params\":{{\"a\":\"{padding}\"}}}}").as_bytes(),
    );
    let answer = session.next_message();
    assert_eq!(code(&answer), -32600);
    assert!(answer["error"]["message"].as_str().unwrap().contains("longer than 16777216 bytes"));
    still_answers(&mut session);
}

#[test]
fn a_large_message_within_the_limit_is_answered() {
    let library = library(&SMALL);
    let mut session = serve(library.path()).arg("--scorer").arg("keyword").start();
    let words: String = (0..400_000).map(|number| format!("word{number} ")).collect();
    let found = session.call_json("get_skill", json!({"context": format!("form validation {words}")}));
    assert_eq!(found["skill_path"], "forms");
}
