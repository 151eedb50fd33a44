//! The GitHub API, and the repository that a question is about.

use crate::intent::Intent;
use integration_kit::http::{Http, encode, parts};
use integration_kit::json::{Json, Value};
use integration_kit::service::Service;
use integration_kit::service::paging::{Pages, items};
use integration_kit::time::ago;
use integration_kit::{Missing, QueryError, Question};
use std::fmt;

/// Items per page; the maximum of GitHub.
const PAGE: &str = "per_page=100";

/// Maximum number of pages read of a list.
pub const PAGES: usize = 3;

/// Everything that answers are made from.
pub struct Hub<'a> {
    pub intent: Intent,
    question: &'a Question,
    service: Service<'a>,
    progress: &'a dyn Fn(&str),
}

/// A repository on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repo {
    pub owner: String,
    pub name: String,
}

impl<'a> Hub<'a> {
    pub fn new(question: &'a Question, intent: Intent, http: &'a dyn Http, progress: &'a dyn Fn(&str)) -> Self {
        let service = Service::new(http, &question.address, question.now)
            .with("accept", "application/vnd.github+json")
            .with("x-github-api-version", "2022-11-28");
        Self { intent, question, service, progress }
    }

    /// Returns the repository that the question names, or else that of the folder.
    pub fn repo(&self) -> Result<Repo, QueryError> {
        if let Some((owner, name)) = &self.intent.repository {
            return Ok(Repo { owner: owner.clone(), name: name.clone() });
        }
        let remote = self.question.repository.remote.as_ref().ok_or(QueryError::Missing(Missing::Remote))?;
        if self.is_elsewhere(&remote.host) {
            let host = &remote.host;
            return Err(QueryError::Failed(format!(
                "the remote of this repository is at `{host}`, not on GitHub; name one in the question, as in `List open pull requests of octo-org/hello`"
            )));
        }
        Ok(Repo { owner: remote.owner.clone(), name: remote.name.clone() })
    }

    /// Whether a remote is certainly not on the public GitHub. Names without a dot are SSH aliases.
    fn is_elsewhere(&self, host: &str) -> bool {
        let is_public = parts(&self.question.address).is_some_and(|parts| parts.authority == "api.github.com");
        is_public && host.contains('.') && host != "github.com" && !host.ends_with(".github.com")
    }

    /// Returns the branch that the question names, or else the one checked out, if it belongs to the repository in
    /// question.
    pub fn branch(&self) -> Option<&str> {
        let here = || self.question.repository.branch.as_deref().filter(|_| self.is_here());
        self.intent.branch.as_deref().or_else(here)
    }

    /// Returns the commit that the question names, or else the one checked out.
    pub fn commit(&self) -> Option<&str> {
        let here =
            || self.question.repository.commit.as_deref().filter(|_| self.is_here() && self.intent.branch.is_none());
        self.intent.commit.as_deref().or_else(here)
    }

    /// Whether the question is about the repository of the folder.
    pub fn is_here(&self) -> bool {
        let Some((owner, name)) = &self.intent.repository else { return true };
        let remote = self.question.repository.remote.as_ref();
        remote.is_some_and(|remote| remote.owner.eq_ignore_ascii_case(owner) && remote.name.eq_ignore_ascii_case(name))
    }

    pub fn now(&self) -> u64 {
        self.question.now
    }

    /// As in `, 2 hours ago`, to follow other text. Empty if the time is unknown.
    pub fn age(&self, moment: Option<&str>) -> String {
        moment.map(|moment| format!(", {}", ago(moment, self.now()))).unwrap_or_default()
    }

    pub fn progress(&self, line: &str) {
        (self.progress)(line);
    }

    pub fn get(&self, path: &str, what: &str) -> Result<Value, QueryError> {
        self.service.get(path, what)
    }

    /// Returns something that may not exist.
    pub fn find(&self, path: &str) -> Result<Option<Value>, QueryError> {
        match self.service.get(path, "") {
            Ok(value) => Ok(Some(value)),
            Err(QueryError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads all pages of a list, up to a limit.
    pub fn list(&self, path: &str, place: &str, what: &str) -> Result<Pages, QueryError> {
        self.service.list_by_link(&paged(path), place, what, PAGES)
    }

    /// Reads the first page of a list.
    pub fn first_page(&self, path: &str, what: &str) -> Result<Pages, QueryError> {
        self.service.list_by_link(&paged(path), "", what, 1)
    }

    /// Reads the first page of a list; empty if GitHub answers with one of these statuses.
    pub fn first_page_unless(&self, path: &str, absent: &[u16], what: &str) -> Result<Vec<Value>, QueryError> {
        let found = self.service.get_optional(&paged(path), absent, what)?;
        found.map_or_else(|| Ok(Vec::new()), |value| items(value, "", what))
    }

    /// Returns the login of the user.
    pub fn login(&self) -> Result<String, QueryError> {
        let user = self.get("/user", "the user of this token")?;
        let unknown = || QueryError::Failed("GitHub does not say whose token this is".to_owned());
        user.text("login").map(str::to_owned).ok_or_else(unknown)
    }
}

fn paged(path: &str) -> String {
    let join = if path.contains('?') { '&' } else { '?' };
    format!("{path}{join}{PAGE}")
}

impl Repo {
    /// Returns the API path of something below this repository.
    pub fn path(&self, below: &str) -> String {
        format!("/repos/{}/{}{below}", encode(&self.owner), encode(&self.name))
    }

    /// Parses a full name such as `octo-org/hello`.
    pub fn from_full_name(name: &str) -> Option<Self> {
        let (owner, name) = name.split_once('/')?;
        Some(Self { owner: owner.to_owned(), name: name.to_owned() })
    }
}

impl fmt::Display for Repo {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}/{}", self.owner, self.name)
    }
}
