//! Interprets events.

use crate::events::Event;
use integration_kit::json::{Json, Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// What the service is doing.
    Progress(String),
    /// A part of the answer, before its end.
    Part(String),
    /// The end of the answer.
    Complete(String),
    /// The service failed; there is no answer.
    Error(String),
    /// An event for other clients.
    Other,
}

/// Goes by the name of the event or, without one, by the `type` in the data.
pub fn meaning(event: &Event) -> Meaning {
    let data = event.data.as_deref().unwrap_or_default();
    if data.trim() == "[DONE]" {
        return Meaning::Complete(String::new());
    }
    let value = document(data);
    let typed = value.as_ref().and_then(|value| value.text("type").or_else(|| value.text("event")));
    let name = if event.name.is_empty() { typed.unwrap_or_default() } else { &event.name };
    let text = || value.as_ref().map_or_else(|| data.to_owned(), as_text);
    match name.to_lowercase().as_str() {
        "progress" | "status" => Meaning::Progress(text()),
        "toolcallevent" | "tool_call" => Meaning::Progress(tool_call(value.as_ref()).unwrap_or_else(text)),
        "" | "message" | "result" | "answer" => Meaning::Part(text()),
        "complete" | "completed" | "done" => Meaning::Complete(text()),
        "error" => Meaning::Error(text()),
        _ => Meaning::Other,
    }
}

/// Extracts the text of a document: the text itself, or one of the usual fields. A document without any is shown as it
/// is.
pub fn as_text(value: &Value) -> String {
    text_in(value).unwrap_or_else(|| {
        let mut rest = value.clone();
        if let Value::Object(fields) = &mut rest {
            fields.retain(|name, value| !["type", "event"].contains(&name.as_str()) && !value.is_null());
        }
        if rest == json!({}) || rest.is_null() { String::new() } else { format!("{rest:#}") }
    })
}

fn text_in(value: &Value) -> Option<String> {
    const FIELDS: [&str; 9] = ["answer", "text", "message", "content", "result", "data", "response", "error", "detail"];
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(_) => FIELDS.iter().find_map(|field| text_in(value.at(field)?)).filter(|text| !text.is_empty()),
        _ => None,
    }
}

fn tool_call(value: Option<&Value>) -> Option<String> {
    Some(format!("calling {}", value?.text("tool")?))
}

fn document(data: &str) -> Option<Value> {
    data.trim_start().starts_with(['{', '"']).then(|| data.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, data: &str) -> Meaning {
        meaning(&Event { name: name.to_owned(), data: Some(data.to_owned()) })
    }

    #[test]
    fn the_name_of_an_event_decides_its_meaning() {
        assert_eq!(of("progress", "reading"), Meaning::Progress("reading".into()));
        assert_eq!(of("Complete", "done { so far"), Meaning::Complete("done { so far".into()));
        assert_eq!(of("error", r#"{"message": "no such repository"}"#), Meaning::Error("no such repository".into()));
        assert_eq!(of("", "two\nlines"), Meaning::Part("two\nlines".into()));
        assert_eq!(of("heartbeat", "7"), Meaning::Other);
        assert_eq!(meaning(&Event { name: "complete".into(), data: None }), Meaning::Complete(String::new()));
        assert_eq!(of("", "[DONE]"), Meaning::Complete(String::new()));
    }

    #[test]
    fn a_type_in_the_data_replaces_a_name() {
        assert_eq!(
            of("", r#"{"type": "ToolCallEvent", "tool": "get_pr"}"#),
            Meaning::Progress("calling get_pr".into())
        );
        assert_eq!(of("", r#"{"type": "done", "result": {"data": "2 open"}}"#), Meaning::Complete("2 open".into()));
        assert_eq!(of("", r#"{"type": "error", "error": "bad question"}"#), Meaning::Error("bad question".into()));
        assert_eq!(of("", r#"{"type": "ThinkingEvent"}"#), Meaning::Other);
    }

    #[test]
    fn documents_are_converted_to_text() {
        assert_eq!(as_text(&json!("plain")), "plain");
        assert_eq!(as_text(&json!({"result": {"text": "inner"}})), "inner");
        assert_eq!(as_text(&json!({"type": "complete"})), "");
        assert_eq!(as_text(&json!({"open": 2})), "{\n  \"open\": 2\n}");
        assert_eq!(as_text(&json!([1])), "[\n  1\n]");
    }
}
