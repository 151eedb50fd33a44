//! All scorers, asked about one task.

use super::explanation::{Explanation, Given, Ranked, Refused, Thresholds};
use super::load;
use super::options::{KEYWORD, Options};
use crate::{AskError, Catalog, Ranker};
use base::place::Audience;
use base::printable::counted;
use bindings::catalog::{Answer, Explained, LookupKind, Matching, Request};
use bindings::types::{Scored, TextChange};
use guests::cache::Cache;
use guests::call::Broken;
use guests::engine::EngineInstance;
use guests::load::FileState;
use guests::scorer::{Model, Prepared, Scorer, ScorerWorld};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

const MAX_CANDIDATES: u32 = 10;

/// Bytes of text per call of the engine.
const CHUNK_BYTES: u32 = 1 << 20;

/// The scorers that are components. Lives until one of their files changes.
pub struct Panel {
    members: Vec<Member>,
    /// The configured one.
    chosen: String,
    /// Their files, as they were before loading.
    files: Vec<(PathBuf, Option<FileState>)>,
    /// Prepared instances for each engine: handing over ten thousand skills takes longer than ranking them.
    informed: Mutex<[Option<Informed>; 2]>,
}

struct Member {
    name: String,
    /// Or why it cannot be loaded.
    scorer: Result<Arc<Scorer>, String>,
}

/// The scorers that know the skills of an engine. Lives until the next generation.
struct Informed {
    /// Of the engine, when it handed them over.
    state: (u64, u64),
    /// The numbers of all skills, ascending, as in the answers of scorers.
    numbers: Vec<u32>,
    /// In the order of the members. One that failed is prepared again for the next question.
    prepared: Vec<Option<Prepared>>,
}

/// Answers a task, with an explanation if there is a panel.
pub async fn answer(
    catalog: &Catalog,
    panel: Option<Arc<Panel>>,
    context: String,
) -> Result<(Answer, Option<Explanation>), AskError> {
    let request = Request { context, chosen: None };
    let question = move |ranker: &mut Ranker<'_>, _: &_| {
        let found = ranker.find(&request)?;
        let explain = |panel: &Arc<Panel>| panel.explain(ranker.engine, &request.context);
        let explained = panel.as_ref().map(explain).transpose()?;
        // No skill is named, so none can be unknown.
        Ok((found.unwrap_or(Answer::NoMatch), explained))
    };
    catalog.rank_all(question).await
}

impl Panel {
    pub fn load(options: &Options, cache: Option<Arc<Cache>>, model: Option<Model>) -> wasmtime::Result<Self> {
        let world = ScorerWorld::new(cache)?.with_model(model);
        let files = options.own().into_iter().map(|(_, file)| (FileState::of(&file.path), file.path));
        let files = files.map(|(state, path)| (path, state)).collect();
        let (mut members, mut chosen) = (Vec::new(), KEYWORD.to_owned());
        for (name, choice) in options.components() {
            // Two names may mean the same file.
            if choice == options.choice && chosen == KEYWORD {
                chosen.clone_from(&name);
            }
            let scorer = load(&world, &choice).map_err(|error| error.for_audience(Audience::Local));
            if let Some(scorer) = scorer.transpose() {
                members.push(Member { name, scorer: scorer.map(Arc::new) });
            }
        }
        Ok(Self { members, chosen, files, informed: Mutex::default() })
    }

    /// Whether all files are still the loaded ones.
    pub fn is_current(&self) -> bool {
        self.files.iter().all(|(path, state)| FileState::of(path) == *state)
    }

    /// Collects the scores of the best candidates.
    fn explain(&self, engine: &mut EngineInstance, context: &str) -> Result<Explanation, Broken> {
        let mut informed = self.informed.lock().unwrap_or_else(PoisonError::into_inner);
        let [newer, older] = &mut *informed;
        let is_known = |known: &Option<Informed>| known.as_ref().is_some_and(|known| known.state == engine.state());
        if !is_known(newer) {
            std::mem::swap(newer, older);
        }
        let mut known = match newer.take().filter(|known| known.state == engine.state()) {
            Some(known) => known,
            None => Informed::new(engine, self.members.len())?,
        };
        let explained = self.explain_with(&mut known, engine, context)?;
        *newer = Some(known);
        Ok(explained)
    }

    fn explain_with(
        &self,
        known: &mut Informed,
        engine: &mut EngineInstance,
        context: &str,
    ) -> Result<Explanation, Broken> {
        let Informed { numbers, prepared, .. } = known;
        let (mut answers, mut failures) = (Vec::new(), Vec::new());
        for (Member { name, scorer }, prepared) in self.members.iter().zip(prepared) {
            match ask(scorer, prepared, engine, context)? {
                Ok(scored) => answers.push((name.as_str(), scored)),
                Err(reason) => failures.push(Refused { scorer: name.clone(), reason }),
            }
        }
        let deciding = answers.iter().find(|(name, _)| *name == self.chosen);
        let scores = deciding.map(|(_, scored)| scores(scored));
        let decides = if scores.is_some() { self.chosen.clone() } else { KEYWORD.to_owned() };
        let mut ranking = engine.explain(context, scores.as_deref(), MAX_CANDIDATES)?;
        if scores.is_none() {
            // The keyword scorer omits skills without a matching keyword, which others may have found.
            for (_, scored) in &answers {
                add(&mut ranking, engine.explain(context, Some(&self::scores(scored)), MAX_CANDIDATES)?);
            }
        }
        let given = |explained: &Explained| {
            let by_engine = Given::new(KEYWORD, &explained.keyword);
            let place = explained.number.and_then(|number| numbers.binary_search(&number).ok());
            let others = answers.iter().filter_map(|(name, scored)| Some(Given::new(name, scored.get(place?)?)));
            std::iter::once(by_engine).chain(others).collect()
        };
        let candidates = ranking.iter().map(|explained| Ranked {
            skill_path: explained.address.clone(),
            score: explained.score,
            min_score: explained.min_score,
            scores: given(explained),
        });
        let candidates: Vec<Ranked> = candidates.collect();
        let thresholds = thresholds(engine, &candidates)?;
        Ok(Explanation { decides, chosen: self.chosen.clone(), thresholds, candidates, failures })
    }
}

impl Informed {
    fn new(engine: &mut EngineInstance, members: usize) -> Result<Self, Broken> {
        let prepared = std::iter::repeat_with(|| None).take(members).collect();
        let numbers = numbers(engine)?;
        tracing::debug!("scorers are given {}", counted(numbers.len(), "skill"));
        Ok(Self { state: engine.state(), numbers, prepared })
    }
}

/// Returns the scores of one scorer, in the order of the numbers.
fn ask(
    scorer: &Result<Arc<Scorer>, String>,
    informed: &mut Option<Prepared>,
    engine: &mut EngineInstance,
    context: &str,
) -> Result<Result<Vec<Scored>, String>, Broken> {
    let scorer = match scorer {
        Ok(scorer) => scorer,
        Err(reason) => return Ok(Err(reason.clone())),
    };
    let mut prepared = match informed.take() {
        Some(prepared) => prepared,
        None => match scorer.prepare(engine)? {
            Ok(prepared) => prepared,
            Err(failure) => return Ok(Err(failure.to_string())),
        },
    };
    let scored = prepared.score(context);
    // After a failure it must not be used again.
    *informed = scored.is_ok().then_some(prepared);
    Ok(scored.map_err(|failure| failure.to_string()))
}

fn scores(scored: &[Scored]) -> Vec<f64> {
    scored.iter().map(|scored| scored.score).collect()
}

/// Adds skills that another scorer found and keywords did not, as long as there is room.
fn add(ranking: &mut Vec<Explained>, others: Vec<Explained>) {
    for other in others {
        let is_new = ranking.iter().all(|listed| listed.address != other.address);
        if is_new && other.score > 0.0 && ranking.len() < MAX_CANDIDATES as usize {
            ranking.push(Explained { score: other.keyword.score, ..other });
        }
    }
}

fn numbers(engine: &mut EngineInstance) -> Result<Vec<u32>, Broken> {
    let (mut numbers, mut resend) = (Vec::new(), true);
    loop {
        let delta = engine.text_changes(resend, CHUNK_BYTES)?;
        resend = false;
        numbers.extend(delta.changes.iter().filter_map(|change| match change {
            TextChange::Put(skill) => Some(skill.number),
            TextChange::Gone(_) => None,
        }));
        if delta.complete {
            numbers.sort_unstable();
            return Ok(numbers);
        }
    }
}

/// What the best candidate needs, and the thresholds between it and the next: of their root, or of none if they have several.
/// Without candidates, of the first root.
fn thresholds(engine: &mut EngineInstance, candidates: &[Ranked]) -> Result<Thresholds, Broken> {
    let mut roots = Vec::new();
    for candidate in candidates.iter().take(2) {
        let found = engine.skill_of(&candidate.skill_path, LookupKind::Path)?;
        roots.extend(found.ok().map(|found| found.summary.file.root));
    }
    let best = roots.first().copied().unwrap_or(0);
    let Matching { min_score, mut ambiguity_threshold, mut max_results } = engine.settings_of(best)?.matching;
    if roots.iter().any(|root| *root != best) {
        Matching { ambiguity_threshold, max_results, .. } = engine.settings_of(u32::MAX)?.matching;
    }
    Ok(Thresholds { min_score, ambiguity_threshold, max_results })
}

impl Given {
    fn new(scorer: &str, scored: &Scored) -> Self {
        Self { scorer: scorer.to_owned(), score: scored.score, reason: scored.reason.clone() }
    }
}
