//! A page for people: the catalog, one skill as a model gets it, how a task is ranked, the grants, the audit trail, what was
//! used. It only reads: nothing runs, nothing is counted, and nobody outside is asked.
//!
//! The address carries the token. [`guard`] lets in whoever has it, [`bundle`] is the page itself, and each kind of answer that
//! the page asks for has a file of its own.

mod answer;
mod audit;
mod bundle;
mod catalog;
mod grants;
mod guard;
mod rank;
mod skill;
mod usage;

use crate::catalog::{AskError, Catalog};
use crate::config::Config;
use crate::library::roots::SkillRoot;
use crate::listening::token::{Token, TokenProblem};
use crate::listening::{self, Answer};
use crate::sandbox::runtimes::Cache;
use crate::scorers::panel::Panel;
use answer::{failed, guarded, json, redirected};
use guard::{Guard, Refusal};
use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// At the end, answers that are being written have this long.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// What the page shows.
pub struct Shown {
    catalog: Catalog,
    config: Arc<Config>,
    roots: Arc<[SkillRoot]>,
    /// Where compiled scorers are kept.
    cache: Option<Arc<Cache>>,
    /// The scorers that were asked last.
    panel: tokio::sync::Mutex<Option<Arc<Panel>>>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum UiProblem {
    #[error("cannot listen on {address}: {reason}\nhint: leave `--port` out for a port that is free")]
    Taken { address: SocketAddr, reason: std::io::Error },
    #[error(transparent)]
    Token(#[from] TokenProblem),
}

/// Answers on a port of this machine until the server ends. Whoever starts it is told the address.
pub async fn serve(
    shown: Shown,
    port: u16,
    tell: impl FnOnce(&str),
    ended: CancellationToken,
) -> Result<(), UiProblem> {
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let taken = |reason| UiProblem::Taken { address, reason };
    let listener = TcpListener::bind(address).await.map_err(taken)?;
    let address = listener.local_addr().map_err(taken)?;
    let (token, text) = Token::fresh()?;
    let door = Door { guard: Guard::new(token, address), shown, ended: ended.clone() };
    tell(&format!("http://{address}/{text}/"));
    listening::listen(listener, Arc::new(door), ended, LAST_ANSWERS).await;
    Ok(())
}

struct Door {
    guard: Guard,
    shown: Shown,
    ended: CancellationToken,
}

impl listening::Door for Door {
    async fn answer(&self, _: IpAddr, request: Request<Incoming>) -> Answer {
        let (head, _) = request.into_parts();
        let answered = match self.guard.admit(&head) {
            Err(refusal) => Err(refusal),
            Ok(None) => Ok(redirected(head.uri.path())),
            Ok(Some(path)) => tokio::select! {
                biased;
                () = self.ended.cancelled() => Ok(failed(StatusCode::SERVICE_UNAVAILABLE, "the server is about to end")),
                answered = self.shown.answer(path, head.uri.query().unwrap_or_default()) => answered,
            },
        };
        guarded(answered.unwrap_or_else(Refusal::answer))
    }
}

impl Shown {
    pub fn new(catalog: Catalog, config: Arc<Config>, roots: Arc<[SkillRoot]>, cache: Option<Arc<Cache>>) -> Self {
        Self { catalog, config, roots, cache, panel: tokio::sync::Mutex::default() }
    }

    async fn answer(&self, path: &str, query: &str) -> Result<Answer, Refusal> {
        let answered = match path {
            "api/catalog" => catalog::catalog(self).await.map(|view| json(&view)),
            "api/skill" => skill::skill(self, query).await,
            "api/rank" => rank::rank(self, query).await,
            "api/grants" => grants::grants(self).await.map(|view| json(&view)),
            "api/audit" => Ok(audit::audit(self, query).await),
            "api/usage" => Ok(usage::usage(self).await),
            file => return bundle::file(file).ok_or(Refusal::Nothing),
        };
        Ok(answered.unwrap_or_else(|error: AskError| failed(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())))
    }
}
