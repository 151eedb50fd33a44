//! The imports that CPython calls with a record, for HTTP and for nested runs, and the reply that it takes in a second call.
//!
//! A record is: method, address, number of fields, fields, body; each text after its length. A reply is a number, fields and a body.

use super::{http, nested};
use crate::script::ScriptWorld;
use sandbox::state::ScriptState;
use std::sync::Weak;
use wasmtime::{AsContextMut as _, Caller, Extern, Linker, Memory};

/// Of one record.
const MAX_RECORD_BYTES: u32 = 16 << 20;

type Call<'a> = Caller<'a, ScriptState>;

/// How a request ended. Python raises `ConnectionError`, `TimeoutError` or `ValueError` with the text of the reply.
#[derive(Clone, Copy)]
pub enum Code {
    Ok = 0,
    Network = 1,
    Timeout = 2,
    Invalid = 3,
}

/// Why a request has no reply, as Python is told.
pub struct Failure(pub Code, pub String);

impl Failure {
    pub fn invalid(text: impl Into<String>) -> Self {
        Self(Code::Invalid, text.into())
    }

    pub fn malformed() -> Self {
        Self::invalid("malformed request")
    }
}

/// What Python asks for.
pub struct Record {
    pub method: Vec<u8>,
    pub address: String,
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    pub body: Vec<u8>,
    /// In milliseconds.
    pub timeout: Option<u64>,
}

pub fn add_to_linker(linker: &mut Linker<ScriptState>, world: Weak<ScriptWorld>) -> wasmtime::Result<()> {
    linker.func_wrap_async(
        "bashkit",
        "http_request",
        move |mut call: Call<'_>, (at, length, timeout, reply_length): (u32, u32, i64, u32)| {
            let world = world.clone();
            Box::new(async move {
                let memory = memory(&mut call)?;
                let replied = match Record::read(memory.data(&call), at, length, timeout) {
                    Err(failure) => Err(failure),
                    Ok(record) if record.address == nested::ADDRESS => {
                        nested::run(&world, call.as_context_mut(), record).await?
                    }
                    Ok(record) => http::exchange(call.data().granted.gate.clone(), record).await,
                };
                let (code, reply) = match replied {
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

impl Record {
    fn read(memory: &[u8], at: u32, length: u32, timeout: i64) -> Result<Self, Failure> {
        if length > MAX_RECORD_BYTES {
            return Err(Failure::invalid("the request is larger than 16 MiB"));
        }
        let end = at.checked_add(length).ok_or_else(Failure::malformed)?;
        let mut rest = memory.get(at as usize..end as usize).ok_or_else(Failure::malformed)?;
        Self::parse(&mut rest, u64::try_from(timeout).ok()).ok_or_else(Failure::malformed)
    }

    fn parse(rest: &mut &[u8], timeout: Option<u64>) -> Option<Self> {
        let method = take_field(rest)?.to_owned();
        let address = String::from_utf8(take_field(rest)?.to_owned()).ok()?;
        let count = take_number(rest)?;
        let mut fields = Vec::new();
        for _ in 0..count {
            fields.push((take_field(rest)?.to_owned(), take_field(rest)?.to_owned()));
        }
        let body = take_field(rest)?.to_owned();
        Some(Self { method, address, fields, body, timeout })
    }
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

pub fn reply<'fields>(
    number: u32,
    fields: impl ExactSizeIterator<Item = (&'fields [u8], Vec<u8>)>,
    body: &[&[u8]],
) -> Vec<u8> {
    let mut reply = Vec::with_capacity(body.iter().map(|part| part.len()).sum::<usize>() + 1024);
    put_number(&mut reply, number);
    put_size(&mut reply, fields.len());
    for (name, value) in fields {
        put_field(&mut reply, name);
        put_field(&mut reply, &value);
    }
    put_size(&mut reply, body.iter().map(|part| part.len()).sum());
    for part in body {
        reply.extend(*part);
    }
    reply
}

fn put_number(reply: &mut Vec<u8>, number: u32) {
    reply.extend(number.to_le_bytes());
}

fn put_size(reply: &mut Vec<u8>, size: usize) {
    put_number(reply, u32::try_from(size).expect("a reply is limited"));
}

fn put_field(reply: &mut Vec<u8>, bytes: &[u8]) {
    put_size(reply, bytes.len());
    reply.extend(bytes);
}
