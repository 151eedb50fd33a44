//! Tests a scorer with skills and tasks, as a server uses it.

use super::skills::{self, LARGE_LIBRARY};
use super::{Report, cache, wasm_error};
use base::place::Audience;
use base::printable::{counted, printable};
use bindings::types::{Scored, SkillText, TextChange};
use guests::scorer::{Failure, Prepared, Scorer, ScorerWorld};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest part of a task in a message, in characters.
const MAX_TASK_LENGTH: usize = 40;

/// The skills of a catalog, by number.
type Skills = BTreeMap<u32, SkillText>;

/// An answer that takes longer with a large library gets a remark.
const SLOW_AFTER: Duration = Duration::from_millis(20);

pub fn scorer(file: &Path, report: &mut Report) -> Result<(), String> {
    let start = Instant::now();
    let world = ScorerWorld::new(cache()).map_err(wasm_error)?;
    let scorer = Arc::new(world.from_file(file, None).map_err(|error| error.for_audience(Audience::Local))?);
    report.pass(start, "it loads");
    let start = Instant::now();
    let mut incremental = scorer.prepare_empty().map_err(|failure| failure.to_string())?;
    report.pass(start, "it starts");
    let skills = test_updates(&mut incremental, report)?;
    test_determinism(&mut incremental, &skills, &scorer, report)?;
    match test_large_library(&scorer, report) {
        Ok(time) if time < SLOW_AFTER => {}
        Ok(time) => report.remarks.push(format!(
            "with {LARGE_LIBRARY} skills an answer takes {} ms; calls time out after {} ms",
            time.as_millis(),
            world.limits.time.as_millis()
        )),
        Err(failure) => report.remarks.push(format!("it is too slow for {LARGE_LIBRARY} skills: {failure}")),
    }
    Ok(())
}

/// Adds, changes and removes skills, with tasks in between. Returns the final skills.
fn test_updates(scorer: &mut Prepared, report: &mut Report) -> Result<Skills, String> {
    let mut known = Skills::new();
    let tasks = skills::tasks();
    for (what, changes) in skills::updates() {
        let start = Instant::now();
        for change in &changes {
            match change {
                TextChange::Put(skill) => known.insert(skill.number, skill.clone()),
                TextChange::Gone(number) => known.remove(number),
            };
        }
        scorer.apply(&changes, known.len()).map_err(|failure| format!("{failure}, after {what}"))?;
        for task in &tasks {
            ask(scorer, task).map_err(|failure| format!("{failure}, after {what}"))?;
        }
        let (tasks, skills) = (counted(tasks.len(), "task"), counted(known.len(), "skill"));
        report.pass(start, format!("it answers {tasks} with {skills}, after {what}"));
    }
    Ok(known)
}

/// Checks that a task gets the same answer again, also from an instance that received all skills at once.
fn test_determinism(
    incremental: &mut Prepared,
    skills: &Skills,
    scorer: &Arc<Scorer>,
    report: &mut Report,
) -> Result<(), String> {
    let start = Instant::now();
    let mut fresh = scorer.prepare_empty().map_err(|failure| failure.to_string())?;
    let changes: Vec<TextChange> = skills.values().cloned().map(TextChange::Put).collect();
    fresh.apply(&changes, skills.len()).map_err(|failure| failure.to_string())?;
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
    report.pass(start, "it gives the same answers again, and so does a fresh instance");
    Ok(())
}

/// Measures an answer with a large library.
fn test_large_library(scorer: &Arc<Scorer>, report: &mut Report) -> Result<Duration, Failure> {
    let start = Instant::now();
    let mut prepared = scorer.prepare_empty()?;
    prepared.apply(&skills::large_library(), LARGE_LIBRARY as usize)?;
    report.pass(start, format!("it loads {LARGE_LIBRARY} skills"));
    let start = Instant::now();
    prepared.score("rotate the keys of the payment gateway")?;
    Ok(report.pass(start, format!("it answers a task with {LARGE_LIBRARY} skills")))
}

fn ask(scorer: &mut Prepared, task: &str) -> Result<Vec<Scored>, String> {
    scorer.score(task).map_err(|failure| format!("{failure}, for {}", describe(task)))
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
