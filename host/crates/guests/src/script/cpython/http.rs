//! HTTP for Python. `http.client` in the guest, and with it `urllib`, `requests` and `httpx`, hands each request to the host,
//! which sends it through the gate. Redirects are followed in the guest, so each hop passes the gate too.

use super::bridge::{self, Code, Failure, Record};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::Request;
use hyper::header::{HeaderName, HeaderValue};
use sandbox::gate::Gate;
use std::time::Duration;
use wasmtime_wasi_http::{Error, RequestOptions};

/// Of one response body. The guest gets it as a whole.
const MAX_RESPONSE_BYTES: usize = 16 << 20;

const MAX_HEADERS: usize = 256;

/// Sends a request, and returns the reply for the guest.
pub async fn exchange(gate: Gate, record: Record) -> Result<Vec<u8>, Failure> {
    let first_byte_timeout = record.timeout.map(Duration::from_millis);
    let options = RequestOptions { first_byte_timeout, ..RequestOptions::default() };
    let request = request(record)?;
    let host = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let (response, connection) = gate.send(request, options).await.map_err(|error| failure(&error, &host))?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_RESPONSE_BYTES).collect().await;
    drop(connection);
    let body = body.map_err(|error| Failure(Code::Network, error.to_string()))?.to_bytes();
    // Python decodes UTF-8; other bytes are Latin-1.
    let text = |value: &HeaderValue| value.as_bytes().iter().map(|byte| char::from(*byte)).collect::<String>();
    let headers: Vec<_> =
        head.headers.iter().map(|(name, value)| (name.as_str().as_bytes(), text(value).into_bytes())).collect();
    Ok(bridge::reply(head.status.as_u16().into(), headers.into_iter(), &[&body]))
}

fn request(record: Record) -> Result<Request<wasmtime_wasi_http::WasiBody>, Failure> {
    let Record { method, address, fields, body, .. } = record;
    if fields.len() > MAX_HEADERS {
        return Err(Failure::invalid(format!(
            "the request has {} headers, and the limit is {MAX_HEADERS}",
            fields.len()
        )));
    }
    let mut request = Request::builder().method(&*method).uri(address.split('#').next().unwrap_or_default());
    for (name, value) in fields {
        let name = HeaderName::from_bytes(&name).map_err(|_| Failure::invalid("invalid name of a header"))?;
        let value = HeaderValue::from_bytes(&value);
        let value = value.map_err(|_| Failure::invalid(format!("invalid value of the header `{name}`")))?;
        request = request.header(name, value);
    }
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync();
    let request = request.body(body).map_err(|error| Failure::invalid(error.to_string()))?;
    if !matches!(request.uri().scheme_str(), Some("http" | "https")) {
        return Err(Failure::invalid(format!("only http and https are supported, not `{address}`")));
    }
    Ok(request)
}

fn failure(error: &Error, host: &str) -> Failure {
    match error {
        Error::HttpRequestDenied | Error::DestinationIpProhibited => {
            Failure(Code::Network, format!("{host} is not granted: see `refusals` in the result"))
        }
        Error::ConnectionTimeout | Error::DnsTimeout | Error::HttpResponseTimeout => {
            Failure(Code::Timeout, format!("{host} does not answer in time"))
        }
        Error::HttpRequestUriInvalid => Failure::invalid("the URL is not valid"),
        other => Failure(Code::Network, other.to_string()),
    }
}
