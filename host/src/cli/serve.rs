//! `skillcell serve`: the MCP server on standard input and output, or over HTTP.

use super::open::{self, Opened};
use super::{Http, Serve};
use crate::catalog::Catalog;
use crate::config::{self, Config};
use crate::library::watch::{self, Disturbances, Watcher};
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
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// Two engines answer, two changes come in, the rest is files. More threads only cost memory.
const BLOCKING_THREADS: usize = 8;

/// How often the server looks at the disk by itself.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// What stirs on disk is looked at when it was quiet for this long, or after so long at the latest.
const LOOK_QUIET: Duration = Duration::from_millis(500);
const LOOK_LONGEST: Duration = Duration::from_secs(5);

/// More than anybody needs, and far from what a kernel has.
const MOST_OPEN_FILES: u64 = 16_384;

pub fn run(arguments: Serve) -> anyhow::Result<ExitCode> {
    // Before the first thread, so that it holds for all of them.
    lockdown::forbid_programs()?;
    memory::keep_together();
    raise_open_files();
    let mut told = arguments.more.told();
    told.folders = arguments.folders.into_iter().chain(told.folders).collect();
    told.engine = arguments.engine;
    told.profile = arguments.profile;
    told.tools = arguments.tools;
    let http = over_http(arguments.http)?;
    let config = config::resolve(told)?;
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

async fn serve(config: Config, http: Option<HttpConfig>) -> anyhow::Result<()> {
    let ended = CancellationToken::new();
    end_on_signals(ended.clone())?;
    // Compiling an engine takes a while, and a signal must be noticed meanwhile.
    let opened = tokio::select! {
        opened = tokio::task::spawn_blocking(move || open::open(config)) => opened?,
        () = ended.cancelled() => return Ok(()),
    };
    let Opened { catalog, config, terms, scripts } = opened?;
    let (watcher, disturbances) = Watcher::new(Arc::clone(&terms.roots));
    catalog.trust(watcher.stillness());
    keep_looking(catalog.clone(), watcher, disturbances.clone());
    let cancellations = Cancellations::new(ended.clone());
    let reach = if http.is_some() { Reach::Http } else { Reach::Stdio };
    let server = Skillcell::new(catalog, config, terms, scripts, reach, cancellations.clone());
    tokio::spawn(notifications::announce(server.clone(), disturbances, ended.clone()));
    let scripts = server.scripts.clone();
    let Some(http) = http else {
        let (input, output) = (BufReader::new(std::io::stdin()), std::io::stdout());
        let (transport, writing) = Stdio::start(input, output, ended.clone(), cancellations)?;
        converse(server, transport, &ended).await;
        tracing::info!("shutting down");
        scripts.ended().await;
        writing.finish().await;
        return Ok(());
    };
    http::serve(server, http, ended).await?;
    tracing::info!("shutting down");
    scripts.ended().await;
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

fn end_on_signals(ended: CancellationToken) -> anyhow::Result<()> {
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

/// Brings in what changed on disk: now, when something stirs there, and from time to time for what nobody noticed.
fn keep_looking(catalog: Catalog, mut watcher: Watcher, mut disturbances: Disturbances) {
    tokio::spawn(async move {
        let mut clock = tokio::time::interval(LOOK_EVERY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut watching = true;
        loop {
            tokio::select! {
                _ = clock.tick() => watcher.watch(),
                more = watch::settled(&mut disturbances, LOOK_QUIET, LOOK_LONGEST), if watching => watching = more,
            }
            catalog.bring_in(None).await;
        }
    });
}

/// Answers until the input ends. rmcp gives up on a session that does not begin properly; the next message gets another try.
async fn converse(server: Skillcell, transport: Stdio, ended: &CancellationToken) {
    while !ended.is_cancelled() {
        match server.clone().serve_with_ct(transport.clone(), ended.child_token()).await {
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
