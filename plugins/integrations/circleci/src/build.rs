//! The build that a question is about: one pipeline with its workflows and jobs.

use crate::circle::Circle;
use crate::intent::Scope;
use crate::state::State;
use integration_kit::json::{Json, Value};
use integration_kit::text::Answer;
use integration_kit::{Missing, QueryError, Repository, time};

/// Pages of pipelines searched for a commit. A page has 20.
const COMMIT_PAGES: usize = 3;

/// Maximum number of pipelines without workflows that are skipped. CircleCI creates one for each push, even if there is
/// nothing to run.
const EMPTY_PIPELINES: usize = 5;

/// Maximum number of workflows whose jobs are read.
const WORKFLOWS: usize = 12;

pub struct Build {
    pub pipeline: Value,
    pub workflows: Vec<Value>,
    /// Which build it is, as in `on branch main`.
    pub place: String,
    /// The name of the workflow or jobs that are meant, if not all.
    part: Option<String>,
    notes: Vec<String>,
}

/// A workflow and those of its jobs that are meant.
pub struct Section<'a> {
    pub workflow: &'a Value,
    pub jobs: Vec<Value>,
}

/// A job and its workflow.
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
            // Questions about a job do not need its build.
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
        Self { pipeline, workflows, place, part: None, notes }
    }

    pub fn state(&self) -> State {
        State::of_pipeline(&self.pipeline, &self.workflows)
    }

    /// Limits the build to workflows and jobs of a name.
    pub fn only(mut self, part: Option<&str>) -> Self {
        if let Some(part) = part {
            self.place = format!("in {part} {}", self.place);
            self.part = Some(part.to_owned());
        }
        self
    }

    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }

    /// Returns the workflows that are meant, each with its jobs.
    pub fn sections(&self, circle: &Circle) -> Result<Vec<Section<'_>>, QueryError> {
        let is_meant = |thing: &Value| {
            let name = thing.text("name").unwrap_or_default();
            self.part.as_deref().is_none_or(|part| name.eq_ignore_ascii_case(part))
        };
        let whole = self.workflows.iter().any(is_meant);
        let mut sections = Vec::new();
        for workflow in self.workflows.iter().filter(|workflow| !whole || is_meant(workflow)) {
            let mut jobs = circle.jobs(workflow)?;
            if !whole {
                jobs.retain(is_meant);
            }
            if whole || !jobs.is_empty() {
                sections.push(Section { workflow, jobs });
            }
        }
        if sections.is_empty() && self.part.is_some() {
            return Err(QueryError::NotFound(format!(
                "a workflow or job {} of {} in CircleCI",
                self.place, circle.project.name
            )));
        }
        Ok(sections)
    }

    pub fn jobs(&self, circle: &Circle) -> Result<Vec<Job<'_>>, QueryError> {
        let sections = self.sections(circle)?.into_iter();
        Ok(sections
            .flat_map(|Section { workflow, jobs }| jobs.into_iter().map(move |job| Job { workflow, job }))
            .collect())
    }

    /// Adds which pipeline it is, by whom, since when, and its web page.
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

    /// Notes that another commit is checked out than was built.
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

    /// Returns the URL of its web page.
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

/// Formats how long a workflow or job took, after a comma.
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
