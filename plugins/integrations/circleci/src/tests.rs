//! Whole questions, answered from recorded answers of CircleCI.

use crate::CircleCi;
use integration_kit::http::{ANSWER_BYTES, Head, Http, Method, Receive, Request};
use integration_kit::json::json;
use integration_kit::recorded::{Recorded, golden};
use integration_kit::{Integration, Missing, QueryError, Question, Remote, Repository};
use std::cell::{Cell, RefCell};
use std::path::PathBuf;

const PUBLIC: &str = "https://circleci.com";
const BUILT: &str = "3f2a9c1d0b7e4f5a8c6d2e1f0a9b8c7d6e5f4a3b";

/// 2026-03-10 at noon.
const NOW: u64 = 1_773_144_000;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/services/circleci")
}

fn question(text: &str) -> Question {
    let remote = Remote { host: "github.com".into(), owner: "octo-org".into(), name: "hello".into() };
    Question {
        text: text.into(),
        repository: Repository {
            remote: Some(remote),
            branch: Some("feature/login".into()),
            commit: Some(BUILT.into()),
        },
        address: PUBLIC.into(),
        now: NOW,
    }
}

fn ask(question: &Question) -> Result<String, QueryError> {
    let service = Recorded::open(folder(), &question.address);
    let answer = CircleCi::ask(question, &service, &|_| {});
    assert!(service.requests().iter().all(|request| request.method == Method::Get && request.body.is_empty()));
    assert!(service.requests().len() <= 50, "the host allows 50 requests");
    answer
}

fn is_golden(question: &Question, name: &str) {
    let answer = ask(question).unwrap_or_else(|error| panic!("{}: {error:?}", question.text));
    golden(folder().join(format!("answers/{name}.txt")), &answer);
}

#[test]
fn every_common_question_has_its_answer() {
    for (text, name) in [
        ("Get failed CI checks", "failed-jobs"),
        ("What checks failed on this branch?", "failed-jobs"),
        ("What tests failed in the last build?", "failed-tests"),
        ("Why did the build fail?", "failed-tests"),
        ("Show recent pipeline runs", "recent-runs"),
        ("Show the last 2 pipelines on all branches", "runs-everywhere"),
        ("List failed builds", "failed-runs"),
        ("Get build status for this branch", "status-of-branch"),
        ("Get build status for this commit", "status-of-commit"),
        ("Get build status for branch main", "status-of-main"),
        ("Show pipeline #409", "pipeline"),
        ("What failed in pipeline #409?", "nothing-failed-in-pipeline"),
        ("What tests failed in job 1843?", "failed-tests-of-job"),
        ("Show job 1843", "job"),
        ("What tests failed on the main branch?", "no-failed-tests"),
        ("Get build status for this branch purple", "strange-word"),
        ("Show failed jobs in workflow build-and-test", "failed-jobs-of-workflow"),
        ("Did the format job pass?", "status-of-job"),
    ] {
        is_golden(&question(text), name);
    }
}

#[test]
fn every_listed_question_is_understood() {
    for text in CircleCi::QUESTIONS {
        let answer = ask(&question(text));
        let found = matches!(answer, Ok(_) | Err(QueryError::NotFound(_) | QueryError::Unreachable(_)));
        assert!(found, "{text}: {answer:?}");
    }
}

#[test]
fn a_commit_that_was_not_built_is_reported() {
    let mut other = question("Get failed CI checks");
    other.repository.commit = Some("b81e6a7720c9d4e3f5061728394a5b6c7d8e9f00".into());
    let answer = ask(&other).expect("there is a build");
    assert!(answer.ends_with("(This pipeline ran for commit 3f2a9c1; b81e6a7 is checked out.)"), "{answer}");
}

#[test]
fn without_a_branch_the_commit_is_used() {
    let mut detached = question("Did CI pass?");
    detached.repository.branch = None;
    assert!(
        ask(&detached).is_ok_and(|answer| answer.starts_with("Build of octo-org/hello for commit 3f2a9c1: failed"))
    );
    detached.repository.commit = None;
    assert_eq!(ask(&detached), Err(QueryError::Missing(Missing::Branch)));
    detached.text = "Did this commit pass?".into();
    assert_eq!(ask(&detached), Err(QueryError::Missing(Missing::Commit)));
    detached.repository.remote = None;
    assert_eq!(ask(&detached), Err(QueryError::Missing(Missing::Remote)));
}

#[test]
fn missing_items_are_named() {
    let not_found = |text: &str| match ask(&question(text)) {
        Err(QueryError::NotFound(what)) => what,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(not_found("Show pipeline #999"), "pipeline #999 of octo-org/hello in CircleCI");
    assert_eq!(
        not_found("status of branch feature/empty"),
        "a pipeline on branch feature/empty of octo-org/hello in CircleCI"
    );
    assert_eq!(not_found("Did commit 1234abc pass?"), "a pipeline for commit 1234abc of octo-org/hello in CircleCI");
    assert_eq!(
        not_found("Did the deploy-docs job pass?"),
        "a workflow or job in deploy-docs on branch feature/login of octo-org/hello in CircleCI"
    );
    let mut other = question("Did CI pass?");
    other.repository.remote.as_mut().expect("there is one").name = "unknown".into();
    assert_eq!(ask(&other), Err(QueryError::NotFound("project octo-org/unknown in CircleCI".into())));
}

#[test]
fn an_empty_list_says_so() {
    let answer = ask(&question("recent builds on branch feature/empty")).expect("a list may be empty");
    assert!(answer.starts_with("Recent pipelines of octo-org/hello on branch feature/empty: 0"), "{answer}");
    assert!(answer.ends_with("(There are no pipelines.)"), "{answer}");
}

#[test]
fn only_known_hosts_have_projects() {
    let mut elsewhere = question("Did CI pass?");
    elsewhere.repository.remote.as_mut().expect("there is one").host = "gitlab.com".into();
    let Err(QueryError::Failed(why)) = ask(&elsewhere) else { panic!("gitlab.com has no projects") };
    assert!(why.contains("gitlab.com") && why.contains("bitbucket.org"), "{why}");

    let path = |address: &str, host: &str| {
        let mut question = question("Did CI pass?");
        question.address = address.into();
        question.repository.remote.as_mut().expect("there is one").host = host.into();
        let service = Recorded::always(404, "{}");
        assert!(CircleCi::ask(&question, &service, &|_| {}).is_err());
        service.requests()[0].address.clone()
    };
    let rest = "/octo-org/hello/pipeline?branch=feature%2Flogin";
    assert_eq!(path(PUBLIC, "bitbucket.org"), format!("{PUBLIC}/api/v2/project/bb{rest}"));
    let own = "https://circle.example.com";
    assert_eq!(path(own, "ghe.example.com"), format!("{own}/api/v2/project/gh{rest}"));
}

#[test]
fn names_cannot_escape_their_path_segment() {
    let mut hostile = question("status of branch a&page-token=b#c");
    hostile.repository.remote =
        Some(Remote { host: "github.com".into(), owner: "o/../p".into(), name: "x/../y?z".into() });
    let service = Recorded::always(404, "{}");
    assert!(CircleCi::ask(&hostile, &service, &|_| {}).is_err());
    let expected =
        "https://circleci.com/api/v2/project/gh/o%2F..%2Fp/x%2F..%2Fy%3Fz/pipeline?branch=a%26page-token%3Db%23c";
    assert_eq!(service.requests()[0].address, expected);
    hostile.repository.remote.as_mut().expect("there is one").owner = "..".into();
    assert!(matches!(CircleCi::ask(&hostile, &service, &|_| {}), Err(QueryError::NotFound(_))));
    assert_eq!(service.requests().len(), 1);
}

#[test]
fn failures_keep_the_message_of_circleci() {
    let answer =
        |status, body: &str| CircleCi::ask(&question("Did CI pass?"), &Recorded::always(status, body), &|_| {});
    let body = |message: &str| format!("{{\"message\": \"{message}\"}}");
    assert_eq!(
        answer(401, &body("You must log in first.")),
        Err(QueryError::Unauthorized("You must log in first.".into()))
    );
    assert_eq!(answer(403, &body("Permission denied")), Err(QueryError::Forbidden("Permission denied".into())));
    assert_eq!(answer(429, &body("Too many requests")), Err(QueryError::RateLimited(None)));
    assert!(
        matches!(answer(500, &body("internal")), Err(QueryError::Failed(why)) if why.ends_with("answered 500: internal"))
    );
    for odd in ["", "{", "[]", "{}", "null", "{\"items\": {}}", "<html>", "\u{0}"] {
        assert!(matches!(answer(200, odd), Err(QueryError::Failed(_))), "{odd}");
    }
}

#[test]
fn answers_of_odd_shapes_are_handled() {
    let odd = ["[1, null, \"a\", {}]", "[{\"id\": 5, \"number\": \"x\", \"errors\": 7, \"vcs\": []}]", "[]"];
    for items in odd {
        for text in ["Did CI pass?", "What failed?", "Which tests failed?", "recent builds", "tests of job 5", "job 5"]
        {
            let service = Recorded::always(200, &format!("{{\"items\": {items}}}"));
            let answer = CircleCi::ask(&question(text), &service, &|_| {});
            assert!(matches!(answer, Ok(_) | Err(QueryError::NotFound(_))), "{text}: {answer:?}");
        }
    }
}

/// Always has one more page, on which everything is new and failed.
struct Endless(Cell<usize>);

impl Http for Endless {
    fn stream(&self, request: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
        let page = self.0.get() + 1;
        self.0.set(page);
        // A commit is found on the last page that is read.
        let revision = if page == 6 && !request.address.contains("branch=") { "fff9999" } else { "abc" };
        let items: Vec<_> = (0..20)
            .map(|at| {
                json!({"id": format!("{page}-{at}"), "number": at, "name": format!("{page}-{at}"), "status": "failed",
                    "job_number": at, "result": "failure", "vcs": {"revision": revision}})
            })
            .collect();
        let head = Head { status: 200, headers: Vec::new() };
        receive(&head, json!({"items": items, "next_page_token": page.to_string()}).to_string().as_bytes())?;
        Ok(head)
    }
}

#[test]
fn endless_pages_and_huge_answers_end() {
    for text in [
        "Did CI pass?",
        "What failed?",
        "Which tests failed?",
        "recent builds",
        "the last 99 builds",
        "failed builds",
        "Which tests failed in commit fff9999?",
        "Which tests failed in commit 1234abc?",
    ] {
        let service = Endless(Cell::new(0));
        let answer = CircleCi::ask(&question(text), &service, &|_| {});
        assert!(matches!(answer, Ok(_) | Err(QueryError::NotFound(_))), "{text}: {answer:?}");
        assert!(service.0.get() <= 50, "{text}: {} requests", service.0.get());
    }
    let huge = "x".repeat(ANSWER_BYTES + 1);
    let answer = CircleCi::ask(&question("Did CI pass?"), &Recorded::always(200, &huge), &|_| {});
    assert!(matches!(answer, Err(QueryError::Failed(why)) if why.contains("larger than 8 MiB")));
}

#[test]
fn progress_says_what_is_read() {
    let progress = RefCell::new(Vec::new());
    let service = Recorded::open(folder(), PUBLIC);
    let asked = question("What tests failed in the last build?");
    CircleCi::ask(&asked, &service, &|line| progress.borrow_mut().push(line.to_owned())).expect("there is an answer");
    let progress = progress.into_inner();
    assert_eq!(progress[0], "reading pipelines of branch feature/login");
    assert!(progress.contains(&"reading test results of job 1843".to_owned()), "{progress:?}");
}
