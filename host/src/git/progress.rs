//! A line on the terminal while a repository comes for the first time.

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const BETWEEN_LINES: Duration = Duration::from_millis(100);

/// Shows how far a clone is, if a person is looking.
pub struct Progress {
    /// The name of the repository. Missing when nobody is to be told.
    name: Option<String>,
    last: Cell<Option<Instant>>,
}

impl Progress {
    pub fn silent() -> Self {
        Self { name: None, last: Cell::new(None) }
    }

    pub fn on_terminal(name: &str) -> Self {
        let name = std::io::stderr().is_terminal().then(|| name.to_owned());
        Self { name, last: Cell::new(None) }
    }

    pub fn show(&self, state: &git2::Progress<'_>) {
        let Some(name) = &self.name else { return };
        let complete = state.received_objects() == state.total_objects();
        if !complete && self.last.get().is_some_and(|last| last.elapsed() < BETWEEN_LINES) {
            return;
        }
        self.last.set(Some(Instant::now()));
        let line = line(name, state.received_objects(), state.total_objects(), state.received_bytes());
        let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
    }

    /// Leaves the line, so that what comes next has its own.
    pub fn done(&self) {
        if self.name.is_some() && self.last.take().is_some() {
            let _ = writeln!(std::io::stderr());
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
fn line(name: &str, objects: usize, all: usize, bytes: usize) -> String {
    format!("cloning {name}: {objects}/{all} objects, {:.1} MB", bytes as f64 / 1_000_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_came_of_how_much() {
        assert_eq!(line("skills", 3, 10, 1_250_000), "cloning skills: 3/10 objects, 1.2 MB");
    }
}
