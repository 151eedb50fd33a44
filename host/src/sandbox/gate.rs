//! The only way out for a guest: HTTP to hosts that were granted, at the address that was checked.

use crate::grants::hosts::{HostPattern, Reach, bare, is_public, reach};
use crate::sandbox::denials::Denials;
use http_body_util::BodyExt as _;
use hyper::client::conn::http1;
use hyper::http::uri::Scheme;
use hyper::{Request, Response, Uri};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

/// Longest wait for a connection. A script's own limit of time comes on top.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Longest wait for an answer to begin.
const ANSWER_TIME: Duration = Duration::from_mins(1);

static TLS: LazyLock<TlsConnector> = LazyLock::new(|| {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.into() };
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    TlsConnector::from(Arc::new(config))
});

/// Names are looked up on threads that requests need too, and a slow answer keeps one.
static LOOKUPS: Semaphore = Semaphore::const_new(2);

/// Lets requests through to granted hosts.
#[derive(Debug, Clone)]
pub struct Gate {
    hosts: Arc<[HostPattern]>,
    denials: Denials,
}

type Answered = (Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>);

impl Gate {
    pub fn new(hosts: &[HostPattern], denials: Denials) -> Self {
        Self { hosts: hosts.into(), denials }
    }

    async fn send(self, mut request: Request<WasiBody>, options: RequestOptions) -> Result<Answered, Error> {
        let uri = request.uri();
        let is_secure = uri.scheme() == Some(&Scheme::HTTPS);
        let host = uri.host().ok_or(Error::HttpRequestUriInvalid)?.to_owned();
        let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let address = self.address(&host, port).await?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::HttpRequestUriInvalid)?;

        let time = options.connect_timeout.unwrap_or(CONNECT_TIME).min(CONNECT_TIME);
        let connecting = tokio::time::timeout(time, TcpStream::connect(address)).await;
        let stream = connecting.map_err(|_| Error::ConnectionTimeout)?.map_err(Error::Connect)?;
        let answer_time = options.first_byte_timeout.unwrap_or(ANSWER_TIME).min(ANSWER_TIME);
        if is_secure {
            let name = ServerName::try_from(bare(&host).to_owned()).map_err(|_| Error::HttpRequestUriInvalid)?;
            let securing = tokio::time::timeout(time, TLS.connect(name, stream)).await;
            let stream = securing.map_err(|_| Error::ConnectionTimeout)?.map_err(Error::Tls)?;
            exchange(stream, request, answer_time).await
        } else {
            exchange(stream, request, answer_time).await
        }
    }

    /// Looks the host up once. The connection then goes to the address that was checked, whatever the name means later.
    async fn address(&self, host: &str, port: u16) -> Result<SocketAddr, Error> {
        let reach = reach(&self.hosts, host, port);
        if reach == Reach::Refused {
            self.denials.note(format!("connect to `{host}:{port}`: this host is not granted"));
            return Err(Error::HttpRequestDenied);
        }
        let _turn = LOOKUPS.acquire().await;
        let found = tokio::time::timeout(CONNECT_TIME, tokio::net::lookup_host((bare(host), port))).await;
        let unknown = |_| Error::DnsError { rcode: Some("not found".to_owned()), info_code: None };
        let mut found = found.map_err(|_| Error::DnsTimeout)?.map_err(unknown)?.peekable();
        if found.peek().is_none() {
            return Err(Error::DestinationNotFound);
        }
        found.find(|address| reach == Reach::Private || is_public(address.ip())).ok_or_else(|| {
            self.denials.note(format!(
                "connect to `{host}:{port}`: its address is private, and the grant does not say `private:{host}`"
            ));
            Error::DestinationIpProhibited
        })
    }
}

/// Sends a request over a connection and waits for the beginning of its answer.
async fn exchange<S>(stream: S, request: Request<WasiBody>, time: Duration) -> Result<Answered, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // The connection has to be driven while its answer is awaited; it ends with the task that reads the body.
    let driving = wasmtime_wasi::runtime::spawn(async move {
        let _ = connection.await;
    });
    let answer = tokio::time::timeout(time, sender.send_request(request)).await;
    let answer = answer.map_err(|_| Error::HttpResponseTimeout)??;
    let answer = answer.map(|body| body.map_err(Error::from).boxed_unsync());
    let end = async move {
        driving.await;
        Ok(())
    };
    Ok((answer, Box::new(end)))
}

impl WasiHttpHooks for Gate {
    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _processed: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<Answered, Error>> + Send> {
        Box::new(self.clone().send(request, options.unwrap_or_default()))
    }
}
