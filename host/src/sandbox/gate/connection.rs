//! One connection for one request: to an address that was checked, and to nobody who pretends to be the host.

use super::{Answered, Target};
use crate::grants::hosts::bare;
use http_body_util::BodyExt as _;
use hyper::Request;
use hyper::client::conn::http1;
use std::error::Error as _;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

/// Longest wait for a connection. A guest's own limit of time comes on top.
pub const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Longest wait for an answer to begin, for scripts.
pub const ANSWER_TIME: Duration = Duration::from_mins(1);

static USUAL: LazyLock<TlsConnector> = LazyLock::new(|| connector(&[]));

/// Trusts whom browsers trust.
pub fn usual() -> TlsConnector {
    USUAL.clone()
}

/// Trusts these as well. One that cannot be used is left out.
pub fn trusting(certificates: &[CertificateDer<'static>]) -> TlsConnector {
    if certificates.is_empty() { usual() } else { connector(certificates) }
}

fn connector(certificates: &[CertificateDer<'static>]) -> TlsConnector {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
    roots.add_parsable_certificates(certificates.iter().cloned());
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

/// Sends a request to the first of these addresses that takes a connection.
pub async fn exchange(
    target: &Target,
    addresses: &[SocketAddr],
    tls: &TlsConnector,
    request: Request<WasiBody>,
    options: RequestOptions,
) -> Result<Answered, Error> {
    let time = options.connect_timeout.unwrap_or(CONNECT_TIME).min(CONNECT_TIME);
    let connecting = tokio::time::timeout(time, TcpStream::connect(addresses)).await;
    let stream = connecting.map_err(|_| Error::ConnectionTimeout)?.map_err(Error::Connect)?;
    let answer_time = options.first_byte_timeout.unwrap_or(ANSWER_TIME);
    if !target.secure {
        return answer(stream, request, answer_time).await;
    }
    let name = ServerName::try_from(bare(&target.host).to_owned()).map_err(|_| Error::HttpRequestUriInvalid)?;
    let securing = tokio::time::timeout(time, tls.connect(name, stream)).await;
    let stream = securing.map_err(|_| Error::ConnectionTimeout)?.map_err(not_secured)?;
    answer(stream, request, answer_time).await
}

fn not_secured(error: io::Error) -> Error {
    let reason = error.get_ref().and_then(|reason| reason.downcast_ref());
    match reason {
        Some(rustls::Error::InvalidCertificate(wrong)) => {
            tracing::debug!("a certificate is not trusted: {wrong:?}");
            Error::TlsCertificateError
        }
        _ => Error::Tls(error),
    }
}

/// A connection that ended is something else than an answer that is none.
fn no_answer(error: hyper::Error) -> Error {
    let is_lost = || error.source().is_some_and(<dyn std::error::Error>::is::<io::Error>);
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() || is_lost() {
        return Error::ConnectionTerminated;
    }
    Error::Hyper(error)
}

/// Sends a request over a connection and waits for the beginning of its answer.
async fn answer<S>(stream: S, request: Request<WasiBody>, time: Duration) -> Result<Answered, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // The connection has to be driven while its answer is awaited; it ends with the task that reads the body.
    let driving = wasmtime_wasi::runtime::spawn(async move {
        let _ = connection.await;
    });
    let answer = tokio::time::timeout(time, sender.send_request(request)).await;
    let answer = answer.map_err(|_| Error::HttpResponseTimeout)?.map_err(no_answer)?;
    let answer = answer.map(|body| body.map_err(Error::from).boxed_unsync());
    let end = async move {
        driving.await;
        Ok(())
    };
    Ok((answer, Box::new(end)))
}
