//! A scorer is told of skills and asked about tasks, as a server would.

use super::skills::{self, Known, MANY};
use super::{Outcome, cache, no_sandbox};
use crate::bindings::types::{Scored, TextChange};
use crate::cli::plugin::report::Tried;
use crate::printable::{counted, printable};
use crate::worlds::scorer::{Failure, Prepared, Scorer, ScorerWorld};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest part of a task in a message, in characters.
const SHOWN: usize = 40;

/// An answer that takes longer with a large library is worth a remark.
const QUICK: Duration = Duration::from_millis(20);

pub fn scorer(file: &Path) -> Outcome {
    Outcome::of(|outcome| {
        let began = Instant::now();
        let world = ScorerWorld::new(cache()).map_err(no_sandbox)?;
        let scorer = Arc::new(world.from_file(file, None).map_err(|error| error.to_string())?);
        outcome.tried.push(Tried::since(began, "it loads"));
        let began = Instant::now();
        let mut following = scorer.alone().map_err(told)?;
        outcome.tried.push(Tried::since(began, "it starts"));
        let known = in_small_steps(&mut following, outcome)?;
        says_the_same_again(&mut following, &known, &scorer, outcome)?;
        match with_many(&scorer, outcome) {
            Ok(time) if time < QUICK => {}
            Ok(time) => outcome.remarks.push(format!(
                "with {MANY} skills an answer takes {} ms, and a call is stopped after {} ms",
                time.as_millis(),
                world.limits.time.as_millis()
            )),
            Err(failure) => outcome.remarks.push(format!("it is too slow for {MANY} skills: {failure}")),
        }
        Ok(())
    })
}

/// Skills come, change and go, with questions in between. Returns what there is at last.
fn in_small_steps(scorer: &mut Prepared, outcome: &mut Outcome) -> Result<Known, String> {
    let mut known = Known::new();
    let tasks = skills::tasks();
    for (what, changes) in skills::history() {
        let began = Instant::now();
        skills::change(&mut known, &changes);
        scorer.take_in(&changes, known.len()).map_err(|failure| format!("{failure}, when {what}"))?;
        tasks
            .iter()
            .try_for_each(|task| ask(scorer, task).map(drop))
            .map_err(|failed| format!("{failed}, when {what}"))?;
        let (tasks, skills) = (counted(tasks.len(), "task"), counted(known.len(), "skill"));
        outcome.tried.push(Tried::since(began, format!("it answers {tasks} with {skills}, when {what}")));
    }
    Ok(known)
}

/// The same question gives the same answer, also in an instance that was told of all skills at once.
fn says_the_same_again(
    following: &mut Prepared,
    known: &Known,
    scorer: &Arc<Scorer>,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let began = Instant::now();
    let mut fresh = scorer.alone().map_err(told)?;
    let changes: Vec<TextChange> = known.values().cloned().map(TextChange::Put).collect();
    fresh.take_in(&changes, known.len()).map_err(told)?;
    for task in skills::tasks() {
        let first = ask(following, &task)?;
        if let Some(difference) = difference(&first, &ask(following, &task)?) {
            return Err(format!("{} is answered differently the second time: {difference}", shown(&task)));
        }
        if let Some(difference) = difference(&first, &ask(&mut fresh, &task)?) {
            return Err(format!(
                "{} is answered differently by an instance that was told of the same skills at once: {difference}\nhint: `update` must leave nothing behind of a skill that changed or is gone",
                shown(&task)
            ));
        }
    }
    outcome.tried.push(Tried::since(began, "it says the same again, and so does a fresh instance"));
    Ok(())
}

/// How long an answer takes with a large library.
fn with_many(scorer: &Arc<Scorer>, outcome: &mut Outcome) -> Result<Duration, Failure> {
    let began = Instant::now();
    let mut prepared = scorer.alone()?;
    prepared.take_in(&skills::many(), MANY as usize)?;
    outcome.tried.push(Tried::since(began, format!("it takes in {MANY} skills")));
    let began = Instant::now();
    prepared.score("rotate the keys of the payment gateway")?;
    let tried = Tried::since(began, format!("it answers a task with {MANY} skills"));
    let time = tried.time;
    outcome.tried.push(tried);
    Ok(time)
}

fn ask(scorer: &mut Prepared, task: &str) -> Result<Vec<Scored>, String> {
    scorer.score(task).map_err(|failure| format!("{failure}, for {}", shown(task)))
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn told(failure: Failure) -> String {
    failure.to_string()
}

fn shown(task: &str) -> String {
    match task.char_indices().nth(SHOWN) {
        _ if task.trim().is_empty() => "an empty task".to_owned(),
        None => format!("the task `{}`", printable(task)),
        Some((end, _)) => format!("a task of {} bytes that begins with `{}`", task.len(), printable(&task[..end])),
    }
}

/// Where two answers differ first.
fn difference(one: &[Scored], other: &[Scored]) -> Option<String> {
    let differs =
        |(one, other): &(&Scored, &Scored)| one.score.to_bits() != other.score.to_bits() || one.reason != other.reason;
    let (one, other) = one.iter().zip(other).find(differs)?;
    Some(format!("{} (`{}`), and then {} (`{}`)", one.score, one.reason, other.score, other.reason))
}
