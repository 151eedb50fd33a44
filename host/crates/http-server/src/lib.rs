//! An HTTP/1 server on a socket of this machine, shared by MCP over HTTP and by `skillcell ui`.
//!
//! Owns connections: how many there are, how long each may take and how they end; also the checks of the `Host` header and
//! of the bearer token. Must not know MCP, skills or what a response means: a [`Handler`] decides who is admitted and
//! answers.
//!
//! Start reading with [`serve`], then [`hosts`] and [`token`], which handlers call before anything else.

pub mod hosts;
mod write_timeout;
pub mod token;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use wasmtime_wasi_http::io::TokioIo;
use write_timeout::WriteTimeout;

/// Maximum size of a request head. Real ones have less than one kilobyte.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// Timeout for a request head, and so for the next request on an idle connection: a client without a token does not occupy
/// a connection for longer, and reconnecting is cheap.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a client may leave a response unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of concurrent connections; more wait in the kernel's backlog. A client has one that listens for
/// notifications and a few for requests.
const MAX_CONNECTIONS: usize = 512;

/// Pause after a failed accept, which usually means too many open files.
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
    fn handle(&self, peer: IpAddr, request: Request<Incoming>) -> impl Future<Output = HttpResponse> + Send;
}

/// Accepts connections until `ended` is cancelled, then gives open ones `grace_period` to finish.
pub async fn serve(
    listener: TcpListener,
    handler: Arc<impl Handler>,
    ended: CancellationToken,
    grace_period: Duration,
) {
    let mut connections = JoinSet::new();
    while let Some((stream, peer)) = accept(&listener, &mut connections, &ended).await {
        connections.spawn(serve_connection(Arc::clone(&handler), stream, peer.ip(), ended.clone()));
    }
    drop(listener);
    let all_closed = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(grace_period, all_closed).await;
}

/// Waits for a free slot and the next connection. Returns `None` when the server ends.
async fn accept(
    listener: &TcpListener,
    connections: &mut JoinSet<()>,
    ended: &CancellationToken,
) -> Option<(TcpStream, SocketAddr)> {
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = tokio::select! {
            () = ended.cancelled() => return None,
            Some(_) = connections.join_next(), if connections.len() >= MAX_CONNECTIONS => continue,
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => accepted,
        };
        match accepted {
            Ok(accepted) => return Some(accepted),
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                let _ = tokio::time::timeout(ACCEPT_RETRY_DELAY, ended.cancelled()).await;
            }
        }
    }
}

/// Serves the requests of one connection until the client disconnects or the server ends.
async fn serve_connection(handler: Arc<impl Handler>, stream: TcpStream, peer: IpAddr, ended: CancellationToken) {
    // A response is written at once, so waiting to fill a packet only delays it.
    let _ = stream.set_nodelay(true);
    let has_request = AtomicBool::new(false);
    let service = service_fn(|request| {
        has_request.store(true, Ordering::Relaxed);
        let handler = Arc::clone(&handler);
        async move { Ok::<_, Infallible>(handler.handle(peer, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(Timer)
        .header_read_timeout(HEAD_TIMEOUT)
        .max_header_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)), service);
    tokio::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = ended.cancelled() => {
            // Before the first request there is nothing to finish, and hyper would wait for the rest of its head.
            if !has_request.load(Ordering::Relaxed) {
                return;
            }
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!("connection failed: {error}");
    }
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
