//! Streamable HTTP: the same server for many clients, without sessions.
//!
//! What the head of a request says is checked here, before rmcp sees any of it.

pub mod config;
mod guard;
mod rate;
mod refusal;

use crate::listening::{self, Answer};
use crate::mcp::paging;
use crate::mcp::requests::LAST_ANSWERS;
use crate::mcp::server::Skillcell;
use crate::private;
use crate::sha256::hex;
use bytes::Bytes;
use config::{HttpConfig, HttpProblem};
use guard::{Guard, PATH};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode};
use rate::{Limiter, Rate};
use refusal::Refusal;
use rmcp::model::{ErrorData, RequestId};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Largest body, in bytes. The longest arguments of any tool fit in many times.
const BODY_BYTES: usize = 4 << 20;

/// Longest wait for a body, from its first byte to its last.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Requests of one address. All clients of a machine are one address, and on two processors 64 that ask without a pause
/// reach about 12,000 a second. Whoever sends more does not wait for answers.
const REQUESTS: Rate = Rate { each_second: 20_000, at_once: 40_000 };

/// Requests of one address with a wrong name, origin or token. A person who tries a configuration needs a few; each of them
/// is logged.
const TRESPASSES: Rate = Rate { each_second: 20, at_once: 20 };

/// The header that names a session.
pub const SESSION: &str = "mcp-session-id";

/// Answers until the server ends. Then open connections have a moment to end as well.
pub async fn serve(server: Skillcell, http: HttpConfig, ended: CancellationToken) -> Result<(), HttpProblem> {
    let HttpConfig { address, token, untold, names } = http;
    let taken = |reason| HttpProblem::Taken { address, reason };
    let listener = TcpListener::bind(address).await.map_err(taken)?;
    let address = listener.local_addr().map_err(taken)?;
    let guard = Guard::new(token, &names, address);
    let door = Arc::new(Door::new(server, guard, ended.clone()));
    announce(address, untold.as_deref());

    listening::listen(listener, door, ended, LAST_ANSWERS).await;
    Ok(())
}

/// Nobody can connect who does not know these, so no level of logging hides them.
fn announce(address: SocketAddr, token: Option<&str>) {
    let token = token.map(|token| format!("token: {token}\n")).unwrap_or_default();
    let lines = format!("{token}listening on http://{address}{PATH}\n");
    let _ = std::io::stderr().write_all(lines.as_bytes());
}

/// What all connections share: the checks, and MCP behind them.
struct Door {
    guard: Guard,
    requests: Limiter,
    trespasses: Limiter,
    mcp: StreamableHttpService<Skillcell, NeverSessionManager>,
    ended: CancellationToken,
}

impl Door {
    fn new(server: Skillcell, guard: Guard, ended: CancellationToken) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(BODY_BYTES)
            .with_allowed_hosts(guard.hosts())
            .with_allowed_origins(guard.origins())
            .with_cancellation_token(ended.child_token());
        let mcp = StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config);
        let (requests, trespasses) = (Limiter::new(REQUESTS), Limiter::new(TRESPASSES));
        Self { guard, requests, trespasses, mcp, ended }
    }

    fn admit(&self, peer: IpAddr, head: &Parts) -> Result<(), Refusal> {
        let now = Instant::now();
        if !self.requests.take(peer, now) {
            return Err(Refusal::TooMany);
        }
        self.guard.check(head).map_err(|refusal| {
            if !refusal.is_trespass() {
                return refusal;
            }
            if !self.trespasses.take(peer, now) {
                return Refusal::TooMany;
            }
            tracing::warn!("refused a request of {peer}: {}", refusal.sentence());
            refusal
        })
    }

    async fn ask(&self, mut head: Parts, body: Incoming) -> Result<Answer, Refusal> {
        // Whatever rmcp logs of a request, the token is not in it.
        head.headers.remove(AUTHORIZATION);
        let is_json =
            head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let body = read(body).await?;
        if let Some((id, error)) = paging::wrong_cursor(&body) {
            return Ok(json_rpc(StatusCode::OK, Some(&id), &error));
        }
        let begins = begins_session(&body);
        let mut answer = self.mcp.handle(Request::from_parts(head, Full::new(body.clone()))).await;
        // rmcp says the same of a body that is not JSON and of one that is no message.
        if is_json && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            return Ok(not_understood(&body));
        }
        if begins && let Some(session) = session() {
            answer.headers_mut().insert(SESSION, session);
        }
        Ok(answer)
    }
}

impl listening::Door for Door {
    async fn answer(&self, peer: IpAddr, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        if let Err(refusal) = self.admit(peer, &head) {
            return refusal.response();
        }
        tokio::select! {
            // First, so that rmcp does not complain about requests without an answer.
            biased;
            () = self.ended.cancelled() => Refusal::Ending.response(),
            answer = self.ask(head, body) => answer.unwrap_or_else(Refusal::response),
        }
    }
}

/// Whether a client of the era with sessions shakes hands.
fn begins_session(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Asked<'body> {
        #[serde(borrow)]
        method: std::borrow::Cow<'body, str>,
    }
    serde_json::from_slice(body).is_ok_and(|asked: Asked<'_>| asked.method == "initialize")
}

/// The name of a session, which such a client expects. Nothing is kept under it, and every request stands alone.
fn session() -> Option<HeaderValue> {
    let mut bytes = [0; 16];
    private::fill(&mut bytes).ok()?;
    HeaderValue::from_str(&hex(&bytes)).ok()
}

/// The whole body, as long as it is not too large.
async fn read(body: Incoming) -> Result<Bytes, Refusal> {
    if body.size_hint().lower() > BODY_BYTES as u64 {
        return Err(Refusal::TooLarge);
    }
    match tokio::time::timeout(BODY_TIME, Limited::new(body, BODY_BYTES).collect()).await {
        Err(_) => Err(Refusal::Slow),
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::TooLarge),
        Ok(Err(_)) => Err(Refusal::Broken),
    }
}

/// The answer of JSON-RPC to a body that is no message of it.
fn not_understood(body: &[u8]) -> Answer {
    let (id, error) = match serde_json::from_slice::<Value>(body) {
        Err(error) => (None, ErrorData::parse_error(format!("not JSON: {error}"), None)),
        Ok(value) => {
            let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
            (id, ErrorData::invalid_request("the body must be one message of JSON-RPC 2.0", None))
        }
    };
    json_rpc(StatusCode::BAD_REQUEST, id.as_ref(), &error)
}

fn json_rpc(status: StatusCode, id: Option<&RequestId>, error: &ErrorData) -> Answer {
    let message = json!({"jsonrpc": "2.0", "id": id, "error": error});
    let mut answer = Response::new(Full::from(message.to_string()).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
