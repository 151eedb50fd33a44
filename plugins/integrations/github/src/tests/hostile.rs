//! Malformed questions and hostile services.

use super::*;
use integration_kit::http::{Head, Http, Receive, Request};
use integration_kit::json::{Value, json};
use proptest::prelude::*;

/// A question for each kind of answer.
const KINDS: &[&str] = &[
    "Get comments on this PR",
    "comments of PR #1",
    "Get review comments and approval status of PR 1",
    "review status of #1 PR",
    "List open pull requests",
    "my merged PRs",
    "PRs to review",
    "Show PR #1",
    "failing checks on this branch",
    "checks of PR #1",
    "checks on this commit",
    "issues assigned to me",
    "open bugs everywhere",
    "Show #1",
    "Describe this repository",
    "whoami",
];

/// Values with the right field names and arbitrary contents.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[\\n\\r\\t\u{1b}é]{0,6}".prop_map(Value::from),
        prop::sample::select(vec![
            "open",
            "closed",
            "APPROVED",
            "failure",
            "success",
            "completed",
            "2026-11-16T18:00:00Z",
            "a/b"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let field = prop::sample::select(FIELDS.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(field, inner, 0..8)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

#[rustfmt::skip]
const FIELDS: &[&str] = &[
    "number", "title", "user", "login", "state", "body", "created_at", "submitted_at", "head", "base", "ref", "sha",
    "object", "items", "check_runs", "statuses", "conclusion", "status", "output", "annotations_count", "id",
    "in_reply_to_id", "path", "line", "original_line", "start_line", "diff_hunk", "labels", "assignees", "name",
    "requested_reviewers", "requested_teams", "mergeable_state", "pull_request", "parent", "full_name", "comments",
    "html_url", "message", "topics", "license",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_document_makes_an_answer_panic(value in values(), status in prop::sample::select(vec![200_u16, 200, 200, 403, 500])) {
        for document in [value.clone(), json!([value.clone(), value])] {
            let service = Recorded::always(status, &document.to_string());
            for kind in KINDS {
                if let Ok(answer) = GitHub::ask(&question(kind), &service, &|_| ()) {
                    prop_assert!(answer.chars().all(|char| "\n\t".contains(char) || !char.is_control()), "{answer:?}");
                    prop_assert!(answer.chars().count() <= 100_000);
                }
            }
        }
    }

    #[test]
    fn no_question_makes_it_panic(text in "(\\PC{0,10}|#1|PR |branch |issue |by |@|a/b|://| |of |https://github.com/a/b/pull/1){0,10}") {
        let service = Recorded::always(200, "[]");
        let _ = GitHub::ask(&question(&text), &service, &|_| ());
    }
}

#[test]
fn every_kind_of_question_is_understood() {
    for kind in KINDS {
        assert_ne!(
            GitHub::ask(&question(kind), &Recorded::always(500, ""), &|_| ()),
            Err(QueryError::NotUnderstood),
            "{kind}"
        );
    }
}

#[test]
fn names_from_a_repository_cannot_escape_their_path_segment() {
    let mut odd = question("failing checks on this branch");
    odd.repository.branch = Some("../../../user?x=#é".into());
    odd.repository.remote = Some(Remote { host: "github.com".into(), owner: "a/../..".into(), name: "b?c".into() });
    let service = Recorded::always(404, "");
    let answer = GitHub::ask(&odd, &service, &|_| ());
    assert!(matches!(answer, Err(QueryError::NotFound(_))), "{answer:?}");
    assert!(service.requests().is_empty(), "Git has no such branch");
    odd.repository.branch = Some("feature/é?x=#".into());
    let _ = GitHub::ask(&odd, &service, &|_| ());
    let address = &service.requests()[0].address;
    assert_eq!(address, "https://api.github.com/repos/a%2F..%2F../b%3Fc/git/ref/heads/feature/%C3%A9%3Fx%3D%23");
}

/// Has no pull request of the branch, and this response for the commit.
struct AboutCommit(u16, String);

impl Http for AboutCommit {
    fn stream(&self, request: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
        let (status, body) = match request.address.split_once("/repos/octo-org/hello") {
            Some((_, rest)) if rest.starts_with("/commits/") => (self.0, self.1.as_str()),
            Some((_, rest)) if rest.starts_with("/pulls?") => (200, "[]"),
            _ => (200, "{}"),
        };
        let head = Head { status, headers: Vec::new() };
        receive(&head, body.as_bytes())?;
        Ok(head)
    }
}

#[test]
fn only_a_commit_that_was_not_pushed_is_in_no_pull_request() {
    let about = |status, body: &str| {
        GitHub::ask(&question("Show this PR"), &AboutCommit(status, body.to_owned()), &|_| ()).unwrap_err()
    };
    let none = QueryError::NotFound("open pull request of branch `feature/login` in octo-org/hello".into());
    for status in [404, 409, 422] {
        assert_eq!(about(status, "{\"message\": \"No commit found for SHA\"}"), none, "{status}");
    }
    assert_eq!(about(200, "[]"), none);
    let huge = format!("[\"{}\"]", "x".repeat(9_000_000));
    for (status, body, part) in [
        (500, "{\"message\": \"Unicorn\"}", "answered 500: Unicorn"),
        (503, "", "answered 503"),
        (200, "[{\"number\": ", "is not JSON"),
        (200, "{}", "asked for pull requests with commit `6dcb09b` of octo-org/hello"),
        (200, huge.as_str(), "larger than 8 MiB"),
    ] {
        let QueryError::Failed(message) = about(status, body) else { panic!("{status} is a failure") };
        assert!(message.contains(part), "{message}");
    }
}

/// Every page has a next one.
struct Endless(RefCell<usize>);

impl Http for Endless {
    fn stream(&self, request: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
        let page = self.0.replace_with(|page| *page + 1);
        let next = format!("<{}&page={page}>; rel=\"next\"", request.address);
        let head = Head { status: 200, headers: vec![("Link".into(), next)] };
        let items = vec![json!({"number": 1, "title": "x".repeat(300), "user": {"login": "ada"}}); 100];
        receive(&head, Value::from(items).to_string().as_bytes())?;
        Ok(head)
    }
}

#[test]
fn lists_without_an_end_are_read_within_limits() {
    for (text, requests, note) in [
        ("List open issues", 3, "(There are more: only the first 300 issues were read.)"),
        ("List open pull requests", 23, "(There are more: only the first 300 pull requests were read.)"),
    ] {
        let service = Endless(RefCell::default());
        let answer = GitHub::ask(&question(text), &service, &|_| ()).unwrap();
        assert_eq!(*service.0.borrow(), requests, "{text}");
        assert!(answer.contains(note) && answer.contains("The answer was too long"), "{answer}");
        assert!(answer.chars().count() < 100_000);
    }
}
