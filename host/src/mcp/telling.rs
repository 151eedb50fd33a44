//! Telling a client how its request goes: in order, and never after the answer.

#![expect(deprecated, reason = "the newest revision has no log messages, and clients of the older ones read them")]

use crate::mcp::methods::is_stateless;
use crate::scripts::Progress;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long an answer waits for what is still to be told.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Which log messages a client wants.
#[derive(Debug, Clone, Default)]
pub struct Volume {
    quiet: Arc<AtomicBool>,
}

impl Volume {
    pub fn set(&self, level: LoggingLevel) {
        self.quiet.store(level as u8 > LoggingLevel::Info as u8, Ordering::Relaxed);
    }

    /// Whether this client reads what a request is doing as log messages. One without a handshake says so each time.
    fn wants_messages(&self, context: &RequestContext<RoleServer>) -> bool {
        match context.meta.log_level() {
            Some(level) => level as u8 <= LoggingLevel::Info as u8,
            None => !is_stateless(context) && !self.quiet.load(Ordering::Relaxed),
        }
    }
}

/// How a client is told.
enum Way {
    Progress(ProgressToken),
    Messages,
}

/// What is on its way to a client.
pub struct Telling(Option<JoinHandle<()>>);

/// Tells a client how a request goes, if it asked to be told. With a volume there are log messages for one that did not ask.
pub fn begin(context: &RequestContext<RoleServer>, volume: Option<&Volume>) -> (Progress, Telling) {
    let messages = || volume.filter(|volume| volume.wants_messages(context)).map(|_| Way::Messages);
    let way = context.meta.get_progress_token().map(Way::Progress).or_else(messages);
    let Some(way) = way else { return (Arc::new(|_, _| {}), Telling(None)) };
    let peer = context.peer.clone();
    let (tell, mut told) = mpsc::unbounded_channel::<(f64, String)>();
    let task = tokio::spawn(async move {
        while let Some((progress, message)) = told.recv().await {
            // A client that is gone needs no progress.
            let _ = match &way {
                Way::Progress(token) => {
                    let told = ProgressNotificationParam::new(token.clone(), progress).with_message(message);
                    peer.notify_progress(told).await
                }
                Way::Messages => {
                    let told = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
                    peer.notify_logging_message(told.with_logger("skillcell")).await
                }
            };
        }
    });
    let progress = Arc::new(move |progress, message| {
        let _ = tell.send((progress, message));
    });
    (progress, Telling(Some(task)))
}

impl Telling {
    /// Waits until everything is told. Whoever told it is done.
    pub async fn finish(self) {
        if let Some(task) = self.0 {
            drop(tokio::time::timeout(LAST_WORDS, task).await);
        }
    }
}
