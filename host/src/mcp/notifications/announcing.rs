//! Finding out which lists and resources changed.

use super::{Lists, Notice, digest};
use crate::catalog::News;
use crate::catalog::keeping::LOOK_EVERY;
use crate::library::watch::{self, Disturbances};
use crate::mcp::server::Skillcell;
use crate::mcp::surface::Announces;
use crate::mcp::texts::Prints;
use crate::printable::counted;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

/// A subscribed resource is read again when its files were left alone for this long.
const UPDATE_QUIET: Duration = Duration::from_millis(100);

/// And at the latest after this long, however busy the disk is.
const UPDATE_LONGEST: Duration = Duration::from_secs(1);

/// Finds out what changed and tells everybody, until the server ends.
pub async fn announce(server: Skillcell, disturbances: Disturbances, calm: Receiver<()>, ended: CancellationToken) {
    let both = async { tokio::join!(lists(&server, calm), resources(&server, disturbances)) };
    ended.run_until_cancelled(both).await;
}

/// Tells of lists when the disk is calm and everything on it is served, so that many changes are told once, also when clients
/// ask for lists meanwhile.
async fn lists(server: &Skillcell, mut calm: Receiver<()>) {
    let mut news = server.catalog.news();
    let mut told = Told::default();
    loop {
        let is_calm = tokio::select! {
            Ok(()) = calm.changed() => true,
            Ok(()) = news.changed() => false,
            else => return,
        };
        let newest = *news.borrow_and_update();
        told.compare(server, newest).await;
        if is_calm {
            told.tell(server);
        }
    }
}

/// What clients were told last, and what they are to be told.
#[derive(Default)]
struct Told {
    last: News,
    seen: News,
    prints: Option<Prints>,
    due: Lists,
}

impl Told {
    /// Looks which lists have another answer. A client may have asked for any of them, so all are told that ever had.
    async fn compare(&mut self, server: &Skillcell, news: News) {
        if news == self.seen {
            return;
        }
        let Ok(index) = server.catalog.index().await else { return };
        let prints = server.texts(&index).prints;
        self.seen = news;
        let Some(before) = self.prints.replace(prints) else {
            self.last = news;
            return;
        };
        let always = match server.surface().announces {
            Announces::OtherAnswers => false,
            Announces::SkillFiles => news.skill_files > self.last.skill_files,
            Announces::EveryChange => news.changes > self.last.changes,
        };
        self.due.tools |= always || before.tools != prints.tools;
        self.due.prompts |= always || before.prompts != prints.prompts;
        self.due.resources |= always || before.resources != prints.resources;
    }

    fn tell(&mut self, server: &Skillcell) {
        let changes = self.seen.changes - self.last.changes;
        let changes = counted(usize::try_from(changes).unwrap_or(usize::MAX), "change");
        let lists = std::mem::take(&mut self.due);
        self.last = self.seen;
        tracing::debug!("the lists of generation {} were compared: {lists:?}", self.last.generation);
        if lists != Lists::default() {
            let reason = format!("{changes} in the folders of skills").into();
            // Nobody listens before the first handshake.
            let _ = server.hub.notices.send(Notice::Lists { lists, reason });
        }
    }
}

async fn resources(server: &Skillcell, mut disturbances: Disturbances) {
    let mut news = server.catalog.news();
    let mut watching = true;
    // For files that no generation is made from, where nobody watches them.
    let mut clock = interval_at(Instant::now() + LOOK_EVERY, LOOK_EVERY);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            Ok(()) = news.changed() => {}
            _ = clock.tick() => {}
            more = watch::settled(&mut disturbances, UPDATE_QUIET, UPDATE_LONGEST), if watching => watching = more,
        }
        updates(server).await;
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
