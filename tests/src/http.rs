//! A server that is reached over HTTP, and a client that writes every byte itself.

use crate::{Launch, PATIENCE, Session};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::ops::Deref;

/// The token of servers that are started with `Launch::http`.
pub const TOKEN: &str = "the-token-of-the-tests";

/// A server on a free port of this machine.
pub struct HttpServer {
    pub session: Session,
    client: Client,
}

/// The address of a server, and how to talk to it.
#[derive(Clone, Copy)]
pub struct Client {
    address: SocketAddr,
}

impl Launch {
    /// Serves over HTTP, on a free port and with the token of the tests.
    pub fn http(self) -> HttpServer {
        self.env("SKILLCELL_HTTP_TOKEN", TOKEN).arg("--http").arg("127.0.0.1:0").listening()
    }

    /// Starts a server whose arguments and variables are complete, and waits until it listens.
    pub fn listening(self) -> HttpServer {
        let session = self.silent();
        session.wait_for_log("/mcp\n");
        let log = session.log();
        let line = log.lines().find_map(|line| line.strip_prefix("listening on http://")).expect("it was waited for");
        let mut address: SocketAddr = line.trim_end_matches("/mcp").parse().expect("an address");
        if address.ip().is_unspecified() {
            address.set_ip([127, 0, 0, 1].into());
        }
        HttpServer { session, client: Client { address } }
    }
}

impl Deref for HttpServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Client {
    pub fn at(address: SocketAddr) -> Self {
        Self { address }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn connect(&self) -> Connection {
        Connection::to(self.address)
    }

    /// Builds a valid request.
    pub fn request(&self) -> HttpRequest {
        let headers = [
            ("Host", self.address.to_string()),
            ("Authorization", format!("Bearer {TOKEN}")),
            ("Content-Type", "application/json".to_owned()),
            ("Accept", "application/json, text/event-stream".to_owned()),
        ];
        HttpRequest {
            line: "POST /mcp HTTP/1.1".to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value)).into(),
            body: Vec::new(),
            address: self.address,
        }
    }

    /// Builds the request for a JSON-RPC message in a revision of MCP, with the matching headers.
    pub fn message(&self, version: &str, message: &Value) -> HttpRequest {
        let mut request = self.request().header("MCP-Protocol-Version", version);
        if let Some(method) = message["method"].as_str() {
            request = request.header("Mcp-Method", method);
        }
        let name = [&message["params"]["name"], &message["params"]["uri"]].into_iter().find_map(Value::as_str);
        if let Some(name) = name {
            request = request.header("Mcp-Name", name);
        }
        request.body(message.to_string())
    }

    /// Calls a tool and returns the whole answer.
    #[expect(clippy::needless_pass_by_value, reason = "tests read better without `&`")]
    pub fn call(&self, id: u64, tool: &str, arguments: Value) -> Value {
        self.message("2025-11-25", &call(id, tool, &arguments)).reply().json()
    }
}

/// Builds the message that calls a tool.
pub fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// A request as it is sent.
#[derive(Clone)]
pub struct HttpRequest {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    address: SocketAddr,
}

impl HttpRequest {
    /// Sets the request line.
    pub fn line(mut self, line: &str) -> Self {
        line.clone_into(&mut self.line);
        self
    }

    /// Sets a header.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.without(name).also(name, value)
    }

    /// Adds a header, even if it exists already.
    pub fn also(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Sets the body and its length.
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let length = body.len().to_string();
        Self { body, ..self.header("Content-Length", &length) }
    }

    /// Sends the body in chunks of a size.
    pub fn chunked(self, size: usize) -> Self {
        let mut body = Vec::new();
        for piece in self.body.chunks(size) {
            write!(body, "{:x}\r\n", piece.len()).expect("a vector grows");
            body.extend_from_slice(piece);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"0\r\n\r\n");
        Self { body, ..self.without("Content-Length").header("Transfer-Encoding", "chunked") }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let mut bytes = format!("{}\r\n{headers}\r\n", self.line).into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sends it on a connection of its own.
    pub fn send(&self) -> Connection {
        let mut connection = Connection::to(self.address);
        connection.send(self);
        connection
    }

    /// Sends it on a connection of its own and waits for the reply.
    pub fn reply(&self) -> Reply {
        self.send().reply()
    }
}

/// A connection to a server. Closed when the value is dropped.
pub struct Connection {
    stream: BufReader<TcpStream>,
    /// The beginning of an event that is not complete yet.
    events: String,
    /// How the current body ends.
    body: Body,
}

/// How much of a body is left.
enum Body {
    Length(usize),
    Chunked,
    UntilClose,
}

/// The answer of a server.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Connection {
    fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a duration above 0");
        stream.set_write_timeout(Some(PATIENCE)).expect("a duration above 0");
        Self { stream: BufReader::new(stream), events: String::new(), body: Body::Length(0) }
    }

    /// Writes bytes. A server may close the connection before it has read them all; its answer can still be read.
    pub fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.get_mut().write_all(bytes);
    }

    pub fn send(&mut self, request: &HttpRequest) {
        self.write(&request.bytes());
    }

    /// Reads the head of the next reply, but not the body.
    pub fn head(&mut self) -> Reply {
        let line = self.line();
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status in `{line}`"));
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let reply = Reply { status, headers, body: String::new() };
        self.body = match (reply.header("content-length"), reply.header("transfer-encoding")) {
            (Some(length), _) => Body::Length(length.parse().expect("a length")),
            (None, Some(_)) => Body::Chunked,
            (None, None) => Body::UntilClose,
        };
        reply
    }

    /// Reads the next reply with its body.
    pub fn reply(&mut self) -> Reply {
        let mut reply = self.head();
        while let Some(piece) = self.piece() {
            reply.body.push_str(&piece);
        }
        reply
    }

    /// Reads the next reply, as `reply` does. None if the server closed the connection instead, because it was idle for long.
    pub fn next_reply(&mut self) -> Option<Reply> {
        let is_open = self.stream.fill_buf().is_ok_and(|bytes| !bytes.is_empty());
        is_open.then(|| self.reply())
    }

    /// Reads the next message of a stream of events, after its head. None at the end.
    pub fn event(&mut self) -> Option<Value> {
        loop {
            while let Some((event, rest)) = self.events.split_once("\n\n") {
                let data: String = event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
                self.events = rest.to_owned();
                if !data.trim().is_empty() {
                    return Some(serde_json::from_str(&data).expect("events carry JSON"));
                }
            }
            let piece = self.piece()?;
            self.events.push_str(&piece);
        }
    }

    /// Whether the server closed the connection without sending anything more.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        // The connection is reset if the server did not read everything.
        let _ = self.stream.read_to_end(&mut rest);
        rest.is_empty()
    }

    /// Disconnects, as a client that no longer wants an answer does.
    pub fn hang_up(self) {
        let _ = self.stream.get_ref().shutdown(Shutdown::Both);
    }

    /// Reads the next part of a body. None at the end.
    fn piece(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        match std::mem::replace(&mut self.body, Body::Length(0)) {
            Body::Length(length) => {
                bytes.resize(length, 0);
                self.stream.read_exact(&mut bytes).expect("the reply goes on");
            }
            Body::Chunked => {
                let length = usize::from_str_radix(&self.line(), 16).expect("the size of a chunk");
                bytes.resize(length, 0);
                self.stream.read_exact(&mut bytes).expect("the reply goes on");
                self.line();
                if length > 0 {
                    self.body = Body::Chunked;
                }
            }
            Body::UntilClose => drop(self.stream.read_to_end(&mut bytes).expect("the reply goes on")),
        }
        let text = String::from_utf8(bytes).expect("replies are text");
        (!text.is_empty()).then_some(text)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("the server answers");
        line.trim_end().to_owned()
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn headers(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|(name, _)| name.as_str())
    }

    /// The body, which must be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}
