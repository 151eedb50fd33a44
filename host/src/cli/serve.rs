//! `skillcell serve`: the MCP server on standard input and output, or over HTTP.

pub mod start;

use super::open::{self, Opened};
use super::{Http, Serve};
use crate::analytics::Usage;
use crate::catalog::Look;
use crate::config::{self, Config, Told};
use crate::git;
use crate::library::watch::Watcher;
use crate::lockdown;
use crate::mcp::http;
use crate::mcp::http::config::{HttpConfig, HttpProblem};
use crate::mcp::notifications;
use crate::mcp::requests::Cancellations;
use crate::mcp::server::{Reach, Skillcell};
use crate::mcp::transport::Stdio;
use crate::memory;
use anyhow::Context as _;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::BufReader;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Two engines answer, two changes come in, the rest is files. More threads only cost memory.
const BLOCKING_THREADS: usize = 8;

/// More than anybody needs, and far from what a kernel has.
const MOST_OPEN_FILES: u64 = 16_384;

pub fn run(arguments: Serve) -> anyhow::Result<ExitCode> {
    let (told, http) = arguments.told();
    let http = over_http(http)?;
    let mut config = config::resolve(told)?;
    git::ask_credential_helper(&mut config.git);
    // Before the first thread, so that it holds for all of them.
    lockdown::forbid_programs()?;
    memory::keep_together();
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let outcome = runtime.block_on(serve(config, http));
    // The thread that reads standard input cannot be woken.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

impl Serve {
    /// What it says about the configuration, and about HTTP.
    fn told(self) -> (Told, Http) {
        let Self { folders, more, engine, scorer, profile, tools, frozen, http } = self;
        let more = more.told();
        let folders = folders.into_iter().chain(more.folders).collect();
        (Told { profile, tools, folders, frozen, engine, scorer, ..more }, http)
    }
}

async fn serve(config: Config, http: Option<HttpConfig>) -> anyhow::Result<()> {
    let ended = CancellationToken::new();
    end_on_signals(ended.clone())?;
    // Compiling an engine takes a while, and a signal must be noticed meanwhile.
    let opened = tokio::select! {
        opened = tokio::task::spawn_blocking(move || open::open(config)) => opened?,
        () = ended.cancelled() => return Ok(()),
    };
    let Opened { catalog, config, terms, scripts, integrations } = opened?;
    let cancellations = Cancellations::new(ended.clone());
    let reach = if http.is_some() { Reach::Http } else { Reach::Stdio };
    let usage = Usage::open(&config);
    let server = Skillcell::new(catalog, config, terms, scripts, integrations, reach, cancellations.clone());
    let server = server.with_usage(usage);
    if server.config.frozen {
        freeze(&server);
    } else {
        keep_fresh(&server, ended.clone());
    }
    tokio::spawn(server.catalog.clone().keep_scoring());
    let (scripts, integrations) = (server.scripts.clone(), server.integrations.clone());
    let Some(http) = http else {
        let (input, output) = (BufReader::new(std::io::stdin()), std::io::stdout());
        let (transport, writing) = Stdio::start(input, output, ended.clone(), cancellations)?;
        Box::pin(converse(server, transport, &ended)).await;
        tracing::info!("shutting down");
        tokio::join!(scripts.ended(), integrations.ended());
        writing.finish().await;
        return Ok(());
    };
    http::serve(server, http, ended).await?;
    tracing::info!("shutting down");
    tokio::join!(scripts.ended(), integrations.ended());
    Ok(())
}

/// How the server is reached over HTTP, if it is.
fn over_http(arguments: Http) -> Result<Option<HttpConfig>, HttpProblem> {
    let Http { address, token_file, behind_tls_proxy, names } = arguments;
    let token = config::variable("SKILLCELL_HTTP_TOKEN");
    let told = |address| http::config::Told { address, behind_tls_proxy, names, token_file, token };
    address.map(told).map(HttpConfig::resolve).transpose()
}

/// Takes as many open files as the operating system gives. The usual number is for programs that do one thing.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = Some(MOST_OPEN_FILES.min(limit.maximum.unwrap_or(MOST_OPEN_FILES)));
    if limit.current < wanted {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: wanted, ..limit });
    }
}

pub fn end_on_signals(ended: CancellationToken) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => tracing::info!("interrupted"),
            _ = terminate.recv() => tracing::info!("asked to end"),
        }
        ended.cancel();
    });
    Ok(())
}

/// Follows the disk and the remotes, and tells clients. Clones come first only if there is nothing to serve without them.
fn keep_fresh(server: &Skillcell, ended: CancellationToken) {
    let (watcher, disturbances) = Watcher::new(Arc::clone(&server.terms.roots));
    let (catalog, repositories) = (server.catalog.clone(), server.repositories.clone());
    let roots = Arc::clone(&server.terms.roots);
    catalog.trust(watcher.witness());
    let (calm, calms) = watch::channel(());
    tokio::spawn(notifications::announce(server.clone(), disturbances.clone(), calms, ended));
    tokio::spawn(async move {
        if !roots.iter().any(|root| root.path().is_dir()) {
            repositories.first_clones(&catalog).await;
        }
        tokio::spawn(catalog.clone().keep_looking(watcher, disturbances, calm));
        repositories.keep_synced(&catalog, &roots).await;
    });
}

/// Makes the first generation the only one.
fn freeze(server: &Skillcell) {
    tracing::info!("the skills stay as they are now, whatever happens on disk");
    let (catalog, repositories) = (server.catalog.clone(), server.repositories.clone());
    catalog.freeze();
    tokio::spawn(async move {
        repositories.first_clones(&catalog).await;
        catalog.bring_in(Look::Everything).await;
    });
}

/// Answers until the input ends. rmcp gives up on a session that does not begin properly; the next message gets another try.
async fn converse(server: Skillcell, transport: Stdio, ended: &CancellationToken) {
    while !ended.is_cancelled() {
        match Box::pin(server.clone().serve_with_ct(transport.clone(), ended.child_token())).await {
            Ok(session) => {
                let waited = tokio::select! {
                    waited = session.waiting() => waited.map(drop),
                    () = ended.cancelled() => return,
                };
                if let Err(error) = waited {
                    tracing::error!("the session broke: {error}");
                }
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => return,
            // The error carries the whole message, which is not ours to log.
            Err(_) => tracing::warn!("ignored a message that cannot begin a session"),
        }
    }
}
