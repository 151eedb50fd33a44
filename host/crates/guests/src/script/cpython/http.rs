//! HTTP for Python. `http.client` in the guest, and with it `urllib`, `requests` and `httpx`, hands each request to the host,
//! which sends it through the gate. Redirects are followed in the guest, so each hop passes the gate too.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::Request;
use hyper::header::{HeaderName, HeaderValue};
use sandbox::state::ScriptState;
use std::time::Duration;
use wasmtime::{Caller, Extern, Linker, Memory};
use wasmtime_wasi_http::{Error, RequestOptions};

/// Of one response body. The guest gets it as a whole.
const MAX_RESPONSE_BYTES: usize = 16 << 20;

/// Of one request, with its headers and its body.
const MAX_REQUEST_BYTES: u32 = 16 << 20;

const MAX_HEADERS: usize = 256;

type Call<'a> = Caller<'a, ScriptState>;

/// How a request ended. Python raises `ConnectionError`, `TimeoutError` or `ValueError` with the text of the reply.
#[derive(Clone, Copy)]
enum Code {
    Ok = 0,
    Network = 1,
    Timeout = 2,
    Invalid = 3,
}

/// Why a request has no response, as Python is told.
struct Failure(Code, String);

pub fn add_to_linker(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "bashkit",
        "http_request",
        |mut call: Call<'_>, (at, length, timeout, reply_length): (u32, u32, i64, u32)| {
            Box::new(async move {
                let memory = memory(&mut call)?;
                let (code, reply) = match exchange(&mut call, memory, at, length, timeout).await {
                    Ok(reply) => (Code::Ok, reply),
                    Err(Failure(code, text)) => (code, text.into_bytes()),
                };
                let size = u32::try_from(reply.len()).expect("a reply is limited");
                memory.write(&mut call, reply_length as usize, &size.to_le_bytes())?;
                call.data_mut().reply = reply;
                Ok(code as i32)
            })
        },
    )?;
    // A negative length discards the reply.
    linker.func_wrap(
        "bashkit",
        "http_take",
        |mut call: Call<'_>, into: u32, length: i32| -> wasmtime::Result<i32> {
            let reply = std::mem::take(&mut call.data_mut().reply);
            let fits = usize::try_from(length).is_ok_and(|length| length == reply.len());
            if fits {
                memory(&mut call)?.write(&mut call, into as usize, &reply)?;
            }
            Ok(i32::from(!fits && length >= 0))
        },
    )?;
    Ok(())
}

fn memory(call: &mut Call<'_>) -> wasmtime::Result<Memory> {
    match call.get_export("memory") {
        Some(Extern::Memory(memory)) => Ok(memory),
        _ => Err(wasmtime::Error::msg("the guest has no memory")),
    }
}

async fn exchange(call: &mut Call<'_>, memory: Memory, at: u32, length: u32, timeout: i64) -> Result<Vec<u8>, Failure> {
    let invalid = |text: &str| Failure(Code::Invalid, text.to_owned());
    if length > MAX_REQUEST_BYTES {
        return Err(invalid("the request is larger than 16 MiB"));
    }
    let end = at.checked_add(length).ok_or_else(|| invalid("malformed request"))?;
    let record = memory.data(&*call).get(at as usize..end as usize).ok_or_else(|| invalid("malformed request"))?;
    let request = read_request(record)?;
    let options = RequestOptions {
        first_byte_timeout: u64::try_from(timeout).ok().map(Duration::from_millis),
        ..RequestOptions::default()
    };
    let host = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    let gate = call.data().granted.gate.clone();
    let (response, connection) = gate.send(request, options).await.map_err(|error| failure(&error, &host))?;
    let (head, body) = response.into_parts();
    let body = Limited::new(body, MAX_RESPONSE_BYTES).collect().await;
    drop(connection);
    let body = body.map_err(|error| Failure(Code::Network, error.to_string()))?.to_bytes();
    let mut reply = Vec::with_capacity(body.len() + 1024);
    put_number(&mut reply, u32::from(head.status.as_u16()));
    put_number(&mut reply, u32::try_from(head.headers.len()).unwrap_or(0));
    for (name, value) in &head.headers {
        put_field(&mut reply, name.as_str().as_bytes());
        // Python decodes UTF-8; other bytes are Latin-1.
        put_field(&mut reply, value.as_bytes().iter().map(|byte| char::from(*byte)).collect::<String>().as_bytes());
    }
    put_field(&mut reply, &body);
    Ok(reply)
}

fn put_number(reply: &mut Vec<u8>, number: u32) {
    reply.extend(number.to_le_bytes());
}

fn put_field(reply: &mut Vec<u8>, bytes: &[u8]) {
    put_number(reply, u32::try_from(bytes.len()).expect("a reply is limited"));
    reply.extend(bytes);
}

/// Reads a request: method, URL, number of headers, headers, body; each field after its length.
fn read_request(record: &[u8]) -> Result<Request<wasmtime_wasi_http::WasiBody>, Failure> {
    let invalid = |text: String| Failure(Code::Invalid, text);
    let malformed = || invalid("malformed request".to_owned());
    let mut rest = record;
    let method = take_field(&mut rest).ok_or_else(malformed)?;
    let url = take_field(&mut rest).and_then(|url| std::str::from_utf8(url).ok()).ok_or_else(malformed)?;
    let count = take_number(&mut rest).ok_or_else(malformed)?;
    if count > MAX_HEADERS {
        return Err(invalid(format!("the request has {count} headers, and the limit is {MAX_HEADERS}")));
    }
    let mut request = Request::builder().method(method).uri(url.split('#').next().unwrap_or_default());
    for _ in 0..count {
        let name = take_field(&mut rest).ok_or_else(malformed)?;
        let value = take_field(&mut rest).ok_or_else(malformed)?;
        let name = HeaderName::from_bytes(name).map_err(|_| invalid("invalid name of a header".to_owned()))?;
        let value = HeaderValue::from_bytes(value);
        let value = value.map_err(|_| invalid(format!("invalid value of the header `{name}`")))?;
        request = request.header(name, value);
    }
    let body = take_field(&mut rest).ok_or_else(malformed)?;
    let body = Full::new(Bytes::copy_from_slice(body)).map_err(|never| match never {}).boxed_unsync();
    let request = request.body(body).map_err(|error| invalid(error.to_string()))?;
    if !matches!(request.uri().scheme_str(), Some("http" | "https")) {
        return Err(invalid(format!("only http and https are supported, not `{url}`")));
    }
    Ok(request)
}

fn take_number(rest: &mut &[u8]) -> Option<usize> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

fn take_field<'record>(rest: &mut &'record [u8]) -> Option<&'record [u8]> {
    let length = take_number(rest)?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

fn failure(error: &Error, host: &str) -> Failure {
    match error {
        Error::HttpRequestDenied | Error::DestinationIpProhibited => {
            Failure(Code::Network, format!("{host} is not granted: see `refusals` in the result"))
        }
        Error::ConnectionTimeout | Error::DnsTimeout | Error::HttpResponseTimeout => {
            Failure(Code::Timeout, format!("{host} does not answer in time"))
        }
        Error::HttpRequestUriInvalid => Failure(Code::Invalid, "the URL is not valid".to_owned()),
        other => Failure(Code::Network, other.to_string()),
    }
}
