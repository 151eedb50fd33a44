//! Usage analytics: events for the operator's endpoint, and a history on this machine. Both are off by default.
//!
//! An event is on disk before the call that caused it is answered; [`publisher`] sends it from there. Nothing is kept only
//! in memory, so nothing is lost when a server dies.
//!
//! Owns the events, the [`buffer`] of unsent ones, the [`history`] and its [`summary()`]. Must not know MCP or the catalog:
//! callers describe what happened as an [`Event`].
//!
//! Start reading with [`Usage`], through which everything is recorded, then [`buffer`] and [`publisher`].

pub mod options;
mod event;
mod session;
mod history;
mod summary;
mod buffer;
mod segment;
mod publisher;
mod client;
mod legacy;

pub use event::Event;
pub use summary::{SkillUse, Summary, summary};

use base::digest::Sha256;
use base::timestamp;
use buffer::Buffer;
use client::Client;
use history::{History, HistoryEntry};
use options::Options;
use publisher::Publisher;
use session::Sessions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Records what one client does. Cloned for each request; does nothing while analytics is disabled.
#[derive(Clone)]
pub struct Usage {
    analytics: Option<Arc<Analytics>>,
    session: Arc<str>,
}

struct Analytics {
    history: History,
    /// `None` without an endpoint.
    buffer: Option<Arc<Buffer>>,
    include_text: bool,
    server_id: String,
    sessions: Sessions,
    /// Whether the last write failed, which is logged once.
    failing: AtomicBool,
    /// Dropping it ends the publisher thread.
    _end: Mutex<Sender<()>>,
}

impl Usage {
    /// Starts analytics as configured, including sending events left by an earlier server.
    pub fn open(options: &Options, records: Option<&Path>, home: Option<&Path>) -> Self {
        if !options.enabled {
            return Self::disabled();
        }
        let Some(records) = records else {
            tracing::warn!("analytics is disabled: HOME is not set");
            return Self::disabled();
        };
        let analytics = Analytics::new(options, records, home);
        let usage = Self { analytics: Some(Arc::new(analytics)), session: session::new_id() };
        usage.write(Analytics::prepare);
        usage
    }

    pub fn disabled() -> Self {
        Self { analytics: None, session: "".into() }
    }

    pub fn is_enabled(&self) -> bool {
        self.analytics.is_some()
    }

    /// Whether events contain free text.
    pub fn includes_text(&self) -> bool {
        self.analytics.as_ref().is_some_and(|analytics| analytics.include_text)
    }

    /// Returns a recorder for a client without a session of its own, which is recognized by its name.
    pub fn for_client(&self, client: &str) -> Self {
        let session = self.analytics.as_ref().map(|analytics| analytics.sessions.at(client, Instant::now()));
        Self { analytics: self.analytics.clone(), session: session.unwrap_or_else(|| Arc::clone(&self.session)) }
    }

    /// Records a tool call in the history.
    pub fn record_call(&self, tool: &str) {
        self.write(|analytics| {
            analytics.history.add([HistoryEntry::tool(tool, &self.session, &timestamp::now_millis())])
        });
    }

    /// Writes an event to disk. Returns `false` if that failed and the event is lost.
    pub fn record(&self, event: Event) -> bool {
        self.record_all([event])
    }

    pub fn record_all(&self, events: impl IntoIterator<Item = Event>) -> bool {
        self.write(|analytics| analytics.add(events, &self.session))
    }

    /// Calls are answered even if nothing can be written: the failure is logged once, and every event tries again. Returns
    /// `true` if there is nothing to write.
    fn write(&self, write: impl FnOnce(&Analytics) -> io::Result<()>) -> bool {
        let Some(analytics) = &self.analytics else { return true };
        // Usually a few microseconds, but a disk can stall.
        let written = tokio::task::block_in_place(|| write(analytics));
        let is_written = written.is_ok();
        let failed_before = analytics.failing.swap(!is_written, Ordering::Relaxed);
        match written {
            Err(error) if !failed_before => {
                tracing::warn!("cannot write analytics events to disk, so events are lost: {error}");
            }
            Ok(()) if failed_before => tracing::info!("analytics events can be written to disk again"),
            _ => {}
        }
        is_written
    }
}

impl Analytics {
    /// Starts the publisher. Nothing is written yet.
    fn new(options: &Options, records: &Path, home: Option<&Path>) -> Self {
        let (end, ended) = mpsc::channel();
        let buffer = options.endpoint.as_ref().map(|endpoint| {
            // Each endpoint has its own folder, because events for one must not reach another.
            let folder = buffers_folder(records).join(&Sha256::of(endpoint.url.as_bytes()).hex()[..12]);
            let buffer = Arc::new(Buffer::new(&folder, options.max_bytes));
            let publisher = Publisher {
                buffer: Arc::clone(&buffer),
                client: Client::new(endpoint.clone(), options.timeout),
                interval: options.interval,
                include_text: options.include_text,
                legacy_file: home.map(|home| home.join(".skills-mcp/analytics-buffer.jsonl")),
            };
            let thread = std::thread::Builder::new().name("analytics".to_owned()).spawn(move || publisher.run(&ended));
            if let Err(error) = thread {
                tracing::warn!("cannot send analytics events; they stay on disk until another server does: {error}");
            }
            buffer
        });
        Self {
            history: History::new(&history_folder(records)),
            buffer,
            include_text: options.include_text,
            server_id: options.server_id.clone(),
            sessions: Sessions::default(),
            failing: AtomicBool::new(false),
            _end: Mutex::new(end),
        }
    }

    /// Creates the folders, so that a failure is logged at startup.
    fn prepare(&self) -> io::Result<()> {
        self.history.prepare()?;
        self.buffer.as_ref().map_or(Ok(()), |buffer| buffer.prepare())
    }

    fn add(&self, events: impl IntoIterator<Item = Event>, session: &str) -> io::Result<()> {
        let time = timestamp::now_millis();
        let events: Vec<Event> = events.into_iter().map(|event| event.trimmed(self.include_text)).collect();
        if events.is_empty() {
            return Ok(());
        }
        let buffered = self.buffer.as_ref().map_or(Ok(()), |buffer| {
            let lines: io::Result<String> = events.iter().map(|event| event.line(&self.server_id, &time)).collect();
            buffer.add(&lines?, events.len())
        });
        let remembered = self.history.add(events.iter().map(|event| HistoryEntry::event(event, session, &time)));
        buffered.and(remembered)
    }
}

fn history_folder(records: &Path) -> PathBuf {
    records.join("analytics")
}

/// The parent of the buffers of all endpoints, current and former.
fn buffers_folder(records: &Path) -> PathBuf {
    records.join("analytics/waiting")
}
