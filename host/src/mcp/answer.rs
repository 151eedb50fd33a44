//! Answers of tools: what becomes text, what structured content, and what an error.

use crate::bindings::catalog::LookupError;
use crate::catalog::{AskError, no_skill};
use crate::integrations::IntegrationError;
use crate::mcp::arguments::WrongArguments;
use crate::printable::printable;
use crate::scripts::ScriptError;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;

/// Most JSON in one answer, in bytes. About a quarter of a large model's context; nobody is helped by more.
pub const MOST_BYTES: usize = 256 * 1024;

/// Length of a text in JSON, without making it.
pub fn json_length(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<usize>()
}

/// What a tool says.
#[derive(Debug)]
pub enum Answer {
    /// Text as it is. Never with structured content: clients then hide the text.
    Text(String),
    /// Several pieces.
    Blocks(Vec<ContentBlock>),
    /// JSON as text alone, with a note behind it when something was left out.
    Json { text: String, note: Option<String> },
    /// A line for people, then the JSON as text, and as structured content for clients that know it.
    Data { line: String, text: String, structured: Value },
    /// The model can act on it: a sentence, and what to do next.
    Refused(String),
}

/// A tool has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error(transparent)]
    Arguments(#[from] WrongArguments),
    #[error(transparent)]
    Host(#[from] AskError),
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    Integration(#[from] IntegrationError),
}

/// Says the same to whoever asked outside of a tool.
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

    /// Says that a name finds no skill, and which ones might be meant.
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

impl From<ToolError> for ErrorData {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Arguments(wrong) => Self::invalid_params(wrong.0, None),
            broken => {
                let message = broken.to_string();
                tracing::error!("a request failed: {:?}", anyhow::Error::new(broken));
                Self::internal_error(message, None)
            }
        }
    }
}
