//! Finding out which lists and resources changed.

use super::{Lists, Notice, digest};
use crate::catalog::News;
use crate::catalog::keeping::{LOOK_LONGEST, LOOK_QUIET};
use crate::library::watch::{self, Disturbances};
use crate::mcp::server::Skillcell;
use crate::mcp::surface::Announces;
use crate::mcp::texts::Prints;
use crate::printable::counted;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A subscribed resource is read again when its files were left alone for this long.
const UPDATE_QUIET: Duration = Duration::from_millis(100);

/// And at the latest after this long, however busy the disk is.
const UPDATE_LONGEST: Duration = Duration::from_secs(1);

/// Finds out what changed and tells everybody, until the server ends.
pub async fn announce(server: Skillcell, disturbances: Disturbances, ended: CancellationToken) {
    let both = async { tokio::join!(lists(&server, disturbances.clone()), resources(&server, disturbances.clone())) };
    ended.run_until_cancelled(both).await;
}

/// Tells of lists when the disk is calm, so that many changes are told once, also when clients ask for lists meanwhile.
async fn lists(server: &Skillcell, mut disturbances: Disturbances) {
    let mut news = server.catalog.news();
    let mut told = Told::default();
    let now = *news.borrow_and_update();
    told.compare(server, now).await;
    while news.changed().await.is_ok() {
        let newest = *news.borrow_and_update();
        told.compare(server, newest).await;
        loop {
            tokio::select! {
                () = watch::calm(&mut disturbances, LOOK_QUIET, LOOK_LONGEST) => break,
                Ok(()) = news.changed() => {
                    let newest = *news.borrow_and_update();
                    told.compare(server, newest).await;
                }
            }
        }
        told.tell(server);
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
        if news.generation == 0 {
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
    loop {
        tokio::select! {
            Ok(()) = news.changed() => {}
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
