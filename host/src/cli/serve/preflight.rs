//! Checks whether a server would start, without starting one.

use crate::cli::{Cli, Command, Serve};
use crate::compose::wasm_error;
use crate::config;
use anyhow::Context as _;
use base::place::Audience;
use catalog::scorers;
use catalog::scorers::options::ScorerChoice;
use clap::Parser as _;
use guests::scorer::ScorerWorld;
use library::roots;
use std::fs::File;
use std::path::Path;

/// The environment in which a server would be started.
pub struct Environment<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    pub working_folder: &'a Path,
}

/// Parses the arguments after the program name, if they are valid and start a server.
pub fn parse_serve<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Option<Serve> {
    let cli = Cli::try_parse_from(std::iter::once("skillcell").chain(arguments)).ok()?;
    match cli.command {
        None => Some(cli.serve),
        Some(Command::Serve(serve)) => Some(serve),
        Some(_) => None,
    }
}

/// Fails if a server would exit immediately. Compiled code is not cached.
pub fn check(serve: Serve, environment: &Environment<'_>) -> anyhow::Result<()> {
    let (cli_args, _) = serve.cli_args();
    let config = config::resolve_in(cli_args, environment.variable, environment.working_folder)?;
    roots::resolve(&config.roots)?;
    if let Some(engine) = &config.engine {
        File::open(environment.working_folder.join(engine))
            .with_context(|| format!("cannot read the engine {}", engine.display()))?;
    }
    if matches!(config.scorers.choice, ScorerChoice::Component(_)) {
        scorers::load(&ScorerWorld::new(None).map_err(wasm_error)?, &config.scorers.choice)
            .map_err(|error| anyhow::anyhow!(error.for_audience(Audience::Local)))?;
    }
    Ok(())
}
