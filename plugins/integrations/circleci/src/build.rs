//! The build that a question is about: one pipeline and what belongs to it.

use crate::asked::Scope;
use crate::circle::Circle;
use crate::state::State;
use integration_kit::json::{Json, Value};
use integration_kit::text::Answer;
use integration_kit::{Missing, QueryError, Repository, time};

/// Pages of pipelines in which a commit is looked for. A page has 20.
const COMMIT_PAGES: usize = 3;

/// How many pipelines without any workflow are passed over. CircleCI makes one for each push, even if nothing is to be run.
const EMPTY_PIPELINES: usize = 5;

/// Most workflows of a pipeline whose jobs are read.
const WORKFLOWS: usize = 12;

pub struct Build {
    pub pipeline: Value,
    pub workflows: Vec<Value>,
    /// Which one it is, as in `on branch main`.
    pub place: String,
    notes: Vec<String>,
}

/// A job and the workflow it belongs to.
pub struct Job<'a> {
    pub workflow: &'a Value,
    pub job: Value,
}

impl Build {
    pub fn find(circle: &Circle, scope: &Scope, here: &Repository) -> Result<Self, QueryError> {
        match scope {
            Scope::Pipeline(number) => {
                let pipeline = circle.pipeline(*number)?;
                let workflows = circle.workflows(&pipeline)?;
                Ok(Self::new(format!("in pipeline #{number}"), pipeline, workflows))
            }
            Scope::Commit(commit) => Self::of_commit(circle, commit.as_deref(), here),
            Scope::Branch(branch) => Self::of_branch(circle, branch),
            // A job is answered for without its build.
            Scope::Here | Scope::Job(_) => match (&here.branch, &here.commit) {
                (Some(branch), commit) => {
                    let mut build = Self::of_branch(circle, branch)?;
                    build.notes.extend(commit.as_deref().and_then(|commit| build.other_commit(commit)));
                    Ok(build)
                }
                (None, Some(_)) => Self::of_commit(circle, None, here),
                (None, None) => Err(QueryError::Missing(Missing::Branch)),
            },
        }
    }

    fn of_branch(circle: &Circle, branch: &str) -> Result<Self, QueryError> {
        let pipelines = circle.pipelines(Some(branch), 1)?.items;
        let mut newest = None;
        for pipeline in pipelines.into_iter().take(EMPTY_PIPELINES) {
            let workflows = circle.workflows(&pipeline)?;
            let says_something = State::of_pipeline(&pipeline, &workflows) != State::NotRun || !workflows.is_empty();
            let build = Self::new(format!("on branch {branch}"), pipeline, workflows);
            if says_something {
                return Ok(build);
            }
            newest = newest.or(Some(build));
        }
        newest.ok_or_else(|| no_pipeline(circle, &format!("on branch {branch}")))
    }

    fn of_commit(circle: &Circle, commit: Option<&str>, here: &Repository) -> Result<Self, QueryError> {
        let commit = commit.or(here.commit.as_deref()).ok_or(QueryError::Missing(Missing::Commit))?;
        let place = format!("for commit {}", short(commit));
        let is_it =
            |pipeline: &Value| pipeline.text("vcs.revision").is_some_and(|revision| revision.starts_with(commit));
        let here_first = here.branch.as_deref().map(Some).into_iter().chain([None]);
        for branch in here_first {
            let pipelines = circle.pipelines(branch, COMMIT_PAGES)?.items;
            if let Some(pipeline) = pipelines.into_iter().find(is_it) {
                let workflows = circle.workflows(&pipeline)?;
                return Ok(Self::new(place, pipeline, workflows));
            }
        }
        Err(no_pipeline(circle, &place))
    }

    /// Of many workflows the worst are kept.
    fn new(place: String, pipeline: Value, mut workflows: Vec<Value>) -> Self {
        let mut notes = Vec::new();
        if workflows.len() > WORKFLOWS {
            notes.push(format!("There are {} workflows; {WORKFLOWS} of them were read.", workflows.len()));
            workflows.sort_by_key(|workflow| std::cmp::Reverse(State::of(workflow)));
            workflows.truncate(WORKFLOWS);
        }
        Self { pipeline, workflows, place, notes }
    }

    pub fn state(&self) -> State {
        State::of_pipeline(&self.pipeline, &self.workflows)
    }

    pub fn jobs(&self, circle: &Circle) -> Result<Vec<Job<'_>>, QueryError> {
        let mut all = Vec::new();
        for workflow in &self.workflows {
            all.extend(circle.jobs(workflow)?.into_iter().map(|job| Job { workflow, job }));
        }
        Ok(all)
    }

    /// Which pipeline it is, whose, since when, and where people see it.
    pub fn introduce(&self, answer: &mut Answer, circle: &Circle) {
        let number = self.pipeline.number("number").unwrap_or_default();
        answer.section(&format!("Pipeline #{number}: {}, {}", self.state().word(), since(&self.pipeline, circle)));
        if let Some(commit) = commit(&self.pipeline) {
            answer.line(&format!("Commit {commit}"));
        }
        answer.line(&format!("{}/{number}", circle.project.pages));
        for error in self.pipeline.list("errors") {
            answer.item(&format!("{} error", error.text("type").unwrap_or("unknown")));
            answer.quote(error.text("message").unwrap_or_default(), 600);
        }
        for note in &self.notes {
            answer.note(note);
        }
    }

    /// That something else is checked out than what was built.
    fn other_commit(&self, checked_out: &str) -> Option<String> {
        let built = self.pipeline.text("vcs.revision")?;
        (built != checked_out)
            .then(|| format!("This pipeline ran for commit {}; {} is checked out.", short(built), short(checked_out)))
    }
}

impl Job<'_> {
    pub fn name(&self) -> &str {
        self.job.text("name").unwrap_or("a job without a name")
    }

    pub fn number(&self) -> Option<u64> {
        self.job.number("job_number")
    }

    /// Where people see it.
    pub fn page(&self, circle: &Circle) -> Option<String> {
        let pipeline = self.workflow.number("pipeline_number")?;
        let workflow = self.workflow.text("id")?;
        Some(format!("{}/{pipeline}/workflows/{workflow}/jobs/{}", circle.project.pages, self.number()?))
    }
}

/// As in `2 hours ago by octocat`.
pub fn since(pipeline: &Value, circle: &Circle) -> String {
    let begun = time::ago(pipeline.text("created_at").unwrap_or("at an unknown time"), circle.service.now());
    match pipeline.text("trigger.actor.login") {
        Some(login) => format!("{begun} by {login}"),
        None => begun,
    }
}

/// As in `3f2a9c1 Check the session`.
pub fn commit(pipeline: &Value) -> Option<String> {
    let revision = short(pipeline.text("vcs.revision")?);
    Some(match pipeline.text("vcs.commit.subject") {
        Some(subject) => format!("{revision} {subject}"),
        None => revision.to_owned(),
    })
}

/// How long a workflow or job took, after a comma.
pub fn took(thing: &Value) -> String {
    let start = thing.text("started_at").or_else(|| thing.text("created_at"));
    time::between(start, thing.text("stopped_at")).map(|took| format!(", {took}")).unwrap_or_default()
}

pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

fn no_pipeline(circle: &Circle, place: &str) -> QueryError {
    QueryError::NotFound(format!("a pipeline {place} of {} in CircleCI", circle.project.name))
}
