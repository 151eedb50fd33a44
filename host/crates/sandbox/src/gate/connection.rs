//! One connection per request, to an address that was checked. TLS verifies the identity of the host.

use super::{GateResponse, Target};
use crate::hosts::without_brackets;
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

/// A guest can only shorten it.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// For the start of a response to a script.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);

/// Trusts these certificates in addition to those that browsers trust. Invalid ones are ignored.
pub fn tls_connector(certificates: &[CertificateDer<'static>]) -> TlsConnector {
    static DEFAULT: LazyLock<TlsConnector> = LazyLock::new(|| connector(&[]));
    if certificates.is_empty() { DEFAULT.clone() } else { connector(certificates) }
}

fn connector(certificates: &[CertificateDer<'static>]) -> TlsConnector {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
    roots.add_parsable_certificates(certificates.iter().cloned());
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

/// Sends a request to the first of these addresses that accepts a connection.
pub async fn send(
    target: &Target,
    addresses: &[SocketAddr],
    tls: &TlsConnector,
    request: Request<WasiBody>,
    options: RequestOptions,
) -> Result<GateResponse, Error> {
    let connect_timeout = options.connect_timeout.unwrap_or(CONNECT_TIMEOUT).min(CONNECT_TIMEOUT);
    let connected = tokio::time::timeout(connect_timeout, TcpStream::connect(addresses)).await;
    let stream = connected.map_err(|_| Error::ConnectionTimeout)?.map_err(Error::Connect)?;
    let response_timeout = options.first_byte_timeout.unwrap_or(RESPONSE_TIMEOUT);
    if !target.secure {
        return send_over(stream, request, response_timeout).await;
    }
    let name =
        ServerName::try_from(without_brackets(&target.host).to_owned()).map_err(|_| Error::HttpRequestUriInvalid)?;
    let handshake = tokio::time::timeout(connect_timeout, tls.connect(name, stream)).await;
    let stream = handshake.map_err(|_| Error::ConnectionTimeout)?.map_err(tls_error)?;
    send_over(stream, request, response_timeout).await
}

fn tls_error(error: io::Error) -> Error {
    let reason = error.get_ref().and_then(|reason| reason.downcast_ref());
    match reason {
        Some(rustls::Error::InvalidCertificate(reason)) => {
            tracing::debug!("a certificate is not trusted: {reason:?}");
            Error::TlsCertificateError
        }
        _ => Error::Tls(error),
    }
}

/// Tells a lost connection from an invalid response.
fn response_error(error: hyper::Error) -> Error {
    let is_connection_lost = || error.source().is_some_and(<dyn std::error::Error>::is::<io::Error>);
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() || is_connection_lost() {
        return Error::ConnectionTerminated;
    }
    Error::Hyper(error)
}

/// Sends a request over a connection and waits for the start of the response.
async fn send_over<S>(stream: S, request: Request<WasiBody>, timeout: Duration) -> Result<GateResponse, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // The connection must be driven while the response is awaited; it ends with the task that reads the body.
    let driver = wasmtime_wasi::runtime::spawn(async move {
        let _ = connection.await;
    });
    let response = tokio::time::timeout(timeout, sender.send_request(request)).await;
    let response = response.map_err(|_| Error::HttpResponseTimeout)?.map_err(response_error)?;
    let response = response.map(|body| body.map_err(Error::from).boxed_unsync());
    let end = async move {
        driver.await;
        Ok(())
    };
    Ok((response, Box::new(end)))
}
