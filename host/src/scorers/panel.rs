//! Every scorer there is, asked about one task.

use super::explanation::{Explanation, Given, Ranked, Refused, Thresholds};
use super::known::{self, KEYWORD};
use super::load;
use crate::bindings::catalog::{Answer, Called, Explained, Matching, Request};
use crate::bindings::types::{Scored, TextChange};
use crate::catalog::{AskError, Catalog, Ranker};
use crate::config::Config;
use crate::runtime::call::Broken;
use crate::sandbox::runtimes::Cache;
use crate::worlds::engine::EngineInstance;
use crate::worlds::scorer::{Scorer, ScorerWorld};
use std::sync::Arc;

/// Most candidates that are explained.
const MOST: u32 = 10;

/// Bytes of text that an engine hands over at once.
const AT_ONCE: u32 = 1 << 20;

/// The scorers that are components.
pub struct Panel {
    members: Vec<Member>,
    /// Whose numbers count.
    chosen: String,
}

struct Member {
    name: String,
    /// Or why it does not load.
    scorer: Result<Arc<Scorer>, String>,
}

/// What a task is answered with, and why if there is a panel to say it.
pub async fn answer(
    catalog: &Catalog,
    panel: Option<Panel>,
    context: String,
) -> Result<(Answer, Option<Explanation>), AskError> {
    let panel = panel.map(Arc::new);
    let request = Request { context, chosen: None };
    let question = move |ranker: &mut Ranker<'_>, _: &_| {
        let found = ranker.find(&request)?;
        let explained = panel.as_ref().map(|panel| panel.explain(ranker.engine, &request.context)).transpose()?;
        // No skill was named that could be unknown.
        Ok((found.unwrap_or(Answer::NoMatch), explained))
    };
    catalog.rank_all(question).await
}

impl Panel {
    pub fn load(config: &Config, cache: Option<Arc<Cache>>) -> wasmtime::Result<Self> {
        let world = ScorerWorld::new(cache)?;
        let (mut members, mut chosen) = (Vec::new(), KEYWORD.to_owned());
        for (name, choice) in known::components(config) {
            // Two names may lead to one file.
            if choice == config.scorer && chosen == KEYWORD {
                chosen.clone_from(&name);
            }
            let scorer = load(&world, &choice).map_err(|error| error.to_string());
            if let Some(scorer) = scorer.transpose() {
                members.push(Member { name, scorer: scorer.map(Arc::new) });
            }
        }
        Ok(Self { members, chosen })
    }

    /// What each scorer gives the best candidates.
    fn explain(&self, engine: &mut EngineInstance, context: &str) -> Result<Explanation, Broken> {
        let (mut answers, mut failures) = (Vec::new(), Vec::new());
        for Member { name, scorer } in &self.members {
            match ask(scorer, engine, context)? {
                Ok(scored) => answers.push((name.as_str(), scored)),
                Err(reason) => failures.push(Refused { scorer: name.clone(), reason }),
            }
        }
        let deciding = answers.iter().find(|(name, _)| *name == self.chosen);
        let scores = deciding.map(|(_, scored)| scores(scored));
        let decides = if scores.is_some() { self.chosen.clone() } else { KEYWORD.to_owned() };
        let numbers = numbers(engine)?;
        let mut ranking = engine.explain(context, scores.as_deref(), MOST)?;
        if scores.is_none() {
            // Keywords leave out what has none of them, and others may have found it.
            for (_, scored) in &answers {
                add(&mut ranking, engine.explain(context, Some(&self::scores(scored)), MOST)?);
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
        let thresholds = thresholds(engine, candidates.first().map(|best| best.skill_path.as_str()))?;
        Ok(Explanation { decides, chosen: self.chosen.clone(), thresholds, candidates, failures })
    }
}

/// What one scorer gives each skill, in the order of their numbers.
fn ask(
    scorer: &Result<Arc<Scorer>, String>,
    engine: &mut EngineInstance,
    context: &str,
) -> Result<Result<Vec<Scored>, String>, Broken> {
    let scorer = match scorer {
        Ok(scorer) => scorer,
        Err(reason) => return Ok(Err(reason.clone())),
    };
    let prepared = scorer.prepare(engine)?;
    Ok(prepared.and_then(|mut prepared| prepared.score(context)).map_err(|failure| failure.to_string()))
}

fn scores(scored: &[Scored]) -> Vec<f64> {
    scored.iter().map(|scored| scored.score).collect()
}

/// Adds skills that another scorer finds and the keywords do not, as far as there is room.
fn add(ranking: &mut Vec<Explained>, others: Vec<Explained>) {
    for other in others {
        let is_new = ranking.iter().all(|listed| listed.address != other.address);
        if is_new && other.score > 0.0 && ranking.len() < MOST as usize {
            ranking.push(Explained { score: other.keyword.score, ..other });
        }
    }
}

/// The numbers of all skills that scorers are told of, in ascending order, as their answers are.
fn numbers(engine: &mut EngineInstance) -> Result<Vec<u32>, Broken> {
    let (mut numbers, mut anew) = (Vec::new(), true);
    loop {
        let delta = engine.text_changes(anew, AT_ONCE)?;
        anew = false;
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

/// What counts for the root of the best candidate; without any, for the first root.
fn thresholds(engine: &mut EngineInstance, best: Option<&str>) -> Result<Thresholds, Broken> {
    let found = best.map(|best| engine.skill_of(best, Called::ByPath)).transpose()?;
    let root = found.and_then(Result::ok).map_or(0, |found| found.summary.file.root);
    let Matching { min_score, ambiguity_threshold, max_results } = engine.settings_of(root)?.matching;
    Ok(Thresholds { min_score, ambiguity_threshold, max_results })
}

impl Given {
    fn new(scorer: &str, scored: &Scored) -> Self {
        Self { scorer: scorer.to_owned(), score: scored.score, reason: scored.reason.clone() }
    }
}
