//! The answers of tools, as text, structured content or errors.

use crate::arguments::WrongArguments;
use base::place::Audience;
use base::printable::printable;
use bindings::catalog::LookupError;
use catalog::{AskError, no_skill};
use integrations::IntegrationError;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use scripts::ScriptError;
use serde::Serialize;
use serde_json::Value;
use views::search::SearchError;

/// The most JSON in one answer, in bytes. About a quarter of a large model's context.
pub const MAX_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub enum Answer {
    /// Verbatim text. Never with structured content: clients then hide the text.
    Text(String),
    Blocks(Vec<ContentBlock>),
    /// JSON as text only, followed by a note if something was omitted.
    Json {
        text: String,
        note: Option<String>,
    },
    /// A line for people, then JSON as text, and as structured content for clients that know it.
    Data {
        line: String,
        text: String,
        structured: Value,
    },
    /// An error that the model can act on: a sentence, and what to do next.
    Refused(String),
}

/// Why a tool has no answer.
#[derive(Debug)]
pub enum ToolError {
    Arguments(WrongArguments),
    Host(AskError),
    Script(ScriptError),
    Integration(IntegrationError),
}

/// Like [`Answer::no_skill`], for prompts.
pub fn no_skill_error(name: &str, error: &LookupError) -> ErrorData {
    ErrorData::invalid_params(no_skill(&printable(name), error), None)
}

impl Answer {
    pub fn json(value: &impl Serialize) -> Self {
        Self::json_with_note(value, None)
    }

    pub fn json_with_note(value: &impl Serialize, note: Option<String>) -> Self {
        Self::Json { text: serde_json::to_string(value).expect("answers are plain data"), note }
    }

    pub fn data(line: String, value: &impl Serialize) -> Self {
        let plain = "answers are plain data";
        Self::Data {
            line,
            text: serde_json::to_string(value).expect(plain),
            structured: serde_json::to_value(value).expect(plain),
        }
    }

    /// Reports that a name finds no skill, with close names.
    pub fn no_skill(name: &str, error: &LookupError) -> Self {
        Self::Refused(no_skill(&printable(name), error))
    }

    pub fn into_result(self, structured: bool) -> CallToolResult {
        match self {
            Self::Text(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Self::Blocks(blocks) => CallToolResult::success(blocks),
            Self::Json { text, note } => {
                CallToolResult::success([Some(text), note].into_iter().flatten().map(ContentBlock::text).collect())
            }
            Self::Data { line, text, structured: json } => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(line), ContentBlock::text(text)]);
                result.structured_content = Some(json).filter(|_| structured);
                result
            }
            Self::Refused(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        }
    }
}

impl ToolError {
    pub fn into_error_data(self, audience: Audience) -> ErrorData {
        let (message, logged) = match self {
            Self::Arguments(wrong) => return ErrorData::invalid_params(wrong.0, None),
            Self::Host(error) => return failed(error),
            Self::Script(error) => (error.for_audience(audience), error.for_audience(Audience::Local)),
            Self::Integration(error) => (error.for_audience(audience), error.for_audience(Audience::Local)),
        };
        tracing::error!("a request failed: {logged}");
        ErrorData::internal_error(message, None)
    }
}

/// Answers a request whose question failed inside the server.
pub fn failed(error: AskError) -> ErrorData {
    let message = error.to_string();
    tracing::error!("a request failed: {:?}", anyhow::Error::new(error));
    ErrorData::internal_error(message, None)
}

impl From<WrongArguments> for ToolError {
    fn from(wrong: WrongArguments) -> Self {
        Self::Arguments(wrong)
    }
}

impl From<AskError> for ToolError {
    fn from(error: AskError) -> Self {
        Self::Host(error)
    }
}

impl From<SearchError> for ToolError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Query(wrong) => Self::Arguments(WrongArguments(wrong)),
            SearchError::Catalog(error) => Self::Host(error),
        }
    }
}
