//! What an integration says while it works: progress for whoever asked, lines for the operator.

use crate::bindings::{log, progress};
use crate::printable::printable_up_to;
use crate::worlds::imports::log_line;
use std::sync::Arc;
use wasmtime::component::HasData;

/// Most lines of the log and most reports of progress for one question.
const LINES: u32 = 50;
const REPORTS: u32 = 200;

/// Longest report, in characters.
const LONGEST_REPORT: usize = 200;

/// Told at once what an integration is doing.
pub type Report = Arc<dyn Fn(String) + Send + Sync>;

/// The voice of one integration, and how much it may still say.
pub struct Voice {
    name: Arc<str>,
    report: Report,
    lines: u32,
    reports: u32,
}

impl Voice {
    pub fn new(name: Arc<str>, report: Report) -> Self {
        Self { name, report, lines: LINES, reports: REPORTS }
    }
}

pub struct VoiceData;

impl HasData for VoiceData {
    type Data<'state> = &'state mut Voice;
}

impl log::Host for Voice {
    fn write(&mut self, level: log::Level, line: String) -> wasmtime::Result<()> {
        let Some(left) = self.lines.checked_sub(1) else { return Ok(()) };
        self.lines = left;
        let (name, line) = (&self.name, log_line(&line));
        match level {
            log::Level::Debug => tracing::debug!(target: "integration", "{name}: {line}"),
            log::Level::Info => tracing::info!(target: "integration", "{name}: {line}"),
            log::Level::Warn => tracing::warn!(target: "integration", "{name}: {line}"),
        }
        if left == 0 {
            tracing::debug!(target: "integration", "{name}: further lines of this question are dropped");
        }
        Ok(())
    }
}

impl progress::Host for Voice {
    fn report(&mut self, message: String) -> wasmtime::Result<()> {
        if let Some(left) = self.reports.checked_sub(1) {
            self.reports = left;
            (self.report)(printable_up_to(message.trim(), LONGEST_REPORT));
        }
        Ok(())
    }
}
