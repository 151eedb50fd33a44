//! What is used: events for the operator's endpoint, and a history on this machine. Both are off unless the operator says so.
//!
//! An event is on disk before the call that raised it is answered ([`waiting`]); [`publisher`] sends it from there. Nothing is
//! kept only in memory, so nothing is lost when a server dies.

mod event;
mod history;
mod older;
mod post;
mod publisher;
mod segment;
mod session;
mod summary;
mod waiting;

pub use event::Event;
pub use summary::{SkillUse, Summary, summary};

use crate::config::{self, Config};
use crate::moment;
use crate::sha256::Sha256;
use history::{History, Past};
use post::Post;
use publisher::Publisher;
use session::Sessions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use waiting::Waiting;

/// What one client does is written down through this. Cloned for each request; when analytics are off, it does nothing.
#[derive(Clone)]
pub struct Usage {
    analytics: Option<Arc<Analytics>>,
    session: Arc<str>,
}

struct Analytics {
    history: History,
    /// Missing when there is no endpoint.
    waiting: Option<Arc<Waiting>>,
    include_text: bool,
    server_id: String,
    sessions: Sessions,
    /// Whether the last try to write failed, which is told once.
    failing: AtomicBool,
    /// The thread that sends ends with this.
    _ended: Mutex<Sender<()>>,
}

impl Usage {
    /// As the operator wants it. Begins to send what an earlier server left.
    pub fn open(config: &Config) -> Self {
        let said = &config.analytics;
        if !said.enabled {
            return Self::off();
        }
        let Some(places) = &config.places else {
            tracing::warn!("nothing is written down for analytics: HOME is not set");
            return Self::off();
        };
        let analytics = Analytics::new(said, &places.records, config.roots.home.as_deref());
        let usage = Self { analytics: Some(Arc::new(analytics)), session: session::new_id() };
        usage.write(Analytics::prepare);
        usage
    }

    /// Writes nothing down.
    pub fn off() -> Self {
        Self { analytics: None, session: "".into() }
    }

    pub fn is_on(&self) -> bool {
        self.analytics.is_some()
    }

    /// The same for a client that has no session, by what it calls itself.
    pub fn of_client(&self, client: &str) -> Self {
        let session = self.analytics.as_ref().map(|analytics| analytics.sessions.of(client));
        Self { analytics: self.analytics.clone(), session: session.unwrap_or_else(|| Arc::clone(&self.session)) }
    }

    /// Writes down that a tool is called.
    pub fn called(&self, tool: &str) {
        self.write(|analytics| analytics.history.add([Past::tool(tool, &self.session, &moment::now_exactly())]));
    }

    /// Writes down what happened. It is on disk when this returns, unless it returns false: then it is lost.
    pub fn raise(&self, event: Event) -> bool {
        self.raise_all([event])
    }

    pub fn raise_all(&self, events: impl IntoIterator<Item = Event>) -> bool {
        self.write(|analytics| analytics.add(events, &self.session))
    }

    /// A call is answered also when nothing can be written. That is told once, and the next event is another try. True also
    /// when nothing is to be written.
    fn write(&self, write: impl FnOnce(&Analytics) -> io::Result<()>) -> bool {
        let Some(analytics) = &self.analytics else { return true };
        // Usually a few microseconds, but a disk may take as long as it likes.
        let written = tokio::task::block_in_place(|| write(analytics));
        let is_written = written.is_ok();
        let failed_before = analytics.failing.swap(!is_written, Ordering::Relaxed);
        match written {
            Err(error) if !failed_before => {
                tracing::warn!("events are lost as long as they cannot be written to disk: {error}");
            }
            Ok(()) if failed_before => tracing::info!("events can be written to disk again"),
            _ => {}
        }
        is_written
    }
}

impl Analytics {
    /// Begins to send what waits. Nothing is written yet.
    fn new(said: &config::Analytics, records: &Path, home: Option<&Path>) -> Self {
        let (ended, end) = mpsc::channel();
        let waiting = said.endpoint.as_ref().map(|endpoint| {
            let waiting = Arc::new(Waiting::new(&waiting_folder(records, endpoint), said.most_bytes));
            let publisher = Publisher {
                waiting: Arc::clone(&waiting),
                post: Post::new(endpoint.clone(), said.timeout),
                interval: said.interval,
                include_text: said.include_text,
                older: home.map(|home| home.join(".skills-mcp/analytics-buffer.jsonl")),
            };
            let sending = std::thread::Builder::new().name("analytics".to_owned()).spawn(move || publisher.run(&end));
            if let Err(error) = sending {
                tracing::warn!("events wait on disk until another server sends them: {error}");
            }
            waiting
        });
        Self {
            history: History::new(&history_folder(records)),
            waiting,
            include_text: said.include_text,
            server_id: said.server_id.clone(),
            sessions: Sessions::default(),
            failing: AtomicBool::new(false),
            _ended: Mutex::new(ended),
        }
    }

    /// Makes the folders, so that it is told early if they cannot be made.
    fn prepare(&self) -> io::Result<()> {
        self.history.prepare()?;
        self.waiting.as_ref().map_or(Ok(()), |waiting| waiting.prepare())
    }

    fn add(&self, events: impl IntoIterator<Item = Event>, session: &str) -> io::Result<()> {
        let time = moment::now_exactly();
        let events: Vec<Event> = events.into_iter().map(|event| event.fitted(self.include_text)).collect();
        if events.is_empty() {
            return Ok(());
        }
        let waits = self.waiting.as_ref().map_or(Ok(()), |waiting| {
            let lines: io::Result<String> = events.iter().map(|event| event.line(&self.server_id, &time)).collect();
            waiting.add(&lines?, events.len())
        });
        let known = self.history.add(events.iter().map(|event| Past::event(event, session, &time)));
        waits.and(known)
    }
}

fn history_folder(records: &Path) -> PathBuf {
    records.join("analytics")
}

/// The folders of all endpoints that events ever waited for.
fn all_waiting(records: &Path) -> PathBuf {
    records.join("analytics/waiting")
}

/// Each endpoint has its own: what was meant for one is nothing for another.
fn waiting_folder(records: &Path, endpoint: &config::Endpoint) -> PathBuf {
    all_waiting(records).join(&Sha256::of(endpoint.url.as_bytes()).hex()[..12])
}
