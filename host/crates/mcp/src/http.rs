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
use std::borrow::Cow;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
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

/// The most clients that listen for changes, each on a connection of its own without end. The other half is for requests.
const MAX_LISTENERS: usize = http_server::MAX_CONNECTIONS / 2;

/// The header that names a session.
pub const SESSION: &str = "mcp-session-id";

/// Serves until the shutdown, then gives open connections a grace period.
pub async fn serve(server: Server, http: HttpConfig, shutdown: CancellationToken) -> Result<(), HttpProblem> {
    let HttpConfig { address, token, generated_token, names } = http;
    let cannot_listen = |reason| HttpProblem::Listen { address, reason };
    let listener = http_server::listen(address).map_err(cannot_listen)?;
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
    listeners: Arc<Semaphore>,
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
        let listeners = Arc::new(Semaphore::new(MAX_LISTENERS));
        Self { guard, requests, unauthorized, listeners, mcp, shutdown }
    }

    /// Only requests with the token count towards the rate of clients, so that others at their address cannot use it up.
    fn admit(&self, peer: IpAddr, head: &Parts) -> Result<(), Refusal> {
        let now = Instant::now();
        match self.guard.check(head) {
            Ok(()) if self.requests.take(peer, now) => Ok(()),
            Err(refusal) if !refusal.is_unauthorized() => Err(refusal),
            Err(refusal) if self.unauthorized.take(peer, now) => {
                tracing::warn!("refused a request from {peer}: {refusal}");
                Err(refusal)
            }
            Ok(()) | Err(_) => Err(Refusal::TooMany),
        }
    }

    async fn call(&self, mut head: Parts, body: Incoming) -> Result<HttpResponse, Refusal> {
        // rmcp may log the request, which must not contain the token.
        head.headers.remove(AUTHORIZATION);
        let is_json =
            head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let body = read(body).await?;
        if let Some((id, error)) = paging::wrong_cursor(&body) {
            return Ok(json_rpc(StatusCode::OK, Some(&id), &error));
        }
        let method = method(&body);
        let listener = match method.as_deref() {
            Some("subscriptions/listen") => {
                Some(self.listeners.clone().try_acquire_owned().map_err(|_| Refusal::TooManyListeners)?)
            }
            _ => None,
        };
        let mut answer = self.mcp.handle(Request::from_parts(head, Full::new(body.clone()))).await;
        // rmcp has one answer for a body that is not JSON and for one that is not a message.
        if is_json && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return Ok(invalid_body(&body));
        }
        if method.as_deref() == Some("initialize")
            && let Some(session) = session()
        {
            answer.headers_mut().insert(SESSION, session);
        }
        Ok(match listener {
            // The stream of events holds the permit until it ends.
            Some(permit) => answer.map(|body| body.map_frame(move |frame| (&permit, frame).1).boxed()),
            None => answer,
        })
    }
}

impl http_server::Handler for Handler {
    fn refuse(&self, peer: IpAddr, head: &Parts) -> Option<HttpResponse> {
        self.admit(peer, head).err().map(Refusal::response)
    }

    async fn answer(&self, head: Parts, body: Incoming) -> HttpResponse {
        tokio::select! {
            // First, so that rmcp does not log requests without an answer.
            biased;
            () = self.shutdown.cancelled() => Refusal::ShuttingDown.response(),
            answer = self.call(head, body) => answer.unwrap_or_else(Refusal::response),
        }
    }
}

/// Returns the method of a message, if it has one.
fn method(body: &[u8]) -> Option<Cow<'_, str>> {
    #[derive(serde::Deserialize)]
    struct Message<'body> {
        #[serde(borrow)]
        method: Cow<'body, str>,
    }
    serde_json::from_slice(body).ok().map(|message: Message<'_>| message.method)
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
