//! A line on the terminal about what takes longer than half a second. It is gone when that is done.

use super::{Output, beginning_of};
use crate::printable::printable;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What is done by then needs no explanation.
const PATIENCE: Duration = Duration::from_millis(500);

const BETWEEN_LINES: Duration = Duration::from_millis(100);

/// Characters of a bar.
const BAR: usize = 20;

/// Takes the line away that the cursor is in.
const CLEAR: &[u8] = b"\r\x1b[K";

static SCREEN: Mutex<Screen> = Mutex::new(Screen { columns: None, of_server: false, works: Vec::new(), shown: false });

/// The terminal as everybody here shares it.
struct Screen {
    /// Missing as long as nobody looks.
    columns: Option<usize>,
    /// Whether it is a server that somebody looks at.
    of_server: bool,
    /// What is under way. The newest is shown.
    works: Vec<Arc<Work>>,
    /// Whether a line is there now.
    shown: bool,
}

/// From now on there is somebody to show something to, if standard error is a terminal.
pub fn watch() {
    let output = Output::error();
    screen().columns = output.columns().filter(|_| output.redraws);
}

/// The same for a server. Its log tells what it does, so only what may take minutes is shown.
pub fn watch_server() {
    watch();
    screen().of_server = true;
}

/// Shows nothing any more, whatever is still under way.
pub fn end() {
    let mut screen = screen();
    screen.clear();
    screen.columns = None;
}

/// How far something is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reached {
    pub done: usize,
    /// Nothing as long as nobody knows.
    pub all: usize,
    /// The same in words, as in `3/10 objects`.
    pub told: String,
}

/// Something that takes a while, until the value is dropped.
pub struct Progress {
    following: Option<(Arc<Work>, JoinHandle<()>)>,
}

struct Work {
    what: String,
    reached: Box<dyn Fn() -> Reached + Send + Sync>,
    ended: Mutex<bool>,
    end: Condvar,
}

impl Progress {
    /// Begins something of which it is known how far it is.
    pub fn begin(what: &str, reached: impl Fn() -> Reached + Send + Sync + 'static) -> Self {
        if screen().of_server { Self { following: None } } else { Self::begin_long(what, reached) }
    }

    /// The same for what may take minutes.
    pub fn begin_long(what: &str, reached: impl Fn() -> Reached + Send + Sync + 'static) -> Self {
        if screen().columns.is_none() {
            return Self { following: None };
        }
        let (ended, end) = (Mutex::new(false), Condvar::new());
        let work = Arc::new(Work { what: printable(what), reached: Box::new(reached), ended, end });
        let theirs = Arc::clone(&work);
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(move || theirs.follow());
        // Without a thread nobody is told, and all else goes on.
        let Ok(thread) = thread else { return Self { following: None } };
        screen().works.push(Arc::clone(&work));
        Self { following: Some((work, thread)) }
    }

    /// Begins something of which only its end is known.
    pub fn unknown(what: &str) -> Self {
        Self::begin(what, Reached::default)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some((work, thread)) = self.following.take() else { return };
        *work.ended() = true;
        work.end.notify_all();
        // Whoever comes next finds the terminal as it was.
        let _ = thread.join();
        let mut screen = screen();
        screen.works.retain(|other| !Arc::ptr_eq(other, &work));
        screen.clear();
    }
}

impl Work {
    fn ended(&self) -> MutexGuard<'_, bool> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(self: Arc<Self>) {
        let mut pause = PATIENCE;
        loop {
            let waited = self.end.wait_timeout_while(self.ended(), pause, |ended| !*ended);
            if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                return;
            }
            // Before the terminal is held: whoever is asked may be about to log something.
            let reached = (self.reached)();
            screen().draw(&self, &reached);
            pause = BETWEEN_LINES;
        }
    }
}

fn screen() -> MutexGuard<'static, Screen> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Screen {
    fn draw(&mut self, work: &Arc<Work>, reached: &Reached) {
        let (Some(columns), Some(newest)) = (self.columns, self.works.last()) else { return };
        if Arc::ptr_eq(newest, work) {
            let line = line(&work.what, reached, columns);
            let _ = io::stderr().write_all(&[CLEAR, line.as_bytes()].concat());
            self.shown = true;
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = io::stderr().write_all(CLEAR);
        }
    }
}

/// One column shorter than the terminal, because some break a line that is full.
fn line(what: &str, reached: &Reached, columns: usize) -> String {
    let Reached { done, all, told } = reached;
    let line = match done.saturating_mul(BAR).checked_div(*all) {
        None => format!("{what} …"),
        Some(filled) => {
            let filled = filled.min(BAR);
            format!("{what} [{}{}] {told}", "#".repeat(filled), ".".repeat(BAR - filled))
        }
    };
    beginning_of(&line, columns.saturating_sub(1))
}

/// Standard error, for whoever has more than progress to tell: the line makes way, and comes back below.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_the_work_is_done_and_never_wider_than_the_terminal() {
        let reached = |done, all| Reached { done, all, told: format!("{done}/{all} files") };
        assert_eq!(line("reading", &reached(5, 10), 80), "reading [##########..........] 5/10 files");
        assert_eq!(line("reading", &reached(11, 10), 80), "reading [####################] 11/10 files");
        assert_eq!(line("reading", &reached(0, 0), 80), "reading …");
        assert_eq!(line("reading", &reached(usize::MAX, 1), 14), "reading [###…");
        assert_eq!(line("reading", &reached(1, 1), 0), "");
    }

    #[test]
    fn nothing_is_begun_where_nobody_looks() {
        assert!(Progress::unknown("waiting").following.is_none());
    }
}
