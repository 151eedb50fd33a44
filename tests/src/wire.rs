//! HTTP/1.1 as the servers of the tests need it.

use std::io::{self, BufRead, Read, Write};

/// The longest line or body that is read. Most have a few hundred bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A request of a client.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// The path with its query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The value of a header. Names are not case-sensitive.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Reads the next request of a connection. None at its end.
    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let first = line(stream)?;
        let Some((method, rest)) = first.split_once(' ') else {
            return Ok(None);
        };
        let target = rest.split(' ').next().unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let header = line(stream)?;
            match header.split_once(':') {
                Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
                None => break,
            }
        }
        let mut request = Self { method: method.to_owned(), target, headers, body: Vec::new() };
        request.body = request.read_body(stream)?;
        Ok(Some(request))
    }

    fn read_body(&self, stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            loop {
                let length = u64::from_str_radix(&line(stream)?, 16).map_err(io::Error::other)?;
                stream.take(length.min(MAX_BYTES)).read_to_end(&mut body)?;
                line(stream)?;
                if length == 0 {
                    return Ok(body);
                }
            }
        }
        let length = self.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        stream.take(MAX_BYTES.min(length)).read_to_end(&mut body)?;
        Ok(body)
    }
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.take(MAX_BYTES).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

/// The answer that a client gets.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn ok(media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, headers: vec![("Content-Type".to_owned(), media_type.to_owned())], body: body.into() }
    }

    /// A page in HTML.
    pub fn page(status: u16) -> Self {
        let body = format!("<!DOCTYPE html>\n<html><body><h1>{status}</h1>Please sign in.</body></html>\n");
        Self { status, ..Self::ok("text/html; charset=utf-8", body) }
    }

    /// JSON with any status.
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self { status, ..Self::ok("application/json; charset=utf-8", body.to_string()) }
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Writes everything before the body, which is sent in chunks.
    pub(crate) fn write_head(&self, stream: &mut impl Write) -> io::Result<()> {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!("HTTP/1.1 {} Answer\r\nTransfer-Encoding: chunked\r\n{headers}\r\n", self.status);
        stream.write_all(head.as_bytes())?;
        stream.flush()
    }
}

/// Writes a chunk of a body. Skips an empty one, which would end the body.
pub(crate) fn write_piece(stream: &mut impl Write, piece: &[u8]) -> io::Result<()> {
    if piece.is_empty() {
        return Ok(());
    }
    write!(stream, "{:x}\r\n", piece.len())?;
    stream.write_all(piece)?;
    stream.write_all(b"\r\n")?;
    stream.flush()
}

pub(crate) fn end_pieces(stream: &mut impl Write) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")?;
    stream.flush()
}
