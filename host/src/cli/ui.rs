//! `skillcell ui`: a page in the browser that shows what there is, and changes nothing.

use super::{Roots, open, serve};
use crate::catalog::Look;
use crate::config::{self, Config};
use crate::library::watch::Watcher;
use crate::lockdown;
use crate::terminal::{self, Output, progress};
use crate::ui::{self, Shown};
use clap::Args;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[derive(Args)]
pub struct Ui {
    /// Folders of skills; a comma separates several
    #[arg(value_name = "DIR")]
    folders: Vec<String>,
    /// The port of this machine to listen on; 0 is any that is free
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    port: u16,
    /// What ranks skills: `keyword`, `bm25`, `hybrid`, a name of the configuration, or a component of world `scorer`
    #[arg(long, value_name = "NAME|FILE")]
    scorer: Option<String>,
    #[command(flatten)]
    more: Roots,
}

pub fn run(arguments: Ui) -> anyhow::Result<ExitCode> {
    let mut told = arguments.more.told();
    told.folders = arguments.folders.into_iter().chain(told.folders).collect();
    told.scorer = arguments.scorer;
    let config = config::resolve(told)?;
    lockdown::forbid_programs()?;
    let runtime = open::runtime()?;
    let outcome = runtime.block_on(show(config, arguments.port));
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// Shows the page until a signal comes. Repositories are left as they are: nobody outside is asked.
async fn show(config: Config, port: u16) -> anyhow::Result<()> {
    let ended = CancellationToken::new();
    serve::end_on_signals(ended.clone())?;
    let opening = async {
        let opened = tokio::task::spawn_blocking(move || open::open(config)).await??;
        let (watcher, disturbances) = Watcher::new(Arc::clone(&opened.terms.roots));
        opened.catalog.trust(watcher.witness());
        opened.catalog.bring_in(Look::Everything).await;
        tokio::spawn(opened.catalog.clone().keep_looking(watcher, disturbances, watch::Sender::new(())));
        tokio::spawn(opened.catalog.clone().keep_scoring());
        anyhow::Ok(opened)
    };
    // A large library takes a moment, and a signal must be noticed meanwhile.
    let opened = tokio::select! {
        opened = opening => opened?,
        () = ended.cancelled() => return Ok(()),
    };
    let cache = open::cache(opened.config.places.as_ref());
    let shown = Shown::new(opened.catalog, opened.config, opened.terms.roots, cache);
    Ok(ui::serve(shown, port, tell, ended).await?)
}

/// Standard output has the address and nothing else, so that a script can read it.
fn tell(address: &str) {
    // From now on it is a server, and nobody watches the terminal.
    progress::end();
    // Without anybody to read it, the page is still there.
    let _ = terminal::print_lines(&[address]);
    if Output::standard().is_terminal() {
        terminal::note("hint: open this in a browser; ctrl-c ends it");
    }
}
