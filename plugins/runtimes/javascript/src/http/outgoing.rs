//! Requests through `wasi:http`.

use std::time::Duration;

use super::{Answer, Failure, Request};
use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::wasi::http::outgoing_handler;
use crate::bindings::wasi::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, Method, OutgoingBody, OutgoingRequest, Scheme,
};
use crate::bindings::wasi::io::poll::poll;
use crate::bindings::wasi::io::streams::StreamError;

/// Maximum size of one write to a stream.
const WRITE_BYTES: usize = 4096;

/// Size of one read from a stream.
const READ_BYTES: u64 = 64 * 1024;

pub struct Exchange {
    response: FutureIncomingResponse,
}

pub fn send(request: &Request) -> Result<Exchange, Failure> {
    let headers = Fields::new();
    for (name, value) in &request.headers {
        headers
            .append(name, value.as_bytes())
            .map_err(|error| broken("ERR_INVALID_HEADER", format!("{name}: {error:?}")))?;
    }
    let outgoing = OutgoingRequest::new(headers);
    let accepted = outgoing.set_method(&method(&request.method)).is_ok()
        && outgoing.set_scheme(Some(&if request.secure { Scheme::Https } else { Scheme::Http })).is_ok()
        && outgoing.set_authority(Some(&request.authority)).is_ok()
        && outgoing.set_path_with_query(Some(&request.path)).is_ok();
    if !accepted {
        return Err(broken("ERR_INVALID_URL", "the method or the address is malformed".to_owned()));
    }
    let body = outgoing.body().map_err(|()| broken("ERR_INVALID_STATE", "there is no body to write to".to_owned()))?;
    let response = outgoing_handler::handle(outgoing, None).map_err(|error| failure(&error))?;
    write(&body, &request.body)?;
    OutgoingBody::finish(body, None).map_err(|error| failure(&error))?;
    Ok(Exchange { response })
}

fn write(body: &OutgoingBody, content: &[u8]) -> Result<(), Failure> {
    if content.is_empty() {
        return Ok(());
    }
    let stream = body.write().map_err(|()| broken("ERR_INVALID_STATE", "the body is already written".to_owned()))?;
    for chunk in content.chunks(WRITE_BYTES) {
        // The server may respond before it has read everything, and that response is valid.
        if stream.blocking_write_and_flush(chunk).is_err() {
            break;
        }
    }
    Ok(())
}

/// Waits for the first response and returns which requests have one.
pub fn wait(exchanges: &[&Exchange], limit: Option<Duration>) -> Vec<usize> {
    let mut pollables: Vec<_> = exchanges.iter().map(|exchange| exchange.response.subscribe()).collect();
    if let Some(limit) = limit {
        let nanoseconds = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        pollables.push(monotonic_clock::subscribe_duration(nanoseconds));
    }
    let ready = poll(&pollables.iter().collect::<Vec<_>>());
    ready.into_iter().map(|index| index as usize).filter(|index| *index < exchanges.len()).collect()
}

impl Exchange {
    /// Reads the whole response. Called when its headers have arrived.
    pub fn finish(self) -> Result<Answer, Failure> {
        let response = match self.response.get() {
            Some(Ok(Ok(response))) => response,
            Some(Ok(Err(error))) => return Err(failure(&error)),
            _ => return Err(broken("ERR_INVALID_STATE", "the answer was already taken".to_owned())),
        };
        let headers = response.headers().entries();
        let headers =
            headers.into_iter().map(|(name, value)| (name, String::from_utf8_lossy(&value).into_owned())).collect();
        let status = response.status();
        let body = response.consume().map_err(|()| broken("ERR_INVALID_STATE", "the answer has no body".to_owned()))?;
        Ok(Answer { status, headers, body: read(&body)? })
    }
}

fn read(body: &IncomingBody) -> Result<Vec<u8>, Failure> {
    let stream = body.stream().map_err(|()| broken("ERR_INVALID_STATE", "the body was already read".to_owned()))?;
    let mut content = Vec::new();
    loop {
        match stream.blocking_read(READ_BYTES) {
            Ok(part) => content.extend(part),
            Err(StreamError::Closed) => return Ok(content),
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(broken("ECONNRESET", error.to_debug_string()));
            }
        }
    }
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "OPTIONS" => Method::Options,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

fn failure(error: &ErrorCode) -> Failure {
    let code = match error {
        ErrorCode::HttpRequestDenied => return Failure::Denied,
        ErrorCode::DnsTimeout | ErrorCode::DnsError(_) => "ENOTFOUND",
        ErrorCode::ConnectionRefused => "ECONNREFUSED",
        ErrorCode::ConnectionTerminated => "ECONNRESET",
        ErrorCode::ConnectionTimeout | ErrorCode::ConnectionReadTimeout | ErrorCode::HttpResponseTimeout => "ETIMEDOUT",
        ErrorCode::TlsCertificateError | ErrorCode::TlsProtocolError | ErrorCode::TlsAlertReceived(_) => "ERR_TLS",
        _ => "ERR_HTTP",
    };
    broken(code, format!("{error:?}"))
}

fn broken(code: &'static str, detail: String) -> Failure {
    Failure::Broken { code, detail }
}
