//! Telling clients that a list or a resource changed.
//!
//! One task finds out what changed and broadcasts it. Each session listens and passes on what it asked for: sessions that
//! began with `initialize` get list changes unasked, those of the stateless era what they named in `subscriptions/listen`.

use crate::catalog::News;
use crate::library::watch::{self, Disturbances};
use crate::mcp::resources;
use crate::mcp::server::Skillcell;
use crate::mcp::surface::Announces;
use crate::mcp::texts::Prints;
use crate::printable::counted;
use crate::sha256::Sha256;
use rmcp::model::{
    MetaObject, NotificationMetaObject, PromptListChangedNotification, ResourceContents,
    ResourceListChangedNotification, ResourceUpdatedNotificationParam, ServerNotification, SubscriptionFilter,
    ToolListChangedNotification,
};
use rmcp::object;
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// A subscribed resource is read again when its files were left alone for this long.
const UPDATE_QUIET: Duration = Duration::from_millis(100);

/// And at the latest after this long, however busy the disk is.
const UPDATE_LONGEST: Duration = Duration::from_secs(1);

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
    Lists { tools: bool, prompts: bool, resources: bool, reason: Option<Arc<str>> },
    Updated(Arc<str>),
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

/// Finds out what changed and tells everybody, until the server ends.
pub async fn announce(server: Skillcell, mut disturbances: Disturbances, ended: CancellationToken) {
    let mut news = server.catalog.news();
    let mut told = Told::default();
    let now = *news.borrow_and_update();
    if now.generation > 0 {
        told.lists(&server, now).await;
    }
    let mut watching = true;
    loop {
        tokio::select! {
            () = ended.cancelled() => return,
            Ok(()) = news.changed() => {
                let newest = *news.borrow_and_update();
                told.lists(&server, newest).await;
                updates(&server).await;
            }
            more = watch::settled(&mut disturbances, UPDATE_QUIET, UPDATE_LONGEST), if watching => {
                watching = more;
                updates(&server).await;
            }
        }
    }
}

/// What clients were told last.
#[derive(Default)]
struct Told {
    news: News,
    prints: Option<Prints>,
}

impl Told {
    async fn lists(&mut self, server: &Skillcell, news: News) {
        let Ok(index) = server.catalog.index().await else { return };
        let prints = server.texts(&index).prints;
        let (before, first) = (self.prints.replace(prints), self.news.generation == 0);
        let last = std::mem::replace(&mut self.news, news);
        let Some(before) = before.filter(|_| !first) else { return };
        let changes = news.changes - last.changes;
        let (always, reason) = match server.surface().announces {
            Announces::OtherAnswers => (false, None),
            Announces::SkillFiles => (news.skill_files > last.skill_files, None),
            Announces::EveryChange => {
                let changes = counted(usize::try_from(changes).unwrap_or(usize::MAX), "change");
                (true, Some(format!("{changes} in the folders of skills").into()))
            }
        };
        let notice = Notice::Lists {
            tools: always || before.tools != prints.tools,
            prompts: always || before.prompts != prints.prompts,
            resources: always || before.resources != prints.resources,
            reason,
        };
        // Nobody listens before the first handshake.
        let _ = server.hub.notices.send(notice);
    }
}

/// Reads every watched resource again and tells which are others now.
async fn updates(server: &Skillcell) {
    let uris: Vec<Arc<str>> = server.hub.watched().keys().cloned().collect();
    for uri in uris {
        let now = digest(server, &uri).await;
        let mut watched = server.hub.watched();
        if let Some(entry) = watched.get_mut(&uri).filter(|entry| entry.digest != now) {
            entry.digest = now;
            let _ = server.hub.notices.send(Notice::Updated(uri));
        }
    }
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
            let sent = match notice {
                Ok(notice) => {
                    let wanted: Vec<ServerNotification> = match notice {
                        Notice::Lists { tools, prompts, resources, reason } => {
                            list_changes([tools, prompts, resources], reason.as_deref())
                        }
                        Notice::Updated(uri) if subscribed.contains(&uri) => {
                            let uri = ResourceUpdatedNotificationParam::new(uri.as_ref());
                            vec![ServerNotification::ResourceUpdatedNotification(rmcp::model::Notification::new(uri))]
                        }
                        Notice::Updated(_) => Vec::new(),
                    };
                    send_all(&peer, wanted).await
                }
                Err(RecvError::Lagged(_)) => send_all(&peer, list_changes([true; 3], None)).await,
                Err(RecvError::Closed) => return,
            };
            if sent.is_err() {
                return;
            }
        }
    });
}

async fn send_all(peer: &Peer<RoleServer>, notifications: Vec<ServerNotification>) -> Result<(), rmcp::ServiceError> {
    for notification in notifications {
        peer.send_notification(notification).await?;
    }
    Ok(())
}

fn list_changes([tools, prompts, resources]: [bool; 3], reason: Option<&str>) -> Vec<ServerNotification> {
    let mut changes = Vec::new();
    if tools {
        let mut changed = ToolListChangedNotification::default();
        if let Some(reason) = reason {
            changed.extensions.insert(NotificationMetaObject(MetaObject(object!({"reason": reason}))));
        }
        changes.push(ServerNotification::ToolListChangedNotification(changed));
    }
    if prompts {
        changes.push(ServerNotification::PromptListChangedNotification(PromptListChangedNotification::default()));
    }
    if resources {
        changes.push(ServerNotification::ResourceListChangedNotification(ResourceListChangedNotification::default()));
    }
    changes
}

/// What of a filter can be listened to: only resources of skills are watched. Prepares for it.
pub fn accept(server: &Skillcell, requested: &SubscriptionFilter) -> SubscriptionFilter {
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
        let sent = match notice {
            Ok(Notice::Lists { tools, prompts, resources, reason }) => {
                let mut sent = Ok(());
                for change in list_changes([tools, prompts, resources], reason.as_deref()) {
                    sent = sent.and(sink.send(change).await);
                }
                sent
            }
            Ok(Notice::Updated(uri)) if uris.iter().any(|wanted| **wanted == *uri) => {
                sink.notify_resource_updated(uri.as_ref()).await
            }
            Ok(Notice::Updated(_)) => Ok(()),
            Err(RecvError::Lagged(_)) => {
                for change in list_changes([true; 3], None) {
                    let _ = sink.send(change).await;
                }
                Ok(())
            }
            Err(RecvError::Closed) => return,
        };
        if let Err(error) = sent {
            tracing::debug!("a notification was not sent: {error}");
        }
    }
}
