//! A progress line on standard error for operations that take longer than half a second. It is cleared when they end.

use super::{Output, truncate_to};
use base::printable::{Escapes, Shown, printable};
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Shorter operations show no progress.
const DELAY: Duration = Duration::from_millis(500);

const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// In characters.
const BAR_LENGTH: usize = 20;

/// Clears the line of the cursor.
const CLEAR_LINE: &[u8] = b"\r\x1b[K";

static SCREEN: Mutex<Screen> = Mutex::new(Screen { columns: None, is_server: false, tasks: Vec::new(), drawn: false });

/// The state of the terminal, shared by all operations.
struct Screen {
    /// `None` while progress is disabled.
    columns: Option<usize>,
    is_server: bool,
    /// Running operations. The newest is displayed.
    tasks: Vec<Arc<Task>>,
    /// Whether a progress line is currently on the terminal.
    drawn: bool,
}

/// Enables progress if standard error is a terminal.
pub fn enable() {
    let output = Output::error();
    screen().columns = output.columns.filter(|_| output.redraws);
}

/// Enables progress for a server. Since a server logs what it does, only operations that may take minutes are displayed.
pub fn enable_for_server() {
    enable();
    screen().is_server = true;
}

/// Clears the progress line and displays no further progress.
pub fn disable() {
    let mut screen = screen();
    screen.clear();
    screen.columns = None;
}

/// How much of an operation is done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completed {
    pub done: usize,
    /// Zero while unknown.
    pub total: usize,
    /// For people, as in `3/10 objects`.
    pub text: String,
}

/// An operation whose progress is displayed until this value is dropped.
pub struct Progress {
    display: Option<(Arc<Task>, JoinHandle<()>)>,
}

struct Task {
    name: String,
    completed: Box<dyn Fn() -> Completed + Send + Sync>,
    ended: Mutex<bool>,
    end: Condvar,
}

impl Progress {
    /// Starts an operation that can say how much of it is done.
    pub fn start(name: &str, completed: impl Fn() -> Completed + Send + Sync + 'static) -> Self {
        if screen().is_server { Self { display: None } } else { Self::start_long(name, completed) }
    }

    /// Starts an operation that may take minutes, so that servers display it too.
    pub fn start_long(name: &str, completed: impl Fn() -> Completed + Send + Sync + 'static) -> Self {
        if screen().columns.is_none() {
            return Self { display: None };
        }
        let (ended, end) = (Mutex::new(false), Condvar::new());
        let task = Arc::new(Task { name: printable(name), completed: Box::new(completed), ended, end });
        let drawn = Arc::clone(&task);
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(move || drawn.keep_drawing());
        // Without a thread there is no display, and the operation still runs.
        let Ok(thread) = thread else { return Self { display: None } };
        screen().tasks.push(Arc::clone(&task));
        Self { display: Some((task, thread)) }
    }

    /// Starts an operation of unknown length.
    pub fn start_indeterminate(name: &str) -> Self {
        Self::start(name, Completed::default)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some((task, thread)) = self.display.take() else { return };
        *task.ended() = true;
        task.end.notify_all();
        // Joined first, so that nothing is drawn after the line is cleared.
        let _ = thread.join();
        let mut screen = screen();
        screen.tasks.retain(|other| !Arc::ptr_eq(other, &task));
        screen.clear();
    }
}

impl Task {
    fn ended(&self) -> MutexGuard<'_, bool> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_drawing(self: Arc<Self>) {
        let mut pause = DELAY;
        loop {
            let waited = self.end.wait_timeout_while(self.ended(), pause, |ended| !*ended);
            if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                return;
            }
            // Called before the screen is locked, because the callback may log, which locks it too.
            let completed = (self.completed)();
            screen().draw(&self, &completed);
            pause = REDRAW_INTERVAL;
        }
    }
}

fn screen() -> MutexGuard<'static, Screen> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Screen {
    fn draw(&mut self, task: &Arc<Task>, completed: &Completed) {
        let (Some(columns), Some(newest)) = (self.columns, self.tasks.last()) else { return };
        if Arc::ptr_eq(newest, task) {
            let line = line(&task.name, completed, columns);
            let _ = io::stderr().write_all(&[CLEAR_LINE, line.as_bytes()].concat());
            self.drawn = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = io::stderr().write_all(CLEAR_LINE);
        }
    }
}

/// One column narrower than the terminal, because some terminals wrap a full line.
fn line(name: &str, completed: &Completed, columns: usize) -> String {
    let Completed { done, total, text } = completed;
    let line = match done.saturating_mul(BAR_LENGTH).checked_div(*total) {
        None => format!("{name} …"),
        Some(filled) => {
            let filled = filled.min(BAR_LENGTH);
            format!("{name} [{}{}] {text}", "#".repeat(filled), ".".repeat(BAR_LENGTH - filled))
        }
    };
    truncate_to(&line, columns.saturating_sub(1))
}

/// Writes to standard error without mixing with the progress line, which is cleared first and redrawn below.
#[derive(Debug, Clone, Copy)]
pub struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut screen = screen();
        screen.clear();
        io::stderr().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Writes events of the log, each in one call. Text of a skill, a script or a client in an event cannot pretend to be another
/// event: further lines are indented, and characters that hide or reorder others are escaped. Colors are kept, because
/// `tracing` escapes those that are not its own.
#[derive(Debug, Clone, Copy)]
pub struct EventLog;

impl Write for EventLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Log.write_all(event_text(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Log.flush()
    }
}

fn event_text(event: &str) -> String {
    let event = event.strip_suffix('\n').unwrap_or(event);
    let mut text = String::with_capacity(event.len() + 1);
    for shown in Escapes::of(event) {
        match shown {
            Shown::Escape('\n') => text.push_str("\n    "),
            Shown::Escape(character @ ('\t' | '\x1b')) => text.push(character),
            shown => shown.add_to(&mut text),
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_an_event_cannot_pretend_to_be_another() {
        let event = "\x1b[2mINFO\x1b[0m a `skill\r\nERROR forged\u{202e}`\nhint: é\n";
        let expected = "\x1b[2mINFO\x1b[0m a `skill\\r\n    ERROR forged\\u{202e}`\n    hint: é\n";
        assert_eq!(event_text(event), expected);
    }

    #[test]
    fn a_bar_shows_the_completed_share_and_never_exceeds_the_terminal() {
        let completed = |done, total| Completed { done, total, text: format!("{done}/{total} files") };
        assert_eq!(line("reading", &completed(5, 10), 80), "reading [##########..........] 5/10 files");
        assert_eq!(line("reading", &completed(11, 10), 80), "reading [####################] 11/10 files");
        assert_eq!(line("reading", &completed(0, 0), 80), "reading …");
        assert_eq!(line("reading", &completed(usize::MAX, 1), 14), "reading [###…");
        assert_eq!(line("reading", &completed(1, 1), 0), "");
    }

    #[test]
    fn no_thread_is_started_while_progress_is_disabled() {
        assert!(Progress::start_indeterminate("waiting").display.is_none());
    }
}
