//! Streamable HTTP: one server for many clients, without sessions.
//!
//! The head of a request is checked here, before rmcp sees any of it.

pub mod config;
mod guard;
mod rate;
mod refusal;

use crate::paging;
use crate::requests::SHUTDOWN_GRACE;
use crate::server::Server;
use base::digest::hex;
use base::user_files;
use bytes::Bytes;
use config::{HttpConfig, HttpProblem};
use guard::{Guard, PATH};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use http_server::HttpResponse;
use hyper::body::{Body, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, StatusCode};
use rate::{Limiter, Rate};
use refusal::Refusal;
use rmcp::model::{ErrorData, RequestId};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The largest body, in bytes. Far more than the longest arguments of any tool.
const MAX_BODY_BYTES: usize = 4 << 20;

/// How long a body may take, from its first byte to its last.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The rate of requests from one address. All clients of a machine share an address: 64 clients on two processors that send
/// without a pause reach about 12,000 a second. A client that sends more does not wait for answers.
const REQUEST_RATE: Rate = Rate { per_second: 20_000, burst: 40_000 };

/// The rate of requests from one address with a wrong host, origin or token. Trying a configuration takes a few; each is
/// logged.
const UNAUTHORIZED_RATE: Rate = Rate { per_second: 20, burst: 20 };

/// The header that names a session.
pub const SESSION: &str = "mcp-session-id";

/// Serves until the shutdown, then gives open connections a grace period.
pub async fn serve(server: Server, http: HttpConfig, shutdown: CancellationToken) -> Result<(), HttpProblem> {
    let HttpConfig { address, token, generated_token, names } = http;
    let cannot_listen = |reason| HttpProblem::Listen { address, reason };
    let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
    let address = listener.local_addr().map_err(cannot_listen)?;
    let guard = Guard::new(token, names, address);
    let handler = Arc::new(Handler::new(server, guard, shutdown.clone()));
    // What a client needs to connect, at any log level.
    let token = generated_token.map(|token| format!("token: {token}\n")).unwrap_or_default();
    let _ = std::io::stderr().write_all(format!("{token}listening on http://{address}{PATH}\n").as_bytes());
    http_server::serve(listener, handler, shutdown, SHUTDOWN_GRACE).await;
    Ok(())
}

/// What all connections share: the checks, and the MCP service after them.
struct Handler {
    guard: Guard,
    requests: Limiter,
    unauthorized: Limiter,
    mcp: StreamableHttpService<Server, NeverSessionManager>,
    shutdown: CancellationToken,
}

impl Handler {
    fn new(server: Server, guard: Guard, shutdown: CancellationToken) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_BODY_BYTES)
            .with_allowed_hosts(&guard.hosts.0)
            .with_allowed_origins(guard.origins())
            .with_cancellation_token(shutdown.child_token());
        let mcp = StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config);
        let (requests, unauthorized) = (Limiter::new(REQUEST_RATE), Limiter::new(UNAUTHORIZED_RATE));
        Self { guard, requests, unauthorized, mcp, shutdown }
    }

    fn admit(&self, peer: IpAddr, head: &Parts) -> Result<(), Refusal> {
        let now = Instant::now();
        if !self.requests.take(peer, now) {
            return Err(Refusal::TooMany);
        }
        self.guard.check(head).map_err(|refusal| {
            if !refusal.is_unauthorized() {
                return refusal;
            }
            if !self.unauthorized.take(peer, now) {
                return Refusal::TooMany;
            }
            tracing::warn!("refused a request from {peer}: {refusal}");
            refusal
        })
    }

    async fn answer(&self, mut head: Parts, body: Incoming) -> Result<HttpResponse, Refusal> {
        // rmcp may log the request, which must not contain the token.
        head.headers.remove(AUTHORIZATION);
        let is_json =
            head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let body = read(body).await?;
        if let Some((id, error)) = paging::wrong_cursor(&body) {
            return Ok(json_rpc(StatusCode::OK, Some(&id), &error));
        }
        let is_handshake = is_handshake(&body);
        let mut answer = self.mcp.handle(Request::from_parts(head, Full::new(body.clone()))).await;
        // rmcp has one answer for a body that is not JSON and for one that is not a message.
        if is_json && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return Ok(invalid_body(&body));
        }
        if is_handshake && let Some(session) = session() {
            answer.headers_mut().insert(SESSION, session);
        }
        Ok(answer)
    }
}

impl http_server::Handler for Handler {
    async fn handle(&self, peer: IpAddr, request: Request<Incoming>) -> HttpResponse {
        let (head, body) = request.into_parts();
        if let Err(refusal) = self.admit(peer, &head) {
            return refusal.response();
        }
        tokio::select! {
            // First, so that rmcp does not log requests without an answer.
            biased;
            () = self.shutdown.cancelled() => Refusal::ShuttingDown.response(),
            answer = self.answer(head, body) => answer.unwrap_or_else(Refusal::response),
        }
    }
}

fn is_handshake(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Message<'body> {
        #[serde(borrow)]
        method: std::borrow::Cow<'body, str>,
    }
    serde_json::from_slice(body).is_ok_and(|message: Message<'_>| message.method == "initialize")
}

/// Returns a session id, which clients with a handshake expect. The server keeps no state for it.
fn session() -> Option<HeaderValue> {
    let mut bytes = [0; 16];
    user_files::fill_random(&mut bytes).ok()?;
    HeaderValue::from_str(&hex(&bytes)).ok()
}

async fn read(body: Incoming) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
        return Err(Refusal::TooLarge);
    }
    match tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY_BYTES).collect()).await {
        Err(_) => Err(Refusal::Slow),
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::TooLarge),
        Ok(Err(_)) => Err(Refusal::Broken),
    }
}

/// Returns the JSON-RPC error for a body that is not a message.
fn invalid_body(body: &[u8]) -> HttpResponse {
    let (id, error) = match serde_json::from_slice::<Value>(body) {
        Err(error) => (None, ErrorData::parse_error(format!("not JSON: {error}"), None)),
        Ok(value) => {
            let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
            (id, ErrorData::invalid_request("the body must be one JSON-RPC 2.0 message", None))
        }
    };
    json_rpc(StatusCode::BAD_REQUEST, id.as_ref(), &error)
}

fn json_rpc(status: StatusCode, id: Option<&RequestId>, error: &ErrorData) -> HttpResponse {
    let message = json!({"jsonrpc": "2.0", "id": id, "error": error});
    http_server::response(status, "application/json", message.to_string())
}
