//! `skillcell serve`: the MCP server on standard input and output.

use super::Serve;
use crate::catalog::Catalog;
use crate::config::{self, Config};
use crate::library::roots;
use crate::mcp::server::Skillcell;
use crate::mcp::transport::Stdio;
use crate::runtime::Runtime;
use crate::set_aside::SetAside;
use crate::worlds::engine::{EngineWorld, Terms};
use anyhow::Context as _;
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use std::io::{BufReader, ErrorKind};
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

pub fn run(arguments: Serve) -> anyhow::Result<ExitCode> {
    let given = arguments.folders.into_iter().chain(arguments.roots).collect();
    let config = config::resolve(given, arguments.engine)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let outcome = runtime.block_on(serve(config));
    // The thread that reads standard input cannot be woken.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

async fn serve(config: Config) -> anyhow::Result<()> {
    let ended = CancellationToken::new();
    end_on_signals(ended.clone())?;
    // Compiling an engine takes a while, and a signal must be noticed meanwhile.
    let opened = tokio::select! {
        opened = tokio::task::spawn_blocking(move || open(config)) => opened?,
        () = ended.cancelled() => return Ok(()),
    };
    let server = opened?;
    keep_looking(server.catalog.clone());
    let (transport, writing) = Stdio::start(BufReader::new(std::io::stdin()), std::io::stdout(), ended.clone())?;
    converse(server, transport, &ended).await;
    tracing::info!("shutting down");
    writing.finish().await;
    Ok(())
}

/// Loads the engine over the roots.
fn open(config: Config) -> anyhow::Result<Skillcell> {
    let roots: Arc<[_]> = roots::choose(&config.roots)?.into();
    for root in roots.iter() {
        let path = root.path();
        match root.open() {
            Ok(_) => tracing::info!("root `{}` is {}", root.label, path.display()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => tracing::warn!("root `{}` at {} cannot be read: {error}", root.label, path.display()),
        }
    }
    let runtime = Runtime::new().map_err(|error| anyhow::anyhow!("cannot start WebAssembly: {error:#}"))?;
    let world = match &config.engine {
        Some(file) => EngineWorld::from_file(Arc::new(runtime), file)?,
        None => EngineWorld::bundled(Arc::new(runtime))?,
    };
    let terms = Terms { roots, set_aside: Arc::new(SetAside::default()), file_limit: config.file_limit };
    Ok(Skillcell { catalog: Catalog::new(world, terms.clone()), config: Arc::new(config), terms })
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

/// Brings in what changed on disk: now, and then from time to time.
fn keep_looking(catalog: Catalog) {
    tokio::spawn(async move {
        let mut clock = tokio::time::interval(LOOK_EVERY);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            clock.tick().await;
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
