//! An integration that does what it is asked to do, whatever that is.
//!
//! The question is JSON with one key: `send` and `follow` take requests, `hoard` a number of them that it never waits for,
//! `look` searches for secrets, and `do` names a way to misbehave.

#![expect(unsafe_code, reason = "generated: the exports of the component")]

mod requests;
mod deeds;

use integration_kit::bindings;
use integration_kit::bindings::exports::skillcell::plugin::query::Guest;
use integration_kit::json::{Json, Value, json};
use integration_kit::{QueryError, Question};

struct Hostile;

impl Guest for Hostile {
    fn ask(question: Question) -> Result<String, QueryError> {
        let Ok(asked) = serde_json::from_str::<Value>(&question.text) else { return Err(QueryError::NotUnderstood) };
        let answer = if let Some(request) = asked.at("send") {
            requests::send_all(request)
        } else if let Some(request) = asked.at("follow") {
            requests::follow(request)
        } else if let Some(request) = asked.at("hoard") {
            requests::hoard(request)
        } else if asked.at("look").is_some() {
            look(&question)
        } else {
            return deeds::misbehave(asked.text("do").unwrap_or_default());
        };
        Ok(answer.to_string())
    }

    fn questions() -> Vec<String> {
        vec!["one\nof \u{202e}these".to_owned(), "long ".repeat(100_000)]
    }
}

/// Everything around it that could hold a secret.
fn look(question: &Question) -> Value {
    let variables: Vec<(String, String)> = std::env::vars().collect();
    let arguments: Vec<String> = std::env::args().collect();
    let input = std::io::read_to_string(std::io::stdin()).unwrap_or_else(|error| error.to_string());
    json!({
        "variables": variables,
        "arguments": arguments,
        "input": input,
        "address": question.address,
        "request": requests::own_headers(&question.address),
    })
}

bindings::export!(Hostile with_types_in integration_kit::bindings);
