//! Questions to the recorded GitHub of `fixtures/services/github`.

mod answers;
mod hostile;
mod understood;

use crate::GitHub;
use integration_kit::http::Method;
use integration_kit::recorded::Recorded;
use integration_kit::{Integration, QueryError, Question, Remote, Repository};
use std::cell::RefCell;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/services/github");
const ADDRESS: &str = "https://api.github.com";
const COMMIT: &str = "6dcb09b5b57875f334f61aebed695e2e4193db5e";

/// 2026-11-16T18:43:00Z.
const NOW: u64 = 1_794_854_580;

/// A question from a clone of `octo-org/hello` on branch `feature/login`.
fn question(text: &str) -> Question {
    let remote = Remote { host: "github.com".into(), owner: "octo-org".into(), name: "hello".into() };
    let repository =
        Repository { remote: Some(remote), branch: Some("feature/login".into()), commit: Some(COMMIT.into()) };
    Question { text: text.into(), repository, address: ADDRESS.into(), now: NOW }
}

fn ask(text: &str) -> Result<String, QueryError> {
    put(&question(text)).0
}

/// The answer, and the lines of progress.
fn put(question: &Question) -> (Result<String, QueryError>, Vec<String>) {
    let service = Recorded::open(FIXTURES, &question.address);
    let lines = RefCell::new(Vec::new());
    let answer = GitHub::ask(question, &service, &|line| lines.borrow_mut().push(line.to_owned()));
    let requests = service.requests();
    assert!(requests.iter().all(|request| request.method == Method::Get && request.body.is_empty()));
    assert!(requests.len() <= 50, "{} requests", requests.len());
    (answer, lines.into_inner())
}
