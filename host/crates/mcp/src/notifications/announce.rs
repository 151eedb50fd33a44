//! Detects which lists and resources changed.

use super::{Lists, Notice, digest};
use crate::server::Server;
use crate::surface::NotifyOn;
use crate::texts::Fingerprints;
use base::printable::counted;
use catalog::{News, RESCAN_EVERY};
use library::watch::{self, ChangeSignal};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

/// Subscribed resources are read again after this long without changes.
const UPDATE_DEBOUNCE: Duration = Duration::from_millis(100);

/// The longest debounce.
const MAX_UPDATE_DEBOUNCE: Duration = Duration::from_secs(1);

/// Broadcasts changes to all sessions until the shutdown.
pub async fn announce(server: Server, disturbances: ChangeSignal, quiet: Receiver<()>, shutdown: CancellationToken) {
    let both = async { tokio::join!(lists(&server, quiet), resources(&server, disturbances)) };
    shutdown.run_until_cancelled(both).await;
}

/// Announces changed lists once the disk is quiet and all changes are applied, so that many changes cause one notification,
/// even if clients request lists meanwhile.
async fn lists(server: &Server, mut quiet: Receiver<()>) {
    let mut news = server.catalog.news();
    let mut changes = ListChanges::default();
    loop {
        let is_quiet = tokio::select! {
            Ok(()) = quiet.changed() => true,
            Ok(()) = news.changed() => false,
            else => return,
        };
        let newest = *news.borrow_and_update();
        changes.compare(server, newest).await;
        if is_quiet {
            changes.announce(server);
        }
    }
}

#[derive(Default)]
struct ListChanges {
    announced: News,
    seen: News,
    fingerprints: Option<Fingerprints>,
    /// The lists that changed since the last announcement.
    changed: Lists,
}

impl ListChanges {
    /// Compares the lists with the last ones. A list that changed back is still announced, because a client may have read it
    /// meanwhile.
    async fn compare(&mut self, server: &Server, news: News) {
        if news == self.seen {
            return;
        }
        let Ok(index) = server.catalog.index().await else { return };
        let now = server.texts(&index).fingerprints;
        self.seen = news;
        let Some(before) = self.fingerprints.replace(now) else {
            self.announced = news;
            return;
        };
        let always = match server.surface.notify_on {
            NotifyOn::OtherAnswers => false,
            NotifyOn::SkillFiles => news.skill_files > self.announced.skill_files,
            NotifyOn::EveryChange => news.changes > self.announced.changes,
        };
        self.changed.tools |= always || before.tools != now.tools;
        self.changed.prompts |= always || before.prompts != now.prompts;
        self.changed.resources |= always || before.resources != now.resources;
    }

    fn announce(&mut self, server: &Server) {
        let changes = self.seen.changes - self.announced.changes;
        let changes = counted(usize::try_from(changes).unwrap_or(usize::MAX), "change");
        let lists = std::mem::take(&mut self.changed);
        self.announced = self.seen;
        tracing::debug!("the lists of generation {} were compared: {lists:?}", self.announced.generation);
        if lists != Lists::default() {
            let reason = format!("{changes} in the folders of skills").into();
            // There is no receiver before the first handshake.
            let _ = server.state.hub.notices.send(Notice::Lists { lists, reason });
        }
    }
}

async fn resources(server: &Server, mut disturbances: ChangeSignal) {
    let mut news = server.catalog.news();
    let mut watching = true;
    // For files that are neither watched nor part of a generation.
    let mut clock = interval_at(Instant::now() + RESCAN_EVERY, RESCAN_EVERY);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            Ok(()) = news.changed() => {}
            _ = clock.tick() => {}
            more = watch::debounce(&mut disturbances, UPDATE_DEBOUNCE, MAX_UPDATE_DEBOUNCE), if watching => watching = more,
        }
        announce_updates(server).await;
    }
}

/// Reads every watched resource again and announces those that changed.
async fn announce_updates(server: &Server) {
    let uris: Vec<Arc<str>> = server.state.hub.watched().keys().cloned().collect();
    for uri in uris {
        let now = digest(server, &uri).await;
        let mut watched = server.state.hub.watched();
        if let Some(entry) = watched.get_mut(&uri).filter(|entry| entry.digest != now) {
            entry.digest = now;
            let _ = server.state.hub.notices.send(Notice::Updated(uri));
        }
    }
}
