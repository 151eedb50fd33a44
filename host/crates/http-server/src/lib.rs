//! An HTTP/1 server on a socket of this machine, shared by MCP over HTTP and by `skillcell ui`.
//!
//! Owns connections: how many there are, how long each may take, how they end, and which one is closed when there are too
//! many; also the checks of the `Host` header and of the bearer token. Must not know MCP, skills or what a response means: a
//! [`Handler`] decides who is admitted and answers.
//!
//! Start reading with [`serve`], then [`hosts`] and [`token`], which handlers call before anything else.

pub mod hosts;
mod pending;
mod write_timeout;
pub mod token;

pub use pending::network;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use pending::{Pending, PendingConnection};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use wasmtime_wasi_http::io::TokioIo;
use write_timeout::WriteTimeout;

/// Maximum size of a request head. Real ones have less than one kilobyte.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// Timeout for a request head, and so for the next request on an idle connection: reconnecting is cheap.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client may leave a response unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of concurrent connections. A client has one that listens for notifications and a few for requests. A new
/// connection replaces one without an admitted request; if there is none, it waits.
pub const MAX_CONNECTIONS: usize = 512;

/// Maximum number of evicted connections that are not closed yet.
const MAX_CLOSING: usize = 64;

/// Connections that the kernel completes before they are accepted. If there are more, clients retry after a second.
const BACKLOG: u32 = 4096;

/// How often an operator is told that connections are replaced.
const WARNING_INTERVAL: Duration = Duration::from_mins(1);

/// Pause after a failed accept without a connection to evict.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

pub type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

pub fn response(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> HttpResponse {
    let mut response = Response::new(Full::new(body.into()).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Admits and answers requests. All connections share one.
pub trait Handler: Send + Sync + 'static {
    /// Returns the response to a request that is not admitted, by its head alone. The connection is closed after it.
    fn refuse(&self, peer: IpAddr, head: &Parts) -> Option<HttpResponse>;

    /// Answers an admitted request.
    fn answer(&self, head: Parts, body: Incoming) -> impl Future<Output = HttpResponse> + Send;
}

/// Listens at an address of this machine.
pub fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // As `TcpListener::bind` does, so that a server can be restarted at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts connections until `ended` is cancelled, then gives open ones `grace_period` to finish.
pub async fn serve(
    listener: TcpListener,
    handler: Arc<impl Handler>,
    ended: CancellationToken,
    grace_period: Duration,
) {
    serve_within(LIMITS, listener, handler, ended, grace_period).await;
}

#[derive(Clone, Copy)]
struct Limits {
    connections: usize,
    head_timeout: Duration,
}

const LIMITS: Limits = Limits { connections: MAX_CONNECTIONS, head_timeout: HEAD_TIMEOUT };

async fn serve_within(
    limits: Limits,
    listener: TcpListener,
    handler: Arc<impl Handler>,
    ended: CancellationToken,
    grace_period: Duration,
) {
    let mut places = Places { limit: limits.connections, ..Places::default() };
    while let Some((stream, peer)) = accept(&listener, &mut places, &ended).await {
        let serving = async {
            places.make_room().await;
            let pending = places.pending.add(peer.ip());
            let (handler, ended) = (Arc::clone(&handler), ended.clone());
            places.connections.spawn(serve_connection(limits, handler, stream, peer.ip(), pending, ended));
        };
        if ended.run_until_cancelled(serving).await.is_none() {
            break;
        }
    }
    drop(listener);
    let all_closed = async { while places.connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(grace_period, all_closed).await;
}

/// The open connections.
#[derive(Default)]
struct Places {
    limit: usize,
    connections: JoinSet<()>,
    pending: Arc<Pending>,
    last_warning: Option<Instant>,
}

impl Places {
    /// Waits until there are fewer connections than the limit, and evicts pending ones until then. The place of an evicted
    /// one is free at once, so that accepting is not slower than connecting; a few may still have to close.
    async fn make_room(&mut self) {
        while self.connections.try_join_next().is_some() {}
        while self.connections.len() >= self.limit {
            if self.evict() && self.connections.len() < self.limit + MAX_CLOSING {
                return;
            }
            self.one_closed().await;
        }
    }

    /// Returns whether there was a pending connection.
    fn evict(&mut self) -> bool {
        let is_evicted = self.pending.evict();
        if is_evicted && self.last_warning.is_none_or(|last| last.elapsed() >= WARNING_INTERVAL) {
            self.last_warning = Some(Instant::now());
            tracing::warn!("too many connections: those that have sent no valid request are closed, the oldest first");
        }
        is_evicted
    }

    /// Waits until a connection is closed, or the evicted one turns out to have a request.
    async fn one_closed(&mut self) {
        tokio::select! {
            _ = self.connections.join_next() => {}
            () = self.pending.survived.notified() => {}
        }
    }
}

/// Waits for the next connection. Returns `None` when the server ends.
async fn accept(
    listener: &TcpListener,
    places: &mut Places,
    ended: &CancellationToken,
) -> Option<(TcpStream, SocketAddr)> {
    loop {
        match ended.run_until_cancelled(listener.accept()).await? {
            Ok(accepted) => return Some(accepted),
            // The usual cause is too many open files.
            Err(_) if places.evict() => places.one_closed().await,
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                let _ = tokio::time::timeout(ACCEPT_RETRY_DELAY, ended.cancelled()).await;
            }
        }
    }
}

/// Serves the requests of one connection until the client disconnects, another connection needs its place, or the server
/// ends.
async fn serve_connection(
    limits: Limits,
    handler: Arc<impl Handler>,
    stream: TcpStream,
    peer: IpAddr,
    pending: PendingConnection,
    ended: CancellationToken,
) {
    // A response is written at once, so waiting to fill a packet only delays it.
    let _ = stream.set_nodelay(true);
    let PendingConnection { mut evicted, place } = pending;
    let is_admitted = AtomicBool::new(false);
    let service = service_fn(|request: Request<Incoming>| {
        let (head, body) = request.into_parts();
        let refusal = handler.refuse(peer, &head);
        if refusal.is_none() && !is_admitted.swap(true, Ordering::Relaxed) {
            place.admit();
        }
        let handler = Arc::clone(&handler);
        async move {
            Ok::<_, Infallible>(match refusal {
                Some(refusal) => closing(refusal),
                None => handler.answer(head, body).await,
            })
        }
    });
    let connection = http1::Builder::new()
        .timer(Timer)
        .header_read_timeout(limits.head_timeout)
        .max_header_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)), service);
    tokio::pin!(connection);
    let mut is_evicted = false;
    let served = loop {
        tokio::select! {
            // First, so that a request that has arrived is seen before the connection is evicted.
            biased;
            served = connection.as_mut() => break served,
            () = ended.cancelled() => {
                // Before the first request there is nothing to finish, and hyper would wait for the rest of its head.
                if !is_admitted.load(Ordering::Relaxed) {
                    return;
                }
                connection.as_mut().graceful_shutdown();
                break connection.await;
            }
            _ = &mut evicted, if !is_evicted => is_evicted = true,
        }
        if is_evicted && !is_admitted.load(Ordering::Relaxed) {
            return;
        }
    };
    if let Err(error) = served {
        tracing::debug!("connection failed: {error}");
    }
}

/// Closes the connection after a response: places are limited.
fn closing(mut response: HttpResponse) -> HttpResponse {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// hyper's timer, with tokio's clock.
#[derive(Debug, Clone, Copy)]
struct Timer;

impl hyper::rt::Timer for Timer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(Sleep(Box::pin(tokio::time::sleep_until(deadline.into()))))
    }
}

struct Sleep(Pin<Box<tokio::time::Sleep>>);

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl hyper::rt::Sleep for Sleep {}

#[cfg(test)]
mod tests;
