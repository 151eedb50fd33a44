//! Which tests of a build failed, and their messages.

use crate::build::{Build, Job, took};
use crate::circle::Circle;
use crate::state::{self, State};
use integration_kit::QueryError;
use integration_kit::json::{Json, Value};
use integration_kit::text::{Answer, count};

/// Maximum number of failed jobs whose tests are read. Each takes one or a few requests.
const JOBS: usize = 6;

/// Maximum number of failed tests shown per job.
const TESTS: usize = 40;

/// Maximum number of characters of a test's message.
const MESSAGE_CHARS: usize = 600;

/// The test results of a job.
struct Results {
    failed: Vec<Value>,
    skipped: usize,
    all: usize,
    cut: bool,
}

pub fn answer(circle: &Circle, build: &Build) -> Result<String, QueryError> {
    let jobs = build.jobs(circle)?;
    let failed_jobs: Vec<&Job> = jobs.iter().filter(|job| State::of(&job.job) == State::Failed).collect();
    let mut results = Vec::new();
    for job in failed_jobs.iter().take(JOBS) {
        results.push((*job, job.number().map(|number| Results::read(circle, number)).transpose()?));
    }
    let failures: usize = results.iter().flat_map(|(_, results)| results).map(|results| results.failed.len()).sum();
    let mut answer = Answer::new(&heading(circle, &build.place, failures));
    build.introduce(&mut answer, circle);
    for (job, results) in &results {
        let name = job.name();
        match results {
            Some(results) if results.all > 0 => {
                answer.section(&format!("Job {name}{}: {}", numbered(job.number()), results.summary()));
                results.list(&mut answer);
            }
            _ => {
                let happened = format!("{}{}", state::word(&job.job), took(&job.job));
                answer.section(&format!("Job {name}{}: {happened}, without test results", numbered(job.number())));
            }
        }
        if let Some(page) = job.page(circle) {
            answer.line(&page);
        }
    }
    if failed_jobs.is_empty() {
        let why =
            if build.state().is_open() { "No job has failed so far; some are not finished." } else { "No job failed." };
        answer.note(why);
    }
    if failed_jobs.len() > JOBS {
        answer.note(&format!("{} failed; the tests of the first {JOBS} were read.", count(failed_jobs.len(), "job")));
    }
    Ok(answer.finish())
}

/// Answers for one job by its number.
pub fn answer_job(circle: &Circle, number: u64) -> Result<String, QueryError> {
    let results = Results::read(circle, number)?;
    let mut answer = Answer::new(&heading(circle, &format!("in job {number}"), results.failed.len()));
    answer.section(&if results.all == 0 { "The job has no test results.".to_owned() } else { results.summary() });
    results.list(&mut answer);
    Ok(answer.finish())
}

fn heading(circle: &Circle, place: &str, failures: usize) -> String {
    let name = &circle.project.name;
    if failures == 0 {
        format!("No failed tests of {name} {place}")
    } else {
        format!("Failed tests of {name} {place}: {failures}")
    }
}

fn numbered(number: Option<u64>) -> String {
    number.map(|number| format!(" ({number})")).unwrap_or_default()
}

impl Results {
    fn read(circle: &Circle, job: u64) -> Result<Self, QueryError> {
        let pages = circle.tests(job)?;
        let has = |test: &Value, results: &[&str]| test.text("result").is_some_and(|result| results.contains(&result));
        let all = pages.items.len();
        let skipped = pages.items.iter().filter(|test| has(test, &["skipped"])).count();
        let failed = pages.items.into_iter().filter(|test| has(test, &["failure", "failed", "error"])).collect();
        Ok(Self { failed, skipped, all, cut: pages.cut })
    }

    fn summary(&self) -> String {
        let skipped = if self.skipped > 0 { format!(", {} skipped", self.skipped) } else { String::new() };
        format!("{} of {} failed{skipped}", self.failed.len(), count(self.all, "test"))
    }

    fn list(&self, answer: &mut Answer) {
        for test in self.failed.iter().take(TESTS) {
            let group = test.text("classname").map(|group| format!("{group}: ")).unwrap_or_default();
            let file = test.text("file").map(|file| format!(" ({file})")).unwrap_or_default();
            answer.item(&format!("{group}{}{file}", test.text("name").unwrap_or("without a name")));
            answer.quote(test.text("message").unwrap_or_default(), MESSAGE_CHARS);
        }
        if self.failed.len() > TESTS {
            answer.item(&format!("and {} more", self.failed.len() - TESTS));
        }
        answer.note_cut(self.cut, self.all, "test results");
    }
}
