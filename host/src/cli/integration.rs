//! `skillcell integration`: lists the services that can be queried, and tests them.

use super::table::table;
use crate::compose;
use crate::config::{self, CliArgs, Config};
use base::place::Audience;
use base::printable::{counted, printable, quoted};
use clap::{Args, Subcommand};
use guests::executor::Executor;
use guests::integration::IntegrationWorld;
use integrations::options::{Integration, Source, Token, TokenValue};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use terminal::Output;
use terminal::progress::Progress;

#[derive(Args)]
pub struct IntegrationArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List every integration: its address, whether its token is set, and where its component comes from
    ///
    /// Example: skillcell integration list --json
    List {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
        /// The operator's configuration; by default `SKILLCELL_CONFIG`, or `~/.config/skillcell/config.yaml`
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Test the component, the token and the service of an integration; exit code 1 if one does not work
    ///
    /// Example: skillcell integration test github
    Test {
        /// The name that `integration list` shows
        name: String,
        /// Print the outcome as JSON
        #[arg(long)]
        json: bool,
        /// The operator's configuration; by default `SKILLCELL_CONFIG`, or `~/.config/skillcell/config.yaml`
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

pub fn run(arguments: IntegrationArguments) -> anyhow::Result<ExitCode> {
    let resolve = |config| config::resolve(CliArgs { config, ..CliArgs::default() });
    match arguments.command {
        Command::List { json, config } => list(&resolve(config)?, json),
        Command::Test { name, json, config } => test(resolve(config)?, &name, json),
    }
}

fn list(config: &Config, json: bool) -> anyhow::Result<ExitCode> {
    let all = &config.integrations.all;
    if json {
        terminal::print_json(&all.iter().map(view).collect::<Vec<_>>())?;
    } else {
        let heading = ["NAME", "STATE", "ADDRESS", "TOKEN", "FROM", "DIGEST"];
        terminal::print_lines(&table(Output::standard(), &heading, all.iter().map(row)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a token is set, never its value.
fn token_state(token: &Token) -> &'static str {
    match token.value {
        TokenValue::Missing => "not set",
        TokenValue::Unusable => "unusable",
        TokenValue::Set(_) => "set",
    }
}

fn from(integration: &Integration) -> String {
    match &integration.source {
        Source::Bundled(_) => "this binary".to_owned(),
        Source::File { path, .. } => path.display().to_string(),
    }
}

fn row(integration: &Integration) -> Vec<String> {
    let token = integration.token.as_ref().map(|token| format!("{} {}", token.variable, token_state(token)));
    let digest = integrations::digest(integration).map(|digest| digest.hex()[..12].to_owned());
    vec![
        integration.name.clone(),
        if integration.enabled { "on" } else { "off" }.to_owned(),
        integration.address().unwrap_or_else(|| "not set".to_owned()),
        token.unwrap_or_else(|| "none".to_owned()),
        printable(&from(integration)),
        digest.unwrap_or_else(|error| error.to_string()),
    ]
}

fn view(integration: &Integration) -> Value {
    let hosts: Vec<String> = integration.hosts.iter().map(ToString::to_string).collect();
    let token = integration.token.as_ref().map(|token| {
        json!({"variable": token.variable, "set": matches!(token.value, TokenValue::Set(_)), "required": token.required})
    });
    let digest = integrations::digest(integration);
    json!({
        "name": integration.name,
        "enabled": integration.enabled,
        "address": integration.address(),
        "hosts": hosts,
        "token": token,
        "from": from(integration),
        "digest": digest.as_ref().ok(),
        "problem": digest.as_ref().err().map(ToString::to_string),
    })
}

fn test(config: Config, name: &str, json: bool) -> anyhow::Result<ExitCode> {
    let config = Arc::new(config);
    let Some(integration) = config.integrations.get(name) else {
        let names: Vec<String> = config.integrations.all.iter().map(|known| known.name.clone()).collect();
        anyhow::bail!("there is no integration `{}`\nhint: choose from {}", printable(name), quoted(&names));
    };
    let cache = compose::code_cache(config.user_folders.as_ref());
    let executor = Arc::new(Executor::for_scripts(cache).map_err(compose::wasm_error)?);
    let world = IntegrationWorld::new(executor).map_err(compose::wasm_error)?;
    let all = compose::integrations(&config, world, Arc::new(compose::audit_record(&config)));
    let runtime = compose::tokio_runtime()?;
    let progress = Progress::start_indeterminate(&format!("asking {name}"));
    let tested = runtime.block_on(all.test(integration));
    let tested = tested.map_err(|error| anyhow::anyhow!(error.for_audience(Audience::Local)))?;
    drop(progress);
    runtime.shutdown_background();
    let component =
        tested.component.as_ref().map(|count| format!("works, and suggests {}", counted(*count, "question")));
    let outcomes = [("component", component.map_err(Clone::clone)), ("service", tested.service.clone())];
    let part_view = |outcome: &Result<String, String>| match outcome {
        Ok(message) | Err(message) => json!({"works": outcome.is_ok(), "told": message}),
    };
    let parts: serde_json::Map<String, Value> =
        outcomes.iter().map(|(part, outcome)| ((*part).to_owned(), part_view(outcome))).collect();
    let line = |(part, outcome): &(&str, Result<String, String>)| match outcome {
        Ok(message) => format!("{name}: the {part} {message}"),
        Err(message) => format!("{name}: the {part} does not work: {message}"),
    };
    let view = json!({"name": name, "works": tested.works(), "parts": parts});
    terminal::print_report(json, &view, &outcomes.iter().map(line).collect::<Vec<_>>())?;
    Ok(ExitCode::from(u8::from(!tested.works())))
}
