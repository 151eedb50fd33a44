//! HTTP on a socket of this machine: how many connections there may be, how long each may take, and how they end. Who may ask,
//! and what is answered, is for others to say.

pub mod hosts;
mod patient;
mod timer;
pub mod token;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use patient::Patient;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use timer::Timer;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use wasmtime_wasi_http::io::TokioIo;

/// Largest head, in bytes. Real ones have less than one kilobyte.
const HEAD_BYTES: usize = 16 << 10;

/// Longest wait for a head, and so also for the next request on an idle connection. Clients open a new one at no cost, and
/// whoever has no token holds a place no longer than this.
const HEAD_TIME: Duration = Duration::from_secs(5);

/// Longest that a client may leave unread what it asked for.
const WRITE_TIME: Duration = Duration::from_secs(30);

/// Most connections at once. Others wait in the kernel until one ends. A client has one that listens and a few that ask.
const CONNECTIONS: usize = 512;

/// Until the next try after no connection could be accepted. Usually there are too many open files.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What all connections share: the checks, and what is behind them.
pub trait Door: Send + Sync + 'static {
    fn answer(&self, peer: IpAddr, request: Request<Incoming>) -> impl Future<Output = Answer> + Send;
}

/// Answers until the server ends. Then open connections have `last_answers` to end as well.
pub async fn listen(listener: TcpListener, door: Arc<impl Door>, ended: CancellationToken, last_answers: Duration) {
    let mut connections = JoinSet::new();
    while let Some((stream, peer)) = accept(&listener, &mut connections, &ended).await {
        connections.spawn(converse(Arc::clone(&door), stream, peer.ip(), ended.clone()));
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(last_answers, all).await;
}

/// The next connection, as soon as there is a place for it. None at the end of the server.
async fn accept(
    listener: &TcpListener,
    connections: &mut JoinSet<()>,
    ended: &CancellationToken,
) -> Option<(TcpStream, SocketAddr)> {
    loop {
        while connections.try_join_next().is_some() {}
        let accepted = tokio::select! {
            () = ended.cancelled() => return None,
            Some(_) = connections.join_next(), if connections.len() >= CONNECTIONS => continue,
            accepted = listener.accept(), if connections.len() < CONNECTIONS => accepted,
        };
        match accepted {
            Ok(accepted) => return Some(accepted),
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                let _ = tokio::time::timeout(ACCEPT_AGAIN, ended.cancelled()).await;
            }
        }
    }
}

/// Answers one request after the other, until the client goes away or the server ends.
async fn converse(door: Arc<impl Door>, stream: TcpStream, peer: IpAddr, ended: CancellationToken) {
    // An answer is written at once, and waiting to fill a packet only delays it.
    let _ = stream.set_nodelay(true);
    let asked = AtomicBool::new(false);
    let answer = service_fn(|request| {
        asked.store(true, Ordering::Relaxed);
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(peer, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(Timer)
        .header_read_timeout(HEAD_TIME)
        .max_header_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(Patient::new(stream, WRITE_TIME)), answer);
    tokio::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = ended.cancelled() => {
            // Nobody waits for an answer, and hyper would wait for the rest of a first head.
            if !asked.load(Ordering::Relaxed) {
                return;
            }
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!("a connection broke: {error}");
    }
}
