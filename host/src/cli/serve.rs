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
use std::io::BufReader;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
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
    let server = open(config)?;
    let ended = CancellationToken::new();
    end_on_signals(ended.clone())?;
    keep_looking(server.catalog.clone());
    let (transport, writing) = Stdio::start(BufReader::new(std::io::stdin()), std::io::stdout(), ended.clone())?;
    converse(server, transport, &ended).await;
    tracing::info!("shutting down");
    // The last clones of the transport are gone, so this ends when all answers are written.
    let _ =
        tokio::time::timeout(Duration::from_millis(200), tokio::task::spawn_blocking(move || writing.finish())).await;
    Ok(())
}

/// Loads the engine and starts the first look at the roots.
fn open(config: Config) -> anyhow::Result<Skillcell> {
    let roots: Arc<[_]> = roots::choose(&config.roots)?.into();
    for root in roots.iter().filter(|root| root.path.exists()) {
        tracing::info!("root `{}` is {}", root.label, root.path.display());
    }
    let runtime = Arc::new(Runtime::new().map_err(|error| anyhow::anyhow!("cannot start WebAssembly: {error:#}"))?);
    let world = match &config.engine {
        Some(file) => EngineWorld::from_file(runtime, file)?,
        None => EngineWorld::bundled(runtime)?,
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
        loop {
            clock.tick().await;
            catalog.bring_in().await;
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
            Err(error) => tracing::warn!("a session did not begin: {error}"),
        }
    }
}
