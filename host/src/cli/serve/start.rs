//! Whether a server would start, found out without starting one.

use crate::cli::{Cli, Command, Serve};
use crate::config::{self, ScorerChoice};
use crate::library::roots;
use crate::scorers;
use crate::worlds::scorer::ScorerWorld;
use anyhow::Context as _;
use clap::Parser as _;
use std::fs::File;
use std::path::Path;

/// Where a server would be started.
pub struct Surroundings<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    pub working_folder: &'a Path,
}

/// What arguments behind the program's name say, if this version understands them and they make it a server.
pub fn parsed<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<Serve> {
    let cli = Cli::try_parse_from(std::iter::once("skillcell").chain(words)).ok()?;
    match cli.command {
        None => Some(cli.serve),
        Some(Command::Serve(serve)) => Some(serve),
        Some(_) => None,
    }
}

/// What would end a server at once. Nothing is kept of what has to be compiled to find that out.
pub fn check(serve: Serve, around: &Surroundings<'_>) -> anyhow::Result<()> {
    let (told, _) = serve.told();
    let config = config::resolve_in(told, around.variable, around.working_folder)?;
    roots::choose(&config.roots)?;
    if let Some(engine) = &config.engine {
        File::open(around.working_folder.join(engine))
            .with_context(|| format!("cannot read the engine {}", engine.display()))?;
    }
    if matches!(config.scorer, ScorerChoice::Component(_)) {
        let broken = |error: wasmtime::Error| anyhow::anyhow!("cannot start WebAssembly: {error:#}");
        scorers::load(&ScorerWorld::new(None).map_err(broken)?, &config.scorer)?;
    }
    Ok(())
}
