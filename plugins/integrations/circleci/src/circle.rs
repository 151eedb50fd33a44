//! A client for version 2 of the CircleCI API.

use crate::project::Project;
use integration_kit::QueryError;
use integration_kit::http::encode;
use integration_kit::json::{Json, Value};
use integration_kit::service::Service;
use integration_kit::service::paging::Pages;

/// Maximum number of pages read of the workflows of a pipeline, and of the jobs of a workflow.
///
/// Together with [`TEST_PAGES`] and the other limits of this crate, no question exceeds the host's request limit.
const PAGES: usize = 2;

/// Maximum number of pages read of the tests of a job. A page has hundreds.
const TEST_PAGES: usize = 3;

/// CircleCI, for one project.
pub struct Circle<'a> {
    pub service: Service<'a>,
    pub project: Project,
    pub progress: &'a dyn Fn(&str),
}

impl Circle<'_> {
    /// Returns the pipelines of one or all branches, newest first.
    pub fn pipelines(&self, branch: Option<&str>, max_pages: usize) -> Result<Pages, QueryError> {
        (self.progress)(&match branch {
            Some(branch) => format!("reading pipelines of branch {branch}"),
            None => "reading pipelines of all branches".to_owned(),
        });
        let filter = branch.map(|branch| format!("?branch={}", encode(branch))).unwrap_or_default();
        let path = format!("/api/v2/project/{}/pipeline{filter}", self.project.slug);
        self.service.list_by_token(&path, "page-token", &self.project_named(), max_pages)
    }

    pub fn pipeline(&self, number: u64) -> Result<Value, QueryError> {
        (self.progress)(&format!("reading pipeline #{number}"));
        let path = format!("/api/v2/project/{}/pipeline/{number}", self.project.slug);
        self.service.get(&path, &format!("pipeline #{number} of {} in CircleCI", self.project.name))
    }

    /// Returns the workflows of a pipeline; of those that were rerun, the last run.
    pub fn workflows(&self, pipeline: &Value) -> Result<Vec<Value>, QueryError> {
        let number = pipeline.number("number").unwrap_or_default();
        (self.progress)(&format!("reading workflows of pipeline #{number}"));
        let path = format!("/api/v2/pipeline/{}/workflow", encode(pipeline.text("id").unwrap_or_default()));
        let what = format!("the workflows of pipeline #{number} in CircleCI");
        let mut workflows = self.service.list_by_token(&path, "page-token", &what, PAGES)?.items;
        workflows.sort_by_cached_key(|workflow| std::cmp::Reverse(moment(workflow)));
        let mut seen = Vec::new();
        workflows.retain(|workflow| {
            let name = workflow.text("name").unwrap_or_default().to_owned();
            let is_new = !seen.contains(&name);
            seen.push(name);
            is_new
        });
        workflows.reverse();
        Ok(workflows)
    }

    pub fn jobs(&self, workflow: &Value) -> Result<Vec<Value>, QueryError> {
        let name = workflow.text("name").unwrap_or("workflow");
        (self.progress)(&format!("reading jobs of {name}"));
        let path = format!("/api/v2/workflow/{}/job", encode(workflow.text("id").unwrap_or_default()));
        let what = format!("the jobs of workflow {name} in CircleCI");
        let mut jobs = self.service.list_by_token(&path, "page-token", &what, PAGES)?.items;
        jobs.retain(|job| job.text("status") != Some("retried"));
        Ok(jobs)
    }

    pub fn job(&self, number: u64) -> Result<Value, QueryError> {
        (self.progress)(&format!("reading job {number}"));
        let path = format!("/api/v2/project/{}/job/{number}", self.project.slug);
        self.service.get(&path, &format!("job {number} of {} in CircleCI", self.project.name))
    }

    pub fn tests(&self, job: u64) -> Result<Pages, QueryError> {
        (self.progress)(&format!("reading test results of job {job}"));
        let path = format!("/api/v2/project/{}/{job}/tests", self.project.slug);
        let what = format!("the test results of job {job} of {} in CircleCI", self.project.name);
        self.service.list_by_token(&path, "page-token", &what, TEST_PAGES)
    }

    pub fn project_named(&self) -> String {
        format!("project {} in CircleCI", self.project.name)
    }
}

fn moment(workflow: &Value) -> String {
    workflow.text("created_at").unwrap_or_default().to_owned()
}
