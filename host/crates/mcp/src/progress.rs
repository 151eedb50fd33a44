//! Sends progress to a client: in order, and never after the answer.

#![expect(deprecated, reason = "log messages exist only in older revisions")]

use crate::methods::is_stateless;
use call::Progress;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long an answer waits for progress that is not sent yet.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(200);

/// Which log messages a client wants.
#[derive(Debug, Clone, Default)]
pub struct LogFilter {
    above_info: Arc<AtomicBool>,
}

impl LogFilter {
    pub fn set(&self, level: LoggingLevel) {
        self.above_info.store(level as u8 > LoggingLevel::Info as u8, Ordering::Relaxed);
    }

    /// Whether this client wants progress as log messages. A stateless client says so with each request.
    fn accepts_info(&self, context: &RequestContext<RoleServer>) -> bool {
        match context.meta.log_level() {
            Some(level) => level as u8 <= LoggingLevel::Info as u8,
            None => !is_stateless(context) && !self.above_info.load(Ordering::Relaxed),
        }
    }
}

enum Channel {
    Progress(ProgressToken),
    LogMessages,
}

/// The task that sends progress, if the client wants any.
type Sender = Option<JoinHandle<()>>;

/// Starts sending the progress of a request. With a filter, clients that sent no progress token get log messages.
pub fn start(context: &RequestContext<RoleServer>, filter: Option<&LogFilter>) -> (Progress, Sender) {
    let messages = || filter.filter(|filter| filter.accepts_info(context)).map(|_| Channel::LogMessages);
    let channel = context.meta.get_progress_token().map(Channel::Progress).or_else(messages);
    let Some(channel) = channel else { return (Progress::default(), None) };
    let peer = context.peer.clone();
    let (reports, mut received) = mpsc::unbounded_channel::<(f64, String)>();
    let task = tokio::spawn(async move {
        while let Some((amount, message)) = received.recv().await {
            // A client that is gone needs no progress.
            let _ = match &channel {
                Channel::Progress(token) => {
                    let progress = ProgressNotificationParam::new(token.clone(), amount).with_message(message);
                    peer.notify_progress(progress).await
                }
                Channel::LogMessages => {
                    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
                    peer.notify_logging_message(message.with_logger("skillcell")).await
                }
            };
        }
    });
    let progress = Progress::new(move |amount, message| {
        let _ = reports.send((amount, message));
    });
    (progress, Some(task))
}

/// Waits until everything is sent. Every clone of the [`Progress`] must be dropped before.
pub async fn finish(sender: Sender) {
    if let Some(task) = sender {
        drop(tokio::time::timeout(FLUSH_TIMEOUT, task).await);
    }
}
