//! The kinds of problems that `lint` tells of, and which of them somebody does not want to hear of.

use crate::bindings::catalog::Code;
use crate::cli::close::close;
use crate::cli::{mentions, table};
use crate::config::Config;
use crate::mcp::tools::problem_view::severity_word;
use crate::printable::{printable, quoted};
use crate::runtime::Runtime;
use crate::terminal::Output;
use crate::worlds::engine::{EngineWorld, Terms};
use anyhow::{anyhow, bail};
use serde::Serialize;
use std::sync::Arc;

/// All kinds, sorted by their code.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Codes(Vec<Known>);

/// One kind of problem.
#[derive(Serialize)]
pub struct Known {
    pub code: String,
    /// How bad it usually is.
    pub severity: &'static str,
    pub summary: String,
    pub advice: String,
    /// Whether `--fix` mends it, where that is certain.
    pub mechanical: bool,
}

impl Codes {
    /// Those of the engine, which is asked before it is given any files, and those that depend on this server's tools.
    pub fn of(config: &Config) -> anyhow::Result<Self> {
        let broken = |error: wasmtime::Error| anyhow!("cannot start WebAssembly: {error:#}");
        let world = EngineWorld::bundled(Arc::new(Runtime::new().map_err(broken)?))?;
        let terms = Terms {
            roots: Arc::new([]),
            set_aside: Arc::default(),
            file_limit: config.operator.max_size_bytes,
            operator: config.operator.clone(),
            duplicates: config.surface.duplicates,
        };
        let codes = world.instantiate(&terms)?.codes()?;
        let mut known: Vec<Known> = codes.into_iter().map(Known::from).chain(mentions::codes()).collect();
        known.sort_by(|left, right| left.code.cmp(&right.code));
        Ok(Self(known))
    }

    /// Refuses a code that there is not: whoever mistypes one would wonder why it is still told.
    pub fn check(&self, allowed: &[String]) -> anyhow::Result<()> {
        let Some(unknown) = allowed.iter().find(|code| self.position(code).is_none()) else { return Ok(()) };
        let close = close(unknown, self.0.iter().map(|known| known.code.as_str()));
        let hint = match close.into_iter().map(str::to_owned).collect::<Vec<_>>().as_slice() {
            [] => "`skillcell lint --codes` tells all of them".to_owned(),
            close => format!("close ones are {}", quoted(close)),
        };
        bail!("there is no code `{}`\nhint: {hint}", printable(unknown));
    }

    pub fn position(&self, code: &str) -> Option<usize> {
        self.0.binary_search_by(|known| known.code.as_str().cmp(code)).ok()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Known> {
        self.0.iter()
    }

    pub fn lines(&self, output: Output) -> Vec<String> {
        let row = |known: &Known| {
            let mended = if known.mechanical { "--fix" } else { "" };
            vec![known.code.clone(), known.severity.to_owned(), mended.to_owned(), known.summary.clone()]
        };
        table::list(output, &["CODE", "USUALLY", "MENDED BY", "MEANS"], self.0.iter().map(row).collect())
    }
}

impl From<Code> for Known {
    fn from(code: Code) -> Self {
        let Code { name, severity, summary, advice, mechanical } = code;
        Self { code: name, severity: severity_word(severity), summary, advice, mechanical }
    }
}
