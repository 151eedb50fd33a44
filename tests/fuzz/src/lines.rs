//! JSON-RPC over stdio, one message per line.

use mcp::requests::Cancellations;
use mcp::transport::{InFlight, read};
use rmcp::model::JsonRpcMessage;
use serde_json::Value;
use std::cell::Cell;
use tokio_util::sync::CancellationToken;

pub fn lines(bytes: &[u8]) {
    let mut requests = 0;
    let mut cancellations = 0;
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace)) {
        let message: Option<Value> = serde_json::from_slice(line).ok();
        let has = |key: &str| message.as_ref().is_some_and(|message| message.get(key).is_some());
        let answers = answers(line);
        match message {
            Some(Value::Object(_)) if has("method") && !has("id") => {
                assert_eq!(answers, 0, "a notification is answered");
            }
            // An answer of the client may be accepted or rejected.
            Some(Value::Object(_)) if !has("method") => assert!(answers <= 1),
            _ => assert_eq!(answers, 1, "a message has one answer"),
        }
        requests += answers;
        cancellations += usize::from(line.windows(9).any(|part| part == b"cancelled" || part == b"\\u0063anc"));
    }
    let answers = answers(bytes);
    let is_possible = answers <= requests && answers + cancellations >= requests;
    assert!(
        is_possible,
        "{answers} answers to {requests} messages that have one, of which {cancellations} were cancelled"
    );
}

/// How many answers the client gets if the server answers every request that reaches it, after all of them have arrived.
fn answers(input: &[u8]) -> usize {
    let (in_flight, mut forwarded) = InFlight::new(Cancellations::new(CancellationToken::new()));
    let rejected = Cell::new(0);
    read(input, &in_flight, |message| {
        let text = serde_json::to_string(&message).expect("plain data");
        assert!(!text.contains('\n'), "an answer of two lines");
        rejected.set(rejected.get() + 1);
    });
    let mut answered = 0;
    while let Ok(message) = forwarded.try_recv() {
        if let JsonRpcMessage::Request(request) = message {
            answered += usize::from(!in_flight.was_cancelled(&request.id));
            in_flight.answered(&request.id);
        }
    }
    assert_eq!(in_flight.unanswered(), 0, "a request waits for ever");
    rejected.get() + answered
}
