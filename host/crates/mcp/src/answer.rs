//! What requests are answered with: the results of tools, and errors.

use base::place::Audience;
use base::printable::printable;
use bindings::catalog::LookupError;
use catalog::AskError;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use std::borrow::Cow;

/// The most JSON in one answer, in bytes. About a quarter of a large model's context.
pub const MAX_BYTES: usize = 256 * 1024;

pub type Result<T, E = ErrorData> = std::result::Result<T, E>;

pub type Answer = CallToolResult;

/// Answers with verbatim text. Never with structured content: clients then hide the text.
pub fn text(text: impl Into<String>) -> Answer {
    Answer::success(vec![ContentBlock::text(text)])
}

/// Answers with JSON as text only.
pub fn json(value: &impl Serialize) -> Answer {
    text(serialized(value))
}

/// Answers with a line for people, then JSON as text, and as structured content for clients that know it.
pub fn data(line: String, value: &impl Serialize) -> Answer {
    let mut answer = Answer::success(vec![ContentBlock::text(line), ContentBlock::text(serialized(value))]);
    answer.structured_content = Some(serde_json::to_value(value).expect("answers are plain data"));
    answer
}

fn serialized(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("answers are plain data")
}

/// Answers with an error that the model can act on: a sentence, and what to do next.
pub fn refused(message: impl Into<String>) -> Answer {
    Answer::error(vec![ContentBlock::text(message)])
}

/// Refuses a name that finds no skill, with close names.
pub fn no_skill(name: &str, error: &LookupError) -> Answer {
    refused(catalog::no_skill(&printable(name), error))
}

/// The parameters or arguments of a request are wrong.
pub fn invalid(message: impl Into<Cow<'static, str>>) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

/// A question to the catalog failed.
pub fn failed(error: AskError) -> ErrorData {
    let message = error.to_string();
    tracing::error!("a request failed: {:?}", anyhow::Error::new(error));
    ErrorData::internal_error(message, None)
}

/// A request failed inside the server. The log contains the message as people on this machine may read it.
pub fn internal(audience: Audience, message: impl Fn(Audience) -> String) -> ErrorData {
    tracing::error!("a request failed: {}", message(Audience::Local));
    ErrorData::internal_error(message(audience), None)
}
