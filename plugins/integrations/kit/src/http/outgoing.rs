//! Requests through `wasi:http`.

use super::{Head, Http, Method, Receive, Request, parts, too_large};
use crate::QueryError;
use crate::bindings::wasi::http::outgoing_handler;
use crate::bindings::wasi::http::types::{
    self, ErrorCode, Fields, IncomingBody, IncomingResponse, OutgoingBody, OutgoingRequest, Scheme,
};
use crate::bindings::wasi::io::streams::StreamError;

/// Maximum size of one write to a stream.
const WRITE_BYTES: usize = 4096;

/// Size of one read from a stream.
const READ_BYTES: u64 = 64 * 1024;

/// The network access that the host grants.
pub struct Outgoing;

impl Http for Outgoing {
    fn stream(&self, request: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
        let response = exchange(request)?;
        let headers = response.headers().entries();
        let headers =
            headers.into_iter().map(|(name, value)| (name, String::from_utf8_lossy(&value).into_owned())).collect();
        let head = Head { status: response.status(), headers };
        let body = response.consume().map_err(|()| broken(request, "the answer has no body"))?;
        read(request, &body, &mut |part| receive(&head, part))?;
        Ok(head)
    }
}

/// Sends a request and waits for the head of its response.
fn exchange(request: &Request) -> Result<IncomingResponse, QueryError> {
    let outgoing = outgoing(request)?;
    // Without opening the body, no body is sent, not even an empty one.
    let body = (!request.body.is_empty()).then(|| outgoing.body()).transpose();
    let body = body.map_err(|()| broken(request, "there is no body to write to"))?;
    let response = outgoing_handler::handle(outgoing, None).map_err(|error| failure(request, &error))?;
    if let Some(body) = body {
        write(request, &body)?;
        OutgoingBody::finish(body, None).map_err(|error| failure(request, &error))?;
    }
    response.subscribe().block();
    match response.get() {
        Some(Ok(Ok(response))) => Ok(response),
        Some(Ok(Err(error))) => Err(failure(request, &error)),
        _ => Err(broken(request, "the answer was already taken")),
    }
}

fn outgoing(request: &Request) -> Result<OutgoingRequest, QueryError> {
    let headers = Fields::new();
    let length = (!request.body.is_empty()).then(|| ("content-length".to_owned(), request.body.len().to_string()));
    for (name, value) in request.headers.iter().chain(&length) {
        headers
            .append(name, value.as_bytes())
            .map_err(|error| broken(request, &format!("the header `{name}` cannot be sent: {error:?}")))?;
    }
    let address = parts(&request.address).ok_or_else(|| broken(request, "this is not the address of a service"))?;
    let outgoing = OutgoingRequest::new(headers);
    let method = match request.method {
        Method::Get => types::Method::Get,
        Method::Post => types::Method::Post,
    };
    let accepted = outgoing.set_method(&method).is_ok()
        && outgoing.set_scheme(Some(&if address.secure { Scheme::Https } else { Scheme::Http })).is_ok()
        && outgoing.set_authority(Some(address.authority)).is_ok()
        && outgoing.set_path_with_query(Some(address.path)).is_ok();
    if accepted { Ok(outgoing) } else { Err(broken(request, "the address is malformed")) }
}

fn write(request: &Request, body: &OutgoingBody) -> Result<(), QueryError> {
    let stream = body.write().map_err(|()| broken(request, "the body is already written"))?;
    for chunk in request.body.chunks(WRITE_BYTES) {
        // The server may respond before it has read everything, and that response is valid.
        if stream.blocking_write_and_flush(chunk).is_err() {
            break;
        }
    }
    Ok(())
}

fn read(
    request: &Request,
    body: &IncomingBody,
    receive: &mut dyn FnMut(&[u8]) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let stream = body.stream().map_err(|()| broken(request, "the body was already read"))?;
    loop {
        match stream.blocking_read(READ_BYTES) {
            Ok(part) => receive(&part)?,
            Err(StreamError::Closed) => return Ok(()),
            Err(StreamError::LastOperationFailed(error)) => {
                return Err(match types::http_error_code(&error) {
                    Some(code) => failure(request, &code),
                    None => unreachable(request, &format!("the answer was cut off: {}", error.to_debug_string())),
                });
            }
        }
    }
}

fn failure(request: &Request, error: &ErrorCode) -> QueryError {
    let what = match error {
        ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => {
            return QueryError::Denied(request.describe());
        }
        ErrorCode::HttpResponseBodySize(_) => return too_large(request),
        ErrorCode::HttpResponseContentCoding(coding) => {
            let coding = coding.as_deref().unwrap_or("something else");
            return broken(request, &format!("the answer has the encoding `{coding}`, which was not requested"));
        }
        ErrorCode::DnsTimeout | ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => {
            "its name cannot be resolved"
        }
        ErrorCode::ConnectionRefused => "the connection was refused",
        ErrorCode::ConnectionTerminated | ErrorCode::HttpResponseIncomplete => "the answer was cut off",
        ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::ConnectionWriteTimeout
        | ErrorCode::HttpResponseTimeout => "it took too long",
        ErrorCode::HttpProtocolError => "the answer is not HTTP",
        ErrorCode::TlsCertificateError => "its certificate is not trusted",
        ErrorCode::TlsProtocolError | ErrorCode::TlsAlertReceived(_) => "the TLS handshake failed",
        ErrorCode::InternalError(Some(what)) => what,
        other => &format!("{other:?}"),
    };
    unreachable(request, what)
}

fn unreachable(request: &Request, what: &str) -> QueryError {
    QueryError::Unreachable(format!("{}: {what}", request.describe()))
}

/// An error of the integration, its settings or the service.
fn broken(request: &Request, what: &str) -> QueryError {
    QueryError::Failed(format!("{}: {what}", request.describe()))
}
