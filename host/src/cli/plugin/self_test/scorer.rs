//! Tests a scorer with skills and tasks, as a server uses it.

use super::skills::{self, LARGE_LIBRARY, Skills};
use super::{Outcome, cache, wasm_error};
use crate::cli::plugin::report::PassedTest;
use base::place::Audience;
use base::printable::{counted, printable};
use bindings::types::{Scored, TextChange};
use guests::scorer::{Failure, Prepared, Scorer, ScorerWorld};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest part of a task in a message, in characters.
const MAX_TASK_LENGTH: usize = 40;

/// An answer that takes longer with a large library gets a remark.
const SLOW_AFTER: Duration = Duration::from_millis(20);

pub fn scorer(file: &Path) -> Outcome {
    Outcome::collect(|outcome| {
        let start = Instant::now();
        let world = ScorerWorld::new(cache()).map_err(wasm_error)?;
        let scorer = Arc::new(world.from_file(file, None).map_err(|error| error.for_audience(Audience::Local))?);
        outcome.passed.push(PassedTest::since(start, "it loads"));
        let start = Instant::now();
        let mut incremental = scorer.prepare_empty().map_err(message)?;
        outcome.passed.push(PassedTest::since(start, "it starts"));
        let skills = test_updates(&mut incremental, outcome)?;
        test_determinism(&mut incremental, &skills, &scorer, outcome)?;
        match test_large_library(&scorer, outcome) {
            Ok(time) if time < SLOW_AFTER => {}
            Ok(time) => outcome.remarks.push(format!(
                "with {LARGE_LIBRARY} skills an answer takes {} ms; calls time out after {} ms",
                time.as_millis(),
                world.limits.time.as_millis()
            )),
            Err(failure) => outcome.remarks.push(format!("it is too slow for {LARGE_LIBRARY} skills: {failure}")),
        }
        Ok(())
    })
}

/// Adds, changes and removes skills, with tasks in between. Returns the final skills.
fn test_updates(scorer: &mut Prepared, outcome: &mut Outcome) -> Result<Skills, String> {
    let mut known = Skills::new();
    let tasks = skills::tasks();
    for (what, changes) in skills::updates() {
        let start = Instant::now();
        skills::apply(&mut known, &changes);
        scorer.apply(&changes, known.len()).map_err(|failure| format!("{failure}, after {what}"))?;
        tasks
            .iter()
            .try_for_each(|task| ask(scorer, task).map(drop))
            .map_err(|failed| format!("{failed}, after {what}"))?;
        let (tasks, skills) = (counted(tasks.len(), "task"), counted(known.len(), "skill"));
        outcome.passed.push(PassedTest::since(start, format!("it answers {tasks} with {skills}, after {what}")));
    }
    Ok(known)
}

/// Checks that a task gets the same answer again, also from an instance that received all skills at once.
fn test_determinism(
    incremental: &mut Prepared,
    skills: &Skills,
    scorer: &Arc<Scorer>,
    outcome: &mut Outcome,
) -> Result<(), String> {
    let start = Instant::now();
    let mut fresh = scorer.prepare_empty().map_err(message)?;
    let changes: Vec<TextChange> = skills.values().cloned().map(TextChange::Put).collect();
    fresh.apply(&changes, skills.len()).map_err(message)?;
    for task in skills::tasks() {
        let first = ask(incremental, &task)?;
        if let Some(difference) = difference(&first, &ask(incremental, &task)?) {
            return Err(format!("{} is answered differently the second time: {difference}", describe(&task)));
        }
        if let Some(difference) = difference(&first, &ask(&mut fresh, &task)?) {
            return Err(format!(
                "{} is answered differently by an instance that received the same skills at once: {difference}\nhint: `update` must leave no trace of a skill that changed or was removed",
                describe(&task)
            ));
        }
    }
    outcome.passed.push(PassedTest::since(start, "it gives the same answers again, and so does a fresh instance"));
    Ok(())
}

/// Measures an answer with a large library.
fn test_large_library(scorer: &Arc<Scorer>, outcome: &mut Outcome) -> Result<Duration, Failure> {
    let start = Instant::now();
    let mut prepared = scorer.prepare_empty()?;
    prepared.apply(&skills::large_library(), LARGE_LIBRARY as usize)?;
    outcome.passed.push(PassedTest::since(start, format!("it loads {LARGE_LIBRARY} skills")));
    let start = Instant::now();
    prepared.score("rotate the keys of the payment gateway")?;
    let test = PassedTest::since(start, format!("it answers a task with {LARGE_LIBRARY} skills"));
    let time = test.time;
    outcome.passed.push(test);
    Ok(time)
}

fn ask(scorer: &mut Prepared, task: &str) -> Result<Vec<Scored>, String> {
    scorer.score(task).map_err(|failure| format!("{failure}, for {}", describe(task)))
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn message(failure: Failure) -> String {
    failure.to_string()
}

fn describe(task: &str) -> String {
    match task.char_indices().nth(MAX_TASK_LENGTH) {
        _ if task.trim().is_empty() => "an empty task".to_owned(),
        None => format!("the task `{}`", printable(task)),
        Some((end, _)) => format!("a task of {} bytes that begins with `{}`", task.len(), printable(&task[..end])),
    }
}

/// The first difference between two answers.
fn difference(one: &[Scored], other: &[Scored]) -> Option<String> {
    let differs =
        |(one, other): &(&Scored, &Scored)| one.score.to_bits() != other.score.to_bits() || one.reason != other.reason;
    let (one, other) = one.iter().zip(other).find(differs)?;
    Some(format!("{} (`{}`), and then {} (`{}`)", one.score, one.reason, other.score, other.reason))
}
