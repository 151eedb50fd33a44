//! The codes of problems that `lint` reports.

use crate::cli::did_you_mean::close_names;
use crate::cli::{mentions, table};
use crate::compose;
use crate::config::Config;
use anyhow::{anyhow, bail};
use base::place::Audience;
use base::printable::{printable, quoted};
use bindings::catalog::Code;
use guests::engine::EngineWorld;
use guests::executor::Executor;
use serde::Serialize;
use std::sync::Arc;
use terminal::Output;
use views::problem::severity_name;

/// All codes, sorted.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Codes(Vec<CodeInfo>);

#[derive(Serialize)]
pub struct CodeInfo {
    pub code: String,
    /// The default severity.
    pub severity: &'static str,
    pub summary: String,
    pub advice: String,
    /// Whether `--fix` can fix it.
    pub mechanical: bool,
    /// Whether it may be meant to deceive; only `--allow` silences it.
    pub deceptive: bool,
}

impl Codes {
    /// The codes of the engine, and those about the tools of this server.
    pub fn of(config: &Config) -> anyhow::Result<Self> {
        let executor = Executor::for_engines(None).map_err(compose::wasm_error)?;
        let world = EngineWorld::bundled(Arc::new(executor));
        let world = world.map_err(|error| anyhow!(error.for_audience(Audience::Local)))?;
        let codes = world.instantiate(&compose::terms(config, Arc::new([])))?.codes()?;
        let mut all: Vec<CodeInfo> = codes.into_iter().map(CodeInfo::from).chain(mentions::codes()).collect();
        all.sort_by(|left, right| left.code.cmp(&right.code));
        Ok(Self(all))
    }

    /// Rejects an unknown code, which would otherwise silence nothing.
    pub fn check(&self, allowed: &[String]) -> anyhow::Result<()> {
        let Some(unknown) = allowed.iter().find(|code| self.position(code).is_none()) else { return Ok(()) };
        let close = close_names(unknown, self.0.iter().map(|info| info.code.as_str()));
        let hint = match close.as_slice() {
            [] => "`skillcell lint --codes` lists all of them".to_owned(),
            close => format!("close names are {}", quoted(close)),
        };
        bail!("there is no code `{}`\nhint: {hint}", printable(unknown));
    }

    pub fn position(&self, code: &str) -> Option<usize> {
        self.0.binary_search_by(|info| info.code.as_str().cmp(code)).ok()
    }

    pub fn iter(&self) -> impl Iterator<Item = &CodeInfo> {
        self.0.iter()
    }

    pub fn lines(&self, output: Output) -> Vec<String> {
        let row = |info: &CodeInfo| {
            let fixed_by = if info.mechanical { "--fix" } else { "" };
            vec![info.code.clone(), info.severity.to_owned(), fixed_by.to_owned(), info.summary.clone()]
        };
        table::list(output, &["CODE", "SEVERITY", "FIXED BY", "MEANING"], self.0.iter().map(row))
    }
}

impl From<Code> for CodeInfo {
    fn from(code: Code) -> Self {
        let Code { name, severity, summary, advice, mechanical, deceptive } = code;
        Self { code: name, severity: severity_name(severity), summary, advice, mechanical, deceptive }
    }
}
