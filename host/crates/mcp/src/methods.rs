//! The methods of each revision of the protocol, and the errors for requests that fit none.

use crate::answer::invalid;
use base::printable::printable;
use rmcp::model::{ErrorCode, ServerCapabilities};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

/// The first revision with structured answers.
const STRUCTURED_SINCE: &str = "2025-06-18";

/// The first revision without a handshake.
const STATELESS_SINCE: &str = "2026-07-28";

/// Methods that rmcp knows. If one of them arrives as a custom request, its parameters could not be parsed.
const KNOWN_METHODS: [&str; 15] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
];

/// Methods that stateless revisions do not have.
const ONLY_WITH_HANDSHAKE: [&str; 5] =
    ["initialize", "ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"];

pub fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= STATELESS_SINCE)
}

pub fn knows_structured(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= STRUCTURED_SINCE)
}

pub fn unknown(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{}`", printable(method)), None)
}

/// Explains what is wrong with a request that rmcp could not parse.
pub fn refusal(method: &str, parameters: Option<&Value>, stateless: bool) -> ErrorData {
    if !KNOWN_METHODS.contains(&method) || stateless && ONLY_WITH_HANDSHAKE.contains(&method) {
        return unknown(method);
    }
    let required = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        method => return invalid(format!("the parameters of `{}` are missing or wrong", printable(method))),
    };
    match parameters.and_then(|parameters| parameters.get(required)) {
        None => invalid(format!("{required} is required")),
        Some(Value::String(_)) if required == "name" => invalid("arguments must be an object"),
        Some(_) => invalid(format!("{required} must be a string")),
    }
}

/// Removes the promise to notify of changes.
pub fn without_notifications(capabilities: &mut ServerCapabilities) {
    capabilities.tools.iter_mut().for_each(|tools| tools.list_changed = None);
    capabilities.prompts.iter_mut().for_each(|prompts| prompts.list_changed = None);
    capabilities.resources.iter_mut().for_each(|resources| {
        resources.list_changed = None;
        resources.subscribe = None;
    });
}
