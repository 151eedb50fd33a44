//! `skillcell ui`: serves a read-only page for the browser.

use super::{Roots, serve};
use crate::compose::{self, App};
use crate::config::{self, Config};
use crate::ui::{self, UiState};
use catalog::Scope;
use clap::Args;
use library::watch::Watcher;
use std::process::ExitCode;
use std::sync::Arc;
use terminal::{self, Output, progress};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

#[derive(Args)]
pub struct Ui {
    /// Folders of skills; separate several by commas
    #[arg(value_name = "DIR")]
    folders: Vec<String>,
    /// The local port to listen on; 0 picks a free one
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    port: u16,
    /// The scorer that ranks skills: `keyword`, `bm25`, `hybrid`, a configured name, or a component of world `scorer`
    #[arg(long, value_name = "NAME|FILE")]
    scorer: Option<String>,
    #[command(flatten)]
    more: Roots,
}

pub fn run(arguments: Ui) -> anyhow::Result<ExitCode> {
    let mut cli_args = arguments.more.cli_args();
    cli_args.folders = arguments.folders.into_iter().chain(cli_args.folders).collect();
    cli_args.scorer = arguments.scorer;
    let config = config::resolve(cli_args)?;
    let runtime = compose::tokio_runtime()?;
    let outcome = runtime.block_on(show(config, arguments.port));
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Serves the page until a signal arrives. Repositories are not synced, so no network is used.
async fn show(config: Config, port: u16) -> anyhow::Result<()> {
    let shutdown = CancellationToken::new();
    serve::cancel_on_signals(shutdown.clone())?;
    let opening = async {
        let app = tokio::task::spawn_blocking(move || compose::open(config)).await??;
        let (watcher, disturbances) = Watcher::new(Arc::clone(&app.terms.roots));
        app.catalog.trust(watcher.sync_cookies());
        app.catalog.refresh(Scope::Full).await;
        app.catalog.follow_disk(watcher, disturbances, watch::Sender::new(()));
        tokio::spawn(app.catalog.clone().keep_scoring());
        anyhow::Ok(app)
    };
    // Reading a large library takes a moment, during which a signal must still work.
    let app = tokio::select! {
        app = opening => app?,
        () = shutdown.cancelled() => return Ok(()),
    };
    let cache = compose::code_cache(app.config.user_folders.as_ref());
    let App { catalog, config, terms, .. } = app;
    let state = UiState { catalog, config, roots: terms.roots, cache, panel: Mutex::default() };
    ui::serve(state, port, announce, shutdown).await
}

/// Prints the address, and nothing else on standard output, so that scripts can read it.
fn announce(address: &str) {
    progress::disable();
    // The page works even if standard output is closed.
    let _ = terminal::print_lines(&[address]);
    if Output::standard().is_terminal() {
        terminal::print_note("hint: open this address in a browser; stop with ctrl-c");
    }
}
