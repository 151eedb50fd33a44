//! Answers about single skills, made from files as they are on disk now.

use super::alone::Sources;
use super::looking::Look;
use super::pair::Published;
use super::waiting::Waiting;
use super::{AskError, Catalog, FRESH_TRIES, Ranker};
use crate::bindings::types::Location;
use crate::library::snapshot::Snapshot;
use crate::library::stamp::Sameness;
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use std::sync::Arc;

/// An answer, and what became of the files that it was made from.
pub struct Checked<T> {
    pub answer: T,
    pub published: Published,
    /// How to look for newer ones; nothing when they are on disk as they are served.
    pub look: Option<Look>,
    /// Missing when the answer says something about all files.
    pub sources: Option<Sources>,
}

impl Catalog {
    /// Asks a question whose answer is made from a few files, and asks again if one of them changed on disk. An answer
    /// without sources, such as that there is no such skill, is given only after a look at everything.
    pub async fn ask_fresh<T: Send + 'static>(
        &self,
        question: impl Fn(&mut EngineInstance, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
        sources: impl Fn(&T) -> Option<Vec<Location>> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        let again = question.clone();
        let anew = move |_: &T, engine: &mut EngineInstance, files: &Arc<Snapshot>| again(engine, files).map(Some);
        let question = move |ranker: &mut Ranker<'_>, files: &Arc<Snapshot>| question(ranker.engine, files);
        Box::pin(self.ask_best(question, anew, sources)).await
    }

    /// The same for a question in which all skills have a say, with an answer that is made from the files of one. `anew` makes
    /// such an answer again from these files alone; nothing when another skill may be the answer by now.
    pub async fn ask_best<T: Send + 'static>(
        &self,
        question: impl Fn(&mut Ranker<'_>, &Arc<Snapshot>) -> Result<T, Broken> + Clone + Send + 'static,
        anew: impl Fn(&T, &mut EngineInstance, &Arc<Snapshot>) -> Result<Option<T>, Broken> + Clone + Send + 'static,
        sources: impl Fn(&T) -> Option<Vec<Location>> + Clone + Send + 'static,
    ) -> Result<T, AskError> {
        let mut waiting = Waiting::new();
        for _ in 0..FRESH_TRIES {
            let (question, sources, catalog) = (question.clone(), sources.clone(), self.clone());
            let asked = self.ask_of(move |seated, published| {
                let answer = question(&mut catalog.shared.ranker(seated), &published.snapshot)?;
                let files = sources(&answer);
                let needed = |files: &Vec<Location>| catalog.needed_look(&published.snapshot, files);
                let look = files.as_ref().map_or(Some(Look::UntilFound), needed);
                // Only whoever finds something changed wants to know more.
                let files = files.filter(|_| look.is_some());
                let sources = files.map(|files| Sources::of(files, &mut seated.engine)).transpose()?;
                Ok(Checked { answer, published: published.clone(), look, sources })
            });
            if let Some(answer) = self.settle(asked.await?, &mut waiting, anew.clone()).await {
                return Ok(answer);
            }
        }
        self.rank(question).await
    }

    /// The answer as it is good now; nothing when the question has to be asked again.
    pub(super) async fn settle<T: Send + 'static>(
        &self,
        checked: Checked<T>,
        waiting: &mut Waiting,
        anew: impl FnOnce(&T, &mut EngineInstance, &Arc<Snapshot>) -> Result<Option<T>, Broken> + Send + 'static,
    ) -> Option<T> {
        let Checked { mut answer, published, look, sources } = checked;
        let Some(look) = look.filter(|look| !waiting.is_over(&published, *look) && !self.is_frozen()) else {
            return Some(answer);
        };
        let mut is_brought_in = false;
        if let Some(sources) = sources {
            is_brought_in = self.catch_up_shortly(waiting, look).await;
            if !is_brought_in {
                let (before, now) = self.ask_alone(answer, sources, anew).await;
                if now.is_some() {
                    return now;
                }
                answer = before;
            }
        }
        if !is_brought_in {
            self.catch_up(waiting, look).await;
        }
        // Whether that took too long or not, there is no newer answer.
        (published.generation == self.shared.pair.published().generation).then_some(answer)
    }

    /// How to look for newer files than these; nothing when they are on disk as they are served.
    pub(super) fn needed_look(&self, snapshot: &Snapshot, files: &[Location]) -> Option<Look> {
        if self.is_frozen() {
            return None;
        }
        match snapshot.sameness(&self.shared.builder.terms.roots, files) {
            Sameness::Same => None,
            Sameness::Unsettled => Some(Look::Stirred),
            Sameness::Other => Some(Look::UntilFound),
        }
    }
}
