//! What an integration reports while it works: progress for the caller, log messages for the operator.

use crate::imports::{log_guest, log_line};
use base::printable::printable_up_to;
use bindings::{log, progress};
use std::sync::Arc;
use wasmtime::component::HasData;

/// Log messages for one question.
const MAX_LOG_LINES: u32 = 50;

/// Progress reports for one question.
const MAX_REPORTS: u32 = 200;

/// In characters.
const MAX_REPORT_LENGTH: usize = 200;

/// Receives progress reports as they arrive.
pub type Report = Arc<dyn Fn(String) + Send + Sync>;

/// The `log` and `progress` imports of one question, with what may still be written.
pub struct Feedback {
    name: Arc<str>,
    report: Report,
    lines_left: u32,
    reports_left: u32,
}

impl Feedback {
    pub fn new(name: Arc<str>, report: Report) -> Self {
        Self { name, report, lines_left: MAX_LOG_LINES, reports_left: MAX_REPORTS }
    }
}

/// Marks the data of both imports for the linker.
pub struct FeedbackData;

impl HasData for FeedbackData {
    type Data<'state> = &'state mut Feedback;
}

impl log::Host for Feedback {
    fn write(&mut self, level: log::Level, line: String) -> wasmtime::Result<()> {
        let Some(left) = self.lines_left.checked_sub(1) else { return Ok(()) };
        self.lines_left = left;
        let name = &self.name;
        log_guest!("integration", level, "{name}: {}", log_line(&line));
        if left == 0 {
            tracing::debug!(target: "integration", "{name}: further messages of this question are dropped");
        }
        Ok(())
    }
}

impl progress::Host for Feedback {
    fn report(&mut self, message: String) -> wasmtime::Result<()> {
        if let Some(left) = self.reports_left.checked_sub(1) {
            self.reports_left = left;
            (self.report)(printable_up_to(message.trim(), MAX_REPORT_LENGTH));
        }
        Ok(())
    }
}
