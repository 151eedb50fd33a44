//! Notifies clients of changed lists and resources.
//!
//! One task detects changes and broadcasts them ([`announce`]). Each session forwards what its client wants: clients that sent
//! `initialize` get all list changes, stateless ones what they named in `subscriptions/listen`.

mod announce;

pub use announce::announce;

use crate::answer::{Result, invalid};
use crate::resources;
use crate::server::Server;
use base::digest::Sha256;
use rmcp::model::{
    GetMeta, PromptListChangedNotification, ResourceContents, ResourceListChangedNotification,
    ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerNotification, SubscriptionFilter,
    ToolListChangedNotification,
};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// The most resources that are watched for all clients together. Each is read at every change on disk.
const MAX_WATCHED: usize = 1_000;

/// The most resources of one listener, and the longest URI.
const MAX_SUBSCRIPTIONS: usize = 100;
const MAX_URI_LENGTH: usize = 4_096;

/// Prepared subscriptions that no listener takes are dropped after this long.
const PREPARED_TTL: Duration = Duration::from_secs(10);

/// How long the confirmation of a listener may be delayed.
const PREPARATION_TIMEOUT: Duration = Duration::from_secs(1);

/// A session that falls further behind is notified of everything at once.
const BACKLOG: usize = 1_024;

/// A change, broadcast to all sessions.
#[derive(Debug, Clone)]
enum Notice {
    Lists { lists: Lists, reason: Arc<str> },
    Updated(Arc<str>),
}

/// Some of the three lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Lists {
    tools: bool,
    prompts: bool,
    resources: bool,
}

impl Lists {
    const ALL: Self = Self { tools: true, prompts: true, resources: true };
}

/// The broadcast channel, and the resources that are watched.
pub struct Hub {
    notices: broadcast::Sender<Notice>,
    watched: Mutex<HashMap<Arc<str>, Watched>>,
    /// For stateless clients that are about to listen.
    prepared: Mutex<Vec<Prepared>>,
    /// Locked during a preparation that blocks rmcp. Only one thread may block.
    preparing: tokio::sync::Mutex<()>,
}

/// The state of a listener, created before its confirmation is sent: from then on it must not miss anything.
struct Prepared {
    notices: broadcast::Receiver<Notice>,
    uris: Vec<String>,
    subscriptions: Vec<Subscription>,
    at: Instant,
}

struct Watched {
    sessions: usize,
    /// The digest of the last read; `None` if the resource does not exist.
    digest: Option<Sha256>,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            notices: broadcast::Sender::new(BACKLOG),
            watched: Mutex::default(),
            prepared: Mutex::default(),
            preparing: tokio::sync::Mutex::default(),
        }
    }
}

impl Hub {
    fn watched(&self) -> MutexGuard<'_, HashMap<Arc<str>, Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches a resource until it is dropped.
pub struct Subscription {
    server: Server,
    uri: Arc<str>,
}

impl Subscription {
    pub async fn new(server: &Server, uri: &str) -> Result<Self> {
        // Read first, so that any change after the answer is noticed.
        let digest = digest(server, uri).await;
        let mut watched = server.state.hub.watched();
        if watched.len() >= MAX_WATCHED && !watched.contains_key(uri) {
            return Err(invalid(format!("more than {MAX_WATCHED} resources are watched: unsubscribe from some first")));
        }
        let uri: Arc<str> = uri.into();
        watched.entry(Arc::clone(&uri)).or_insert(Watched { sessions: 0, digest }).sessions += 1;
        drop(watched);
        Ok(Self { server: server.clone(), uri })
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut watched = self.server.state.hub.watched();
        if let Some(entry) = watched.get_mut(&self.uri) {
            entry.sessions -= 1;
            if entry.sessions == 0 {
                watched.remove(&self.uri);
            }
        }
    }
}

/// Returns the digest of a resource, or `None` if it cannot be read.
async fn digest(server: &Server, uri: &str) -> Option<Sha256> {
    let contents = resources::read(server, uri).await.ok()?;
    let mut all = String::new();
    for part in contents {
        let (ResourceContents::TextResourceContents { uri, text: body, .. }
        | ResourceContents::BlobResourceContents { uri, blob: body, .. }) = part
        else {
            continue;
        };
        all.extend([uri.as_str(), "\0", body.as_str(), "\0"]);
    }
    Some(Sha256::of(all.as_bytes()))
}

/// The subscriptions of a session with a handshake.
#[derive(Default)]
pub struct Subscribed {
    subscriptions: Mutex<HashMap<String, Subscription>>,
    /// Ends the previous forwarding when a client repeats its handshake.
    replaced: Mutex<CancellationToken>,
}

impl Subscribed {
    /// Replaces the previous forwarding, so that a client that repeats `initialized` gets each notification once.
    fn begin(&self) -> CancellationToken {
        let mut replaced = self.replaced.lock().unwrap_or_else(PoisonError::into_inner);
        replaced.cancel();
        *replaced = CancellationToken::new();
        replaced.clone()
    }

    pub fn subscriptions(&self) -> MutexGuard<'_, HashMap<String, Subscription>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forwards notices to a client with a handshake, from the end of the handshake until the client is gone.
pub fn forward(server: &Server, peer: Peer<RoleServer>, subscribed: Arc<Subscribed>) {
    let mut notices = server.state.hub.notices.subscribe();
    let replaced = subscribed.begin();
    tokio::spawn(async move {
        while let Some(notice) = replaced.run_until_cancelled(notices.recv()).await {
            let uris: Vec<String> = subscribed.subscriptions().keys().cloned().collect();
            let Some(notifications) = notifications(notice, &uris) else { return };
            for notification in notifications {
                if peer.send_notification(notification).await.is_err() {
                    return;
                }
            }
        }
    });
}

/// Converts a notice for a client that watches these resources. Returns `None` when no more will come. A session that fell
/// behind is notified of everything.
fn notifications(notice: Result<Notice, RecvError>, watched: &[String]) -> Option<Vec<ServerNotification>> {
    Some(match notice {
        Ok(Notice::Lists { lists, reason }) => list_changes(lists, &reason),
        Ok(Notice::Updated(uri)) if watched.iter().any(|watched| **watched == *uri) => vec![updated(&uri)],
        Ok(Notice::Updated(_)) => Vec::new(),
        Err(RecvError::Lagged(_)) => {
            let mut changes = list_changes(Lists::ALL, "more changes than could be sent one by one");
            changes.extend(watched.iter().map(|uri| updated(uri)));
            changes
        }
        Err(RecvError::Closed) => return None,
    })
}

fn updated(uri: &str) -> ServerNotification {
    ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(uri)).into()
}

fn list_changes(lists: Lists, reason: &str) -> Vec<ServerNotification> {
    let changes: [Option<ServerNotification>; 3] = [
        lists.tools.then(|| ToolListChangedNotification::default().into()),
        lists.prompts.then(|| PromptListChangedNotification::default().into()),
        lists.resources.then(|| ResourceListChangedNotification::default().into()),
    ];
    let mut changes: Vec<ServerNotification> = changes.into_iter().flatten().collect();
    for change in &mut changes {
        change.get_meta_mut().0.0.insert("reason".to_owned(), reason.into());
    }
    changes
}

/// Returns the part of a filter that is supported (only resources of skills are watched), and prepares for the listener.
pub fn accept(server: &Server, requested: &SubscriptionFilter) -> SubscriptionFilter {
    if server.frozen {
        return SubscriptionFilter::default();
    }
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        *uris = watchable(uris);
    }
    let prepared = || server.state.hub.prepared.lock().unwrap_or_else(PoisonError::into_inner);
    let expired: Vec<Prepared> = prepared().extract_if(.., |prepared| prepared.at.elapsed() > PREPARED_TTL).collect();
    drop(expired);
    // rmcp calls this synchronously and confirms right after. While another listener is being prepared, the next one prepares
    // itself after its confirmation: more blocked threads could leave none for what they wait for.
    if let Ok(_only) = server.state.hub.preparing.try_lock() {
        let uris = accepted.resource_subscriptions.clone().unwrap_or_default();
        let ready = async { tokio::time::timeout(PREPARATION_TIMEOUT, prepare(server, uris)).await.ok() };
        let ready = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(ready));
        if let Some(ready) = ready {
            if let Some(uris) = &mut accepted.resource_subscriptions {
                uris.clone_from(&ready.uris);
            }
            prepared().push(ready);
        }
    }
    accepted
}

/// Returns the resources that a listener can watch, each once.
fn watchable(uris: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    let valid = uris.iter().filter(|uri| uri.starts_with("skill://") && uri.len() <= MAX_URI_LENGTH);
    valid.filter(|uri| seen.insert(*uri)).take(MAX_SUBSCRIPTIONS).cloned().collect()
}

async fn prepare(server: &Server, uris: Vec<String>) -> Prepared {
    let notices = server.state.hub.notices.subscribe();
    let (mut watched, mut subscriptions) = (Vec::new(), Vec::new());
    for uri in uris {
        match Subscription::new(server, &uri).await {
            Ok(subscription) => {
                subscriptions.push(subscription);
                watched.push(uri);
            }
            Err(error) => tracing::warn!("{}", error.message),
        }
    }
    Prepared { notices, uris: watched, subscriptions, at: Instant::now() }
}

/// Forwards notices to a stateless client until it stops listening.
pub async fn listen(server: &Server, context: SubscriptionContext) {
    // rmcp confirms a resource as often as the client named it.
    let wanted = watchable(context.accepted().resource_subscriptions.as_deref().unwrap_or_default());
    let ready = {
        let mut waiting = server.state.hub.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let position = waiting.iter().position(|prepared| prepared.uris == wanted);
        position.map(|position| waiting.remove(position))
    };
    let Prepared { mut notices, uris, subscriptions: _subscriptions, .. } = match ready {
        Some(ready) => ready,
        None => prepare(server, wanted).await,
    };
    let sink = context.sink();
    let cancelled = server.cancellations.subscription(sink.id());
    loop {
        let notice = tokio::select! {
            biased;
            () = context.cancelled() => return,
            () = cancelled.cancelled() => return,
            () = server.cancellations.input_ended.cancelled() => return,
            notice = notices.recv() => notice,
        };
        let Some(notifications) = notifications(notice, &uris) else { return };
        for notification in notifications {
            // rmcp rejects lists that the client did not name.
            if let Err(error) = sink.send(notification).await {
                tracing::debug!("a notification was not sent: {error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_that_falls_behind_is_notified_of_every_list_and_watched_resource() {
        let (sender, mut notices) = broadcast::channel(1);
        for uri in ["skill://a", "skill://b"] {
            sender.send(Notice::Updated(uri.into())).unwrap();
        }
        let watched = ["skill://a", "skill://c"].map(str::to_owned);
        let sent = notifications(notices.recv().await, &watched);
        let sent: Vec<_> = sent.unwrap().iter().map(|sent| serde_json::to_value(sent).unwrap()).collect();
        let methods: Vec<&str> = sent.iter().map(|sent| sent["method"].as_str().unwrap()).collect();
        let lists = ["tools", "prompts", "resources"].map(|list| format!("notifications/{list}/list_changed"));
        assert_eq!(methods[..3], lists);
        assert_eq!(methods[3..], ["notifications/resources/updated"; 2]);
        let uris: Vec<&str> = sent[3..].iter().map(|sent| sent["params"]["uri"].as_str().unwrap()).collect();
        assert_eq!(uris, watched);
    }
}
