//! `skillcell serve`: the MCP server, over stdio or HTTP.

pub mod preflight;

use super::{Http, Serve, hidden};
use crate::compose::{self, App};
use crate::config::{self, CliArgs, Config};
use crate::lockdown;
use analytics::Usage;
use anyhow::Context as _;
use base::allocator;
use base::environment::variable;
use catalog::Scope;
use git::{self, Repositories};
use library::watch::Watcher;
use mcp::http;
use mcp::http::config::{HttpArgs, HttpConfig};
use mcp::notifications;
use mcp::requests::Cancellations;
use mcp::server::{Server, Shared, State, Transport};
use mcp::transport::Stdio;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Two for engines that answer, two for updates, the rest for files. More threads only cost memory.
const BLOCKING_THREADS: usize = 8;

/// More than a server needs, and far below the limits of kernels.
const MAX_OPEN_FILES: u64 = 16_384;

pub fn run(arguments: Serve) -> anyhow::Result<ExitCode> {
    let (cli_args, Http { address, token_file, behind_tls_proxy, names }) = arguments.cli_args();
    let token = variable("SKILLCELL_HTTP_TOKEN");
    let http_args = |address| HttpArgs { address, behind_tls_proxy, names, token_file, token };
    let http = address.map(http_args).map(HttpConfig::resolve).transpose()?;
    let mut config = config::resolve(cli_args)?;
    git::ask_credential_helper(&mut config.git);
    // Before the first thread starts, so that it applies to all of them.
    lockdown::forbid_exec()?;
    allocator::limit_arenas();
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let outcome = runtime.block_on(serve(config, http));
    // The thread that reads standard input cannot be interrupted.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

impl Serve {
    /// Splits the arguments into those for the configuration and those for HTTP.
    fn cli_args(self) -> (CliArgs, Http) {
        let Self { folders, more, engine, scorer, profile, tools, frozen, http } = self;
        let more = more.cli_args();
        let folders = folders.into_iter().chain(more.folders).collect();
        (CliArgs { profile, tools, folders, frozen, engine, scorer, ..more }, http)
    }
}

async fn serve(config: Config, http: Option<HttpConfig>) -> anyhow::Result<()> {
    let shutdown = CancellationToken::new();
    cancel_on_signals(shutdown.clone())?;
    // Compiling an engine takes a while, during which a signal must still work.
    let app = tokio::select! {
        app = tokio::task::spawn_blocking(move || compose::open(config)) => app?,
        () = shutdown.cancelled() => return Ok(()),
    };
    let App { catalog, config, terms, scripts, integrations } = app?;
    let cancellations = Cancellations::new(shutdown.clone());
    let transport = if http.is_some() { Transport::Http } else { Transport::Stdio };
    let records = config.user_folders.as_ref().map(|folders| folders.records.as_path());
    let usage = Usage::open(&config.analytics, records, config.roots.home.as_deref());
    let repositories = Repositories::new(&config.git, config.roots.names_folders());
    let (surface, frozen, state) = (config.surface.clone(), config.frozen, State::default());
    let shared = Shared { catalog, surface, frozen, terms, scripts, integrations, repositories, transport, state };
    let server = Server::new(shared, cancellations.clone(), usage);
    if server.frozen {
        freeze(&server);
    } else {
        keep_fresh(&server, shutdown.clone());
    }
    tokio::spawn(server.catalog.clone().keep_scoring());
    tokio::spawn(warn_of_hidden_skills(server.clone(), config.roots.working_folder.clone()));
    let (scripts, integrations) = (server.scripts.clone(), server.integrations.clone());
    let Some(http) = http else {
        let (input, output) = (BufReader::new(std::io::stdin()), std::io::stdout());
        let (transport, writer) = Stdio::start(input, output, shutdown.clone(), cancellations)?;
        Box::pin(serve_sessions(server, transport, &shutdown)).await;
        tracing::info!("shutting down");
        tokio::join!(scripts.drain(), integrations.drain());
        writer.finish().await;
        return Ok(());
    };
    http::serve(server, http, shutdown).await?;
    tracing::info!("shutting down");
    tokio::join!(scripts.drain(), integrations.drain());
    Ok(())
}

/// Logs how many skills are in hidden folders. Looks once, after the skills were read.
async fn warn_of_hidden_skills(server: Server, working_folder: PathBuf) {
    let hidden = server.catalog.hidden_skills(Arc::clone(&server.terms.roots)).await.unwrap_or_default();
    if let Some(note) = hidden::note(&hidden, &working_folder) {
        tracing::warn!("{note}");
    }
}

/// Raises the soft limit of open files to the hard limit, as far as it is useful.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Some(MAX_OPEN_FILES.min(limit.maximum.unwrap_or(MAX_OPEN_FILES)));
    if limit.current < raised {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: raised, ..limit });
    }
}

pub fn cancel_on_signals(shutdown: CancellationToken) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => tracing::info!("interrupted"),
            _ = terminate.recv() => tracing::info!("terminated"),
        }
        shutdown.cancel();
    });
    Ok(())
}

/// Follows changes on disk and in remotes, and notifies clients. Clones only come first if there is nothing else to serve.
fn keep_fresh(server: &Server, shutdown: CancellationToken) {
    let (watcher, disturbances) = Watcher::new(Arc::clone(&server.terms.roots));
    let (catalog, repositories) = (server.catalog.clone(), server.repositories.clone());
    let roots = Arc::clone(&server.terms.roots);
    catalog.trust(watcher.sync_cookies());
    let (quiet, is_quiet) = watch::channel(());
    tokio::spawn(notifications::announce(server.clone(), disturbances.clone(), is_quiet, shutdown));
    tokio::spawn(async move {
        if !roots.iter().any(|root| root.path().is_dir()) {
            repositories.wait_for_first_clones(&catalog).await;
        }
        catalog.follow_disk(watcher, disturbances, quiet);
        repositories.keep_synced(&catalog, &roots).await;
    });
}

/// Loads the only generation that will be served.
fn freeze(server: &Server) {
    tracing::info!("the skills are frozen; changes on disk are ignored");
    let (catalog, repositories) = (server.catalog.clone(), server.repositories.clone());
    tokio::spawn(async move {
        repositories.wait_for_first_clones(&catalog).await;
        catalog.refresh(Scope::Full).await;
    });
}

/// Serves sessions until the input ends. rmcp drops a session whose handshake fails; the next message starts another.
async fn serve_sessions(server: Server, transport: Stdio, shutdown: &CancellationToken) {
    while !shutdown.is_cancelled() {
        match Box::pin(server.clone().serve_with_ct(transport.clone(), shutdown.child_token())).await {
            Ok(session) => {
                let result = tokio::select! {
                    result = session.waiting() => result.map(drop),
                    () = shutdown.cancelled() => return,
                };
                if let Err(error) = result {
                    tracing::error!("the session failed: {error}");
                }
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => return,
            // The error contains the whole message, which may be private.
            Err(_) => tracing::warn!("ignored a message that cannot start a session"),
        }
    }
}
