//! Requests of every kind, allowed or not.

use integration_kit::bindings::wasi::http::outgoing_handler::{self, FutureIncomingResponse};
use integration_kit::bindings::wasi::http::types::{
    Fields, IncomingResponse, Method, OutgoingBody, OutgoingRequest, Scheme,
};
use integration_kit::bindings::wasi::io::streams::StreamError;
use integration_kit::json::{Json, Value, json};

/// The number of redirects that it follows.
const MAX_REDIRECTS: usize = 5;

/// Sends requests one after the other, each `times` times, and returns the outcomes.
pub fn send_all(requests: &Value) -> Value {
    let mut outcomes = Vec::new();
    for request in requests.as_array().map_or(std::slice::from_ref(requests), Vec::as_slice) {
        for _ in 0..request.number("times").unwrap_or(1) {
            outcomes.push(outcome(request));
        }
    }
    Value::Array(outcomes)
}

/// Sends a request and follows redirects.
pub fn follow(request: &Value) -> Value {
    let mut request = request.clone();
    let mut outcomes = Vec::new();
    for _ in 0..MAX_REDIRECTS {
        let outcome = outcome(&request);
        let location = outcome.text("headers.location").map(str::to_owned);
        outcomes.push(outcome);
        let Some(address) = location else { break };
        request["address"] = json!(address);
    }
    Value::Array(outcomes)
}

/// Starts requests and keeps all of them open.
pub fn hoard(request: &Value) -> Value {
    let mut open = Vec::new();
    for _ in 0..request.number("times").unwrap_or(1) {
        open.push(begin(request));
    }
    json!(open.iter().filter(|started| started.is_ok()).count())
}

/// Returns the header names of a request to its own service that it can see.
pub fn own_headers(address: &str) -> Value {
    let request = json!({"address": address});
    let outgoing = outgoing(&request).expect("the configured address is valid");
    let before: Vec<String> = outgoing.headers().entries().into_iter().map(|(name, _)| name).collect();
    json!(before)
}

fn outcome(request: &Value) -> Value {
    match begin(request).and_then(|response| wait(&response)) {
        Ok(response) => describe(&response),
        Err(error) => json!({"error": error}),
    }
}

fn begin(request: &Value) -> Result<FutureIncomingResponse, String> {
    let outgoing = outgoing(request)?;
    let body = request.text("body").map(|_| outgoing.body()).transpose().map_err(|()| "no body")?;
    let response = outgoing_handler::handle(outgoing, None).map_err(|error| format!("{error:?}"))?;
    if let (Some(body), Some(text)) = (body, request.text("body")) {
        let stream = body.write().map_err(|()| "no stream")?;
        for piece in text.as_bytes().chunks(4096) {
            if stream.blocking_write_and_flush(piece).is_err() {
                break;
            }
        }
        drop(stream);
        // An unfinished body is dropped.
        if !request.is("unfinished") {
            OutgoingBody::finish(body, None).map_err(|error| format!("{error:?}"))?;
        }
    }
    Ok(response)
}

fn outgoing(request: &Value) -> Result<OutgoingRequest, String> {
    let headers = Fields::new();
    for (name, value) in request.at("headers").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().unwrap_or_default().as_bytes();
        headers.append(name, value).map_err(|error| format!("header {name}: {error:?}"))?;
    }
    let address = request.text("address").unwrap_or_default();
    let (scheme, rest) = address.split_once("://").ok_or("no address")?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let scheme = match scheme {
        "https" => Scheme::Https,
        "http" => Scheme::Http,
        other => Scheme::Other(other.to_owned()),
    };
    let method = match request.text("method").unwrap_or("GET") {
        "GET" => Method::Get,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        "DELETE" => Method::Delete,
        other => Method::Other(other.to_owned()),
    };
    let outgoing = OutgoingRequest::new(headers);
    let path = if path.is_empty() { "/" } else { path };
    let accepted = outgoing.set_method(&method).is_ok()
        && outgoing.set_scheme(Some(&scheme)).is_ok()
        && outgoing.set_authority(Some(authority)).is_ok()
        && outgoing.set_path_with_query(Some(path)).is_ok();
    if accepted { Ok(outgoing) } else { Err("malformed".to_owned()) }
}

fn wait(response: &FutureIncomingResponse) -> Result<IncomingResponse, String> {
    response.subscribe().block();
    match response.get() {
        Some(Ok(Ok(response))) => Ok(response),
        Some(Ok(Err(error))) => Err(format!("{error:?}")),
        _ => Err("taken".to_owned()),
    }
}

/// Returns the status, the headers and the text of an answer, and the error if it was cut off.
fn describe(response: &IncomingResponse) -> Value {
    let status = response.status();
    let headers = response.headers().entries();
    let headers: serde_json::Map<String, Value> =
        headers.into_iter().map(|(name, value)| (name, json!(String::from_utf8_lossy(&value)))).collect();
    let body = response.consume().expect("taken once");
    let stream = body.stream().expect("taken once");
    let mut bytes = Vec::new();
    let end = loop {
        match stream.blocking_read(1 << 20) {
            Ok(part) => bytes.extend_from_slice(&part),
            Err(StreamError::Closed) => break None,
            Err(StreamError::LastOperationFailed(error)) => break Some(error.to_debug_string()),
        }
    };
    json!({"status": status, "headers": headers, "body": String::from_utf8_lossy(&bytes), "end": end})
}
