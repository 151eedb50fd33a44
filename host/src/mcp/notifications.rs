//! Telling clients that a list or a resource changed.
//!
//! One task finds out what changed and broadcasts it. Each session listens and passes on what it asked for: sessions that
//! began with `initialize` get list changes unasked, those of the stateless era what they named in `subscriptions/listen`.

mod announcing;

pub use announcing::announce;

use crate::mcp::resources;
use crate::mcp::server::Skillcell;
use crate::sha256::Sha256;
use rmcp::model::{
    GetMeta, Notification, PromptListChangedNotification, ResourceContents, ResourceListChangedNotification,
    ResourceUpdatedNotificationParam, ServerNotification, SubscriptionFilter, ToolListChangedNotification,
};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Most resources that are watched for all clients together. Each is read at every change on disk.
const MOST_WATCHED: usize = 1_000;

/// Most resources that one listener names, and the longest name of one.
const MOST_EACH: usize = 100;
const LONGEST_URI: usize = 4_096;

/// A client that was not there to be told is forgotten after this long.
const FORGOTTEN: Duration = Duration::from_secs(10);

/// Longest that a listener is kept waiting for the yes.
const LONGEST_PREPARATION: Duration = Duration::from_secs(1);

/// Notices that a slow session may fall behind before it is told of everything at once.
const BACKLOG: usize = 1_024;

/// What every session is told, to pick from.
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

/// Where notices come from, and which resources somebody waits for.
pub struct Hub {
    notices: broadcast::Sender<Notice>,
    watched: Mutex<HashMap<Arc<str>, Watched>>,
    /// What clients of the stateless era are about to listen to.
    prepared: Mutex<Vec<Prepared>>,
    /// Held by whoever prepares while rmcp waits for it. There is room for one such thread.
    preparing: tokio::sync::Mutex<()>,
}

/// Everything a listener needs, made ready before it is told that it listens: from then on it must miss nothing.
struct Prepared {
    notices: broadcast::Receiver<Notice>,
    uris: Vec<String>,
    subscriptions: Vec<Subscription>,
    at: Instant,
}

struct Watched {
    sessions: usize,
    /// What the resource was when it was last read; nothing while it does not exist.
    digest: Option<Sha256>,
}

#[derive(Debug, thiserror::Error)]
#[error("more than {MOST_WATCHED} resources are watched: unsubscribe from some first")]
pub struct TooMany;

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

/// As long as it lives, its resource is watched.
pub struct Subscription {
    server: Skillcell,
    uri: Arc<str>,
}

impl Subscription {
    pub async fn new(server: &Skillcell, uri: &str) -> Result<Self, TooMany> {
        // Read first, so that a change after this answer is seen as one.
        let digest = digest(server, uri).await;
        let mut watched = server.hub.watched();
        if watched.len() >= MOST_WATCHED && !watched.contains_key(uri) {
            return Err(TooMany);
        }
        let uri: Arc<str> = uri.into();
        watched.entry(Arc::clone(&uri)).or_insert(Watched { sessions: 0, digest }).sessions += 1;
        drop(watched);
        Ok(Self { server: server.clone(), uri })
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut watched = self.server.hub.watched();
        if let Some(entry) = watched.get_mut(&self.uri) {
            entry.sessions -= 1;
            if entry.sessions == 0 {
                watched.remove(&self.uri);
            }
        }
    }
}

/// What a resource is right now.
async fn digest(server: &Skillcell, uri: &str) -> Option<Sha256> {
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

/// Resources that a session of the `initialize` era subscribed to.
#[derive(Default)]
pub struct Subscribed {
    subscriptions: Mutex<HashMap<String, Subscription>>,
    /// Ends the passing on to a client that began anew.
    replaced: Mutex<CancellationToken>,
}

impl Subscribed {
    pub fn add(&self, uri: String, subscription: Subscription) {
        self.subscriptions().insert(uri, subscription);
    }

    pub fn remove(&self, uri: &str) {
        self.subscriptions().remove(uri);
    }

    /// Whoever says twice that the handshake is over is told everything once.
    fn begin(&self) -> CancellationToken {
        let mut replaced = self.replaced.lock().unwrap_or_else(PoisonError::into_inner);
        replaced.cancel();
        *replaced = CancellationToken::new();
        replaced.clone()
    }

    fn contains(&self, uri: &str) -> bool {
        self.subscriptions().contains_key(uri)
    }

    fn uris(&self) -> Vec<String> {
        self.subscriptions().keys().cloned().collect()
    }

    fn subscriptions(&self) -> MutexGuard<'_, HashMap<String, Subscription>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes notices on to a client of the `initialize` era, from the end of its handshake until it goes away.
pub fn pass_on(server: &Skillcell, peer: Peer<RoleServer>, subscribed: Arc<Subscribed>) {
    let mut notices = server.hub.notices.subscribe();
    let replaced = subscribed.begin();
    tokio::spawn(async move {
        while let Some(notice) = replaced.run_until_cancelled(notices.recv()).await {
            let said = said(notice, |uri| subscribed.contains(uri), || subscribed.uris());
            let Some(notifications) = said else { return };
            for notification in notifications {
                if peer.send_notification(notification).await.is_err() {
                    return;
                }
            }
        }
    });
}

/// What a notice says to a client that watches these resources. Nothing when no more will come. Who fell behind is told that
/// everything may have changed.
fn said(
    notice: Result<Notice, RecvError>,
    watches: impl Fn(&str) -> bool,
    all_watched: impl Fn() -> Vec<String>,
) -> Option<Vec<ServerNotification>> {
    Some(match notice {
        Ok(Notice::Lists { lists, reason }) => list_changes(lists, &reason),
        Ok(Notice::Updated(uri)) if watches(&uri) => vec![updated(&uri)],
        Ok(Notice::Updated(_)) => Vec::new(),
        Err(RecvError::Lagged(_)) => {
            let mut changes = list_changes(Lists::ALL, "more changes than could be told one by one");
            changes.extend(all_watched().iter().map(|uri| updated(uri)));
            changes
        }
        Err(RecvError::Closed) => return None,
    })
}

fn updated(uri: &str) -> ServerNotification {
    let uri = ResourceUpdatedNotificationParam::new(uri);
    ServerNotification::ResourceUpdatedNotification(Notification::new(uri))
}

fn list_changes(lists: Lists, reason: &str) -> Vec<ServerNotification> {
    let mut changes = Vec::new();
    if lists.tools {
        changes.push(ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default()));
    }
    if lists.prompts {
        changes.push(ServerNotification::PromptListChangedNotification(PromptListChangedNotification::default()));
    }
    if lists.resources {
        changes.push(ServerNotification::ResourceListChangedNotification(ResourceListChangedNotification::default()));
    }
    for change in &mut changes {
        change.get_meta_mut().0.0.insert("reason".to_owned(), reason.into());
    }
    changes
}

/// What of a filter can be listened to: only resources of skills are watched. Prepares for it.
pub fn accept(server: &Skillcell, requested: &SubscriptionFilter) -> SubscriptionFilter {
    if server.config.frozen {
        return SubscriptionFilter::default();
    }
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        let mut seen = HashSet::new();
        uris.retain(|uri| uri.starts_with("skill://") && uri.len() <= LONGEST_URI && seen.insert(uri.clone()));
        uris.truncate(MOST_EACH);
    }
    let prepared = || server.hub.prepared.lock().unwrap_or_else(PoisonError::into_inner);
    let forgotten: Vec<Prepared> = prepared().extract_if(.., |prepared| prepared.at.elapsed() > FORGOTTEN).collect();
    drop(forgotten);
    // rmcp asks without waiting, and says yes to the client right after. Who comes while another is being prepared does
    // that itself, a moment after the yes: more threads that wait here could leave none for what they wait for.
    if let Ok(_only) = server.hub.preparing.try_lock() {
        let uris = accepted.resource_subscriptions.clone().unwrap_or_default();
        let ready = async { tokio::time::timeout(LONGEST_PREPARATION, prepare(server, uris)).await.ok() };
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

async fn prepare(server: &Skillcell, uris: Vec<String>) -> Prepared {
    let notices = server.hub.notices.subscribe();
    let (mut watched, mut subscriptions) = (Vec::new(), Vec::new());
    for uri in uris {
        match Subscription::new(server, &uri).await {
            Ok(subscription) => {
                subscriptions.push(subscription);
                watched.push(uri);
            }
            Err(error) => tracing::warn!("{error}"),
        }
    }
    Prepared { notices, uris: watched, subscriptions, at: Instant::now() }
}

/// Passes notices on to a client of the stateless era until it no longer listens.
pub async fn listen(server: &Skillcell, context: SubscriptionContext) {
    let wanted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    let ready = {
        let mut waiting = server.hub.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let place = waiting.iter().position(|prepared| prepared.uris == wanted);
        place.map(|place| waiting.remove(place))
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
            () = server.cancellations.silent.cancelled() => return,
            notice = notices.recv() => notice,
        };
        let said = said(notice, |uri| uris.iter().any(|wanted| wanted == uri), || uris.clone());
        let Some(notifications) = said else { return };
        for notification in notifications {
            // Lists that the client did not name are refused here.
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
    async fn who_fell_behind_is_told_of_every_list_and_every_watched_resource() {
        let (sender, mut notices) = broadcast::channel(1);
        for uri in ["skill://a", "skill://b"] {
            sender.send(Notice::Updated(uri.into())).unwrap();
        }
        let watched = ["skill://a", "skill://c"];
        let told = said(notices.recv().await, |uri| watched.contains(&uri), || watched.map(str::to_owned).into());
        let told: Vec<_> = told.unwrap().iter().map(|told| serde_json::to_value(told).unwrap()).collect();
        let methods: Vec<&str> = told.iter().map(|told| told["method"].as_str().unwrap()).collect();
        let lists = ["tools", "prompts", "resources"].map(|list| format!("notifications/{list}/list_changed"));
        assert_eq!(methods[..3], lists);
        assert_eq!(methods[3..], ["notifications/resources/updated"; 2]);
        let uris: Vec<&str> = told[3..].iter().map(|told| told["params"]["uri"].as_str().unwrap()).collect();
        assert_eq!(uris, watched);
    }
}
