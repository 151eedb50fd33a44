//! The server of `skillcell ui`: a page with the catalog and its problems, single skills, the ranking of a task, the grants, the
//! audit trail and the usage. It is read-only: nothing runs, nothing is counted, and no service is queried.
//!
//! The address contains the token, which [`guard`] checks. [`bundle`] has the files of the page; each other module is one
//! endpoint of its API.

mod audit;
mod bundle;
mod catalog;
mod grants;
mod guard;
mod problems;
mod rank;
mod response;
mod script_counts;
mod skill;
mod usage;

use crate::config::Config;
use ::catalog::scorers::panel::Panel;
use ::catalog::{AskError, Catalog};
use guard::{Guard, below_token, refusal};
use guests::cache::Cache;
use http_server::HttpResponse;
use http_server::token::Token;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use library::roots::SkillRoot;
use response::{failure, json, redirect, with_security_headers};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long the shutdown waits for responses that are being written.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(500);

/// What the endpoints of the API read.
pub struct UiState {
    pub catalog: Catalog,
    pub config: Arc<Config>,
    pub roots: Arc<[SkillRoot]>,
    /// Compiled scorers.
    pub cache: Option<Arc<Cache>>,
    /// The scorers of the last request.
    pub panel: tokio::sync::Mutex<Option<Arc<Panel>>>,
}

/// Serves the page on a local port until `shutdown`. Passes the address to `announce`.
pub async fn serve(
    state: UiState,
    port: u16,
    announce: impl FnOnce(&str),
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let listen_failed = |reason: std::io::Error| {
        anyhow::anyhow!("cannot listen on {address}: {reason}\nhint: omit `--port` to use a free port")
    };
    let listener = http_server::listen(address).map_err(listen_failed)?;
    let address = listener.local_addr().map_err(listen_failed)?;
    let (token, text) = Token::generate()?;
    let handler = Handler { guard: Guard::new(token, address), state, shutdown: shutdown.clone() };
    announce(&format!("http://{address}/{text}/"));
    http_server::serve(listener, Arc::new(handler), shutdown, SHUTDOWN_GRACE).await;
    Ok(())
}

struct Handler {
    guard: Guard,
    state: UiState,
    shutdown: CancellationToken,
}

impl http_server::Handler for Handler {
    fn refuse(&self, _: IpAddr, head: &Parts) -> Option<HttpResponse> {
        self.guard.check(head).err().map(|status| with_security_headers(refusal(status)))
    }

    async fn answer(&self, head: Parts, _: Incoming) -> HttpResponse {
        let response = match below_token(head.uri.path()) {
            None => Ok(redirect(head.uri.path())),
            Some(path) => tokio::select! {
                biased;
                () = self.shutdown.cancelled() => Ok(failure(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down")),
                response = self.state.respond(path, head.uri.query().unwrap_or_default()) => response,
            },
        };
        with_security_headers(response.unwrap_or_else(refusal))
    }
}

impl UiState {
    async fn respond(&self, path: &str, query: &str) -> Result<HttpResponse, StatusCode> {
        let response = match path {
            "api/catalog" => catalog::catalog(self).await.map(|view| json(&view)),
            "api/problems" => problems::problems(self).await.map(|view| json(&view)),
            "api/scripts" => script_counts::script_counts(self).await.map(|view| json(&view)),
            "api/skill" => skill::skill(self, query).await,
            "api/rank" => rank::rank(self, query).await,
            "api/grants" => grants::grants(self).await.map(|view| json(&view)),
            "api/audit" => Ok(audit::audit(self, query).await),
            "api/usage" => Ok(usage::usage(self).await),
            file => return bundle::file(file).ok_or(StatusCode::NOT_FOUND),
        };
        Ok(response.unwrap_or_else(|error: AskError| failure(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())))
    }
}
