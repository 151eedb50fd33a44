//! Finds the pull request that is meant.

use crate::hub::{Hub, Repo};
use integration_kit::http::encode;
use integration_kit::json::{Json, Value};
use integration_kit::text::{Answer, count};
use integration_kit::{Missing, QueryError};

/// Statuses for a commit that was never pushed, which is in no pull request. 409 is for a repository without commits.
const NOT_PUSHED: [u16; 3] = [404, 409, 422];

/// A pull request and its repository.
pub struct Pull {
    pub repo: Repo,
    pub number: u64,
    /// As returned by the API.
    pub value: Value,
}

/// The pull requests found for a question.
pub enum Found {
    One(Pull),
    /// More than one, as a text that lists them.
    Several(String),
}

/// Returns the pull request that the question names by number, or else the open one of the branch.
pub fn find(hub: &Hub) -> Result<Found, QueryError> {
    let repo = hub.repo()?;
    match hub.intent.number {
        Some(number) => Ok(Found::One(by_number(hub, repo, number)?)),
        None => by_branch(hub, repo),
    }
}

pub fn by_number(hub: &Hub, repo: Repo, number: u64) -> Result<Pull, QueryError> {
    hub.progress(&format!("reading pull request #{number} of {repo}"));
    let value = hub.get(&repo.path(&format!("/pulls/{number}")), &format!("pull request #{number} of {repo}"))?;
    Ok(Pull { repo, number, value })
}

fn by_branch(hub: &Hub, repo: Repo) -> Result<Found, QueryError> {
    if hub.branch().is_none() && hub.commit().is_none() {
        return Err(QueryError::Missing(Missing::Branch));
    }
    hub.progress(&format!("looking for the pull request of {} in {repo}", place(hub)));
    let (repo, pulls) = candidates(hub, repo)?;
    let numbers: Vec<u64> = pulls.iter().filter_map(|pull| pull.number("number")).collect();
    match numbers[..] {
        [] => Err(QueryError::NotFound(format!("open pull request of {} in {repo}", place(hub)))),
        // A list omits some fields of the pull request.
        [number] => Ok(Found::One(by_number(hub, repo, number)?)),
        _ => Ok(Found::Several(several(hub, &repo, &pulls))),
    }
}

/// Returns open pull requests from the branch, then with the commit, then from the branch to the parent of the fork.
fn candidates(hub: &Hub, repo: Repo) -> Result<(Repo, Vec<Value>), QueryError> {
    if let Some(branch) = hub.branch() {
        let pulls = from_branch(hub, &repo, &repo, branch)?;
        if !pulls.is_empty() {
            return Ok((repo, pulls));
        }
    }
    if let Some(commit) = hub.commit() {
        let pulls = with_commit(hub, &repo, commit)?;
        if !pulls.is_empty() {
            return Ok((repo, pulls));
        }
    }
    if let (Some(branch), Some(parent)) = (hub.branch(), parent(hub, &repo)?) {
        let pulls = from_branch(hub, &parent, &repo, branch)?;
        if !pulls.is_empty() {
            return Ok((parent, pulls));
        }
    }
    Ok((repo, Vec::new()))
}

fn from_branch(hub: &Hub, repo: &Repo, head: &Repo, branch: &str) -> Result<Vec<Value>, QueryError> {
    let filter = format!("/pulls?state=open&head={}:{}", encode(&head.owner), encode(branch));
    Ok(hub.first_page(&repo.path(&filter), &format!("pull requests of {repo}"))?.items)
}

fn with_commit(hub: &Hub, repo: &Repo, commit: &str) -> Result<Vec<Value>, QueryError> {
    let path = repo.path(&format!("/commits/{}/pulls", encode(commit)));
    let what = format!("pull requests with commit `{}` of {repo}", short(commit));
    let mut pulls = hub.first_page_unless(&path, &NOT_PUSHED, &what)?;
    pulls.retain(|pull| pull.text("state") == Some("open"));
    Ok(pulls)
}

/// Returns the parent of a fork.
fn parent(hub: &Hub, repo: &Repo) -> Result<Option<Repo>, QueryError> {
    let facts = hub.get(&repo.path(""), &format!("repository {repo}"))?;
    Ok(facts.text("parent.full_name").and_then(Repo::from_full_name))
}

/// As in `branch `main`` or `commit `1a2b3c4``.
pub fn place(hub: &Hub) -> String {
    match (hub.branch(), hub.commit()) {
        (Some(branch), _) => format!("branch `{branch}`"),
        (None, Some(commit)) => format!("commit `{}`", short(commit)),
        (None, None) => "no branch".to_owned(),
    }
}

/// Abbreviates a commit hash.
pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

fn several(hub: &Hub, repo: &Repo, pulls: &[Value]) -> String {
    let mut answer = Answer::new(&format!("{} of {} in {repo}", count(pulls.len(), "open pull request"), place(hub)));
    answer.line("Ask again with the number of one of them.");
    answer.section("Pull requests");
    for pull in pulls {
        answer.item(&title(pull)).detail(&branches(pull));
    }
    answer.finish()
}

/// As in `#42 "Add login"`.
pub fn title(pull: &Value) -> String {
    format!("#{} \"{}\"", pull.number("number").unwrap_or_default(), pull.text("title").unwrap_or("without a title"))
}

/// As in `feature/login into main`.
pub fn branches(pull: &Value) -> String {
    let from = pull.text("head.ref").unwrap_or("a deleted branch");
    format!("{from} into {}", pull.text("base.ref").unwrap_or("an unknown branch"))
}

/// As in `open, draft`, `merged` or `closed`.
pub fn state(pull: &Value) -> &'static str {
    match (pull.text("state"), pull.at("merged_at").is_some() || pull.is("merged"), pull.is("draft")) {
        (_, true, _) => "merged",
        (Some("closed"), ..) => "closed without merging",
        (_, _, true) => "open as a draft",
        _ => "open",
    }
}

/// Adds the two lines that follow the heading of every answer about one pull request.
pub fn introduce(hub: &Hub, pull: &Pull, answer: &mut Answer) {
    let value = &pull.value;
    let age = hub.age(value.text("created_at"));
    let author = value.text("user.login").unwrap_or("an unknown user");
    answer.line(&format!("{}, by {author}{age}, {}", state(value), branches(value)));
    if let Some(link) = value.text("html_url") {
        answer.line(link);
    }
}
