//! Whole questions, answered from recorded answers of Linear.

use crate::Linear;
use integration_kit::http::{ANSWER_BYTES, Head, Http, Method, Receive, Request};
use integration_kit::json::{Json, Value, json};
use integration_kit::recorded::{Recorded, golden};
use integration_kit::{Integration, Missing, QueryError, Question, Remote, Repository};
use std::cell::{Cell, RefCell};
use std::path::PathBuf;

const PUBLIC: &str = "https://api.linear.app";

/// 2026-03-10 at noon.
const NOW: u64 = 1_773_144_000;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/services/linear")
}

fn question(text: &str) -> Question {
    let remote = Remote { host: "github.com".into(), owner: "octo-org".into(), name: "hello".into() };
    Question {
        text: text.into(),
        repository: Repository { remote: Some(remote), branch: Some("ada/eng-123-keep".into()), commit: None },
        address: PUBLIC.into(),
        now: NOW,
    }
}

fn ask(text: &str) -> Result<String, QueryError> {
    let service = Recorded::open(folder(), PUBLIC);
    let answer = Linear::ask(&question(text), &service, &|_| {});
    for request in service.requests() {
        assert_eq!((request.method, request.address.as_str()), (Method::Post, "https://api.linear.app/graphql"));
        let body: Value = serde_json::from_slice(&request.body).expect("a body is JSON");
        assert!(body.text("query").is_some_and(|query| query.starts_with("query ")), "{body}");
    }
    answer
}

#[test]
fn every_common_question_has_its_answer() {
    for (text, name) in [
        ("Get my assigned issues", "my-issues"),
        ("Show issues in the current sprint", "current-cycle"),
        ("Show issues in the current cycle of team ENG", "current-cycle-of-team"),
        ("Show the next sprint", "no-next-cycle"),
        ("List high priority bugs", "high-priority-bugs"),
        ("List unassigned urgent issues", "unassigned"),
        ("issues in triage", "none"),
        ("Get project status", "projects"),
        ("Get status of project Login", "project"),
        ("How is the Mobile App project going?", "project-without-updates"),
        ("Show open issues of project Login", "issues-of-project"),
        ("Get issues related to authentication", "search"),
        ("Find issues about single sign-on", "search-finds-nothing"),
        ("Show ENG-123", "issue"),
        ("Get the issue of this branch", "issue"),
    ] {
        let answer = ask(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        golden(folder().join(format!("answers/{name}.txt")), &answer);
    }
}

#[test]
fn every_listed_question_is_understood() {
    for text in Linear::QUESTIONS {
        assert!(ask(text).is_ok(), "{text}: {:?}", ask(text));
    }
}

#[test]
fn values_go_in_variables() {
    let hostile = "\") { mutation } # {$";
    let service = Recorded::always(200, "{}");
    let mut asked = question(&format!("issues about {hostile}"));
    assert!(Linear::ask(&asked, &service, &|_| {}).is_err());
    asked.text = "current sprint of team \"}mutation".into();
    assert!(Linear::ask(&asked, &service, &|_| {}).is_err());
    for request in service.requests() {
        let body: Value = serde_json::from_slice(&request.body).expect("a body is JSON");
        assert!(!body["query"].to_string().contains("mutation"), "{body}");
        assert!(body["variables"].to_string().contains("mutation"), "{body}");
    }
}

#[test]
fn missing_items_are_named() {
    let not_found = |text: &str| match ask(text) {
        Err(QueryError::NotFound(what)) => what,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(not_found("Show ENG-999"), "issue ENG-999 in Linear");
    assert_eq!(not_found("current sprint of team Nowhere"), "team Nowhere in Linear");
    assert_eq!(not_found("status of project Nowhere"), "project Nowhere in Linear");
}

#[test]
fn the_branch_has_to_name_an_issue() {
    let service = Recorded::open(folder(), PUBLIC);
    let mut asked = question("Get the issue of this branch");
    asked.repository.branch = Some("main".into());
    let answer = Linear::ask(&asked, &service, &|_| {});
    assert!(matches!(answer, Err(QueryError::NotFound(what)) if what.ends_with("in the name of branch main")));
    asked.repository.branch = None;
    assert_eq!(Linear::ask(&asked, &service, &|_| {}), Err(QueryError::Missing(Missing::Branch)));
    assert!(service.requests().is_empty());
}

/// Gives one answer with headers.
struct Once(u16, Vec<(&'static str, &'static str)>, String);

impl Http for Once {
    fn stream(&self, _: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
        let headers = self.1.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let head = Head { status: self.0, headers };
        receive(&head, self.2.as_bytes())?;
        Ok(head)
    }
}

fn answered(status: u16, headers: Vec<(&'static str, &'static str)>, body: &str) -> Result<String, QueryError> {
    Linear::ask(&question("Get my assigned issues"), &Once(status, headers, body.to_owned()), &|_| {})
}

#[test]
fn errors_of_linear_keep_its_message() {
    let error =
        |code: &str, message: &str| json!({"errors": [{"message": message, "extensions": {"code": code}}]}).to_string();
    let typed = |kind: &str| {
        let extensions = json!({"type": kind, "userPresentableMessage": "For people.", "userError": true});
        json!({"data": null, "errors": [{"message": "for machines", "extensions": extensions}]}).to_string()
    };
    let refused = "Authentication required, not authenticated";
    let unauthorized = Err(QueryError::Unauthorized(refused.into()));
    assert_eq!(answered(400, vec![], &error("AUTHENTICATION_ERROR", refused)), unauthorized);
    assert_eq!(answered(401, vec![], &error("", refused)), unauthorized);
    assert_eq!(
        answered(200, vec![], &typed("authentication error")),
        Err(QueryError::Unauthorized("For people.".into()))
    );
    assert_eq!(answered(200, vec![], &typed("forbidden")), Err(QueryError::Forbidden("For people.".into())));
    assert_eq!(answered(200, vec![], &typed("internal error")), Err(QueryError::Failed("For people.".into())));
    assert_eq!(answered(400, vec![], &error("RATELIMITED", "Rate limit exceeded")), Err(QueryError::RateLimited(None)));
    let complex = answered(400, vec![], &error("GRAPHQL_VALIDATION_FAILED", "Query too complex"));
    assert!(matches!(complex, Err(QueryError::Failed(why)) if why.ends_with("as too complex: Query too complex")));
    assert!(matches!(answered(200, vec![], "{\"errors\": [7]}"), Err(QueryError::Failed(why)) if !why.is_empty()));
}

#[test]
fn limits_say_how_long_to_wait() {
    let limited = json!({"errors": [{"message": "a", "extensions": {"code": "RATELIMITED"}}]}).to_string();
    let headers = vec![
        ("X-RateLimit-Requests-Remaining", "0"),
        ("X-RateLimit-Requests-Reset", "1773144090500"),
        ("X-RateLimit-Complexity-Remaining", "100"),
        ("X-RateLimit-Complexity-Reset", "1773147600000"),
    ];
    assert_eq!(answered(400, headers, &limited), Err(QueryError::RateLimited(Some(91))));
    assert_eq!(answered(400, vec![("retry-after", "7")], &limited), Err(QueryError::RateLimited(Some(7))));
    assert_eq!(answered(429, vec![("retry-after", "8")], "slow down"), Err(QueryError::RateLimited(Some(8))));
}

#[test]
fn other_failures_are_distinguished() {
    assert_eq!(answered(401, vec![], "no"), Err(QueryError::Unauthorized("no".into())));
    assert_eq!(answered(403, vec![], "no"), Err(QueryError::Forbidden("no".into())));
    assert!(matches!(answered(404, vec![], ""), Err(QueryError::NotFound(_))));
    assert!(matches!(answered(500, vec![], "<html>"), Err(QueryError::Failed(why)) if why.ends_with("answered 500")));
    let odd =
        ["", "{", "[]", "{}", "null", "<html>", "{\"data\": null}", "{\"data\": []}", "{\"data\": {\"issues\": 5}}"];
    for odd in odd {
        assert!(matches!(answered(200, vec![], odd), Err(QueryError::Failed(_))), "{odd}");
    }
    let huge = "x".repeat(ANSWER_BYTES + 1);
    assert!(matches!(answered(200, vec![], &huge), Err(QueryError::Failed(why)) if why.contains("larger than 8 MiB")));
}

/// Always has one more page of odd items.
struct Endless(Cell<usize>);

impl Http for Endless {
    fn stream(&self, _: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
        let page = self.0.get() + 1;
        self.0.set(page);
        let nodes = json!([{"id": page.to_string(), "cycle": {"id": "1"}}, null, 7, {"title": [], "labels": "x", "progress": "y"}]);
        let list = json!({"nodes": nodes, "pageInfo": {"hasNextPage": true, "endCursor": page.to_string()}});
        let data = json!({"issues": list, "searchIssues": list, "projects": list, "cycles": list, "teams": list,
            "viewer": {"teams": list}, "issue": {"comments": list, "children": list, "estimate": "z"}});
        let head = Head { status: 200, headers: Vec::new() };
        receive(&head, json!({"data": data}).to_string().as_bytes())?;
        Ok(head)
    }
}

#[test]
fn endless_pages_end_and_odd_items_are_handled() {
    for text in Linear::QUESTIONS.iter().chain(&["my team's issues", "the previous sprint"]) {
        let service = Endless(Cell::new(0));
        let answer = Linear::ask(&question(text), &service, &|_| {});
        assert!(answer.is_ok(), "{text}: {answer:?}");
        assert!(service.0.get() <= 10, "{text}: {} requests", service.0.get());
    }
    let answer = Linear::ask(&question("Get my assigned issues"), &Endless(Cell::new(0)), &|_| {});
    assert!(answer.is_ok_and(|answer| answer.ends_with("(There are more: only the first 16 issues were read.)")));
}

#[test]
fn my_teams_are_queried_first() {
    let service = Recorded::open(folder(), PUBLIC);
    let _ = Linear::ask(&question("my team's issues"), &service, &|_| {});
    let bodies: Vec<_> =
        service.requests().iter().map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect();
    assert!(bodies[0].contains("query MyTeams("), "{bodies:?}");
    assert!(bodies[1].contains("\"team\":{\"id\":{\"in\":[\"e1e1"), "{bodies:?}");
}

#[test]
fn every_criterion_is_a_part_of_the_filter() {
    let filter = |text: &str| {
        let service = Recorded::always(200, "{}");
        assert!(Linear::ask(&question(text), &service, &|_| {}).is_err());
        let body: Value = serde_json::from_slice(&service.requests()[0].body).expect("a body is JSON");
        body["variables"]["filter"].clone()
    };
    let has = |part: &str| json!({"containsIgnoreCase": part});
    let labeled = |part: &str| json!({"some": {"name": has(part)}});
    let open = json!({"type": {"nin": ["completed", "canceled", "duplicate"]}});
    let of_bob = json!({"or": [{"displayName": has("Bob")}, {"name": has("Bob")}]});
    assert_eq!(filter("issues assigned to Bob"), json!({"assignee": of_bob, "state": open}));
    let both = json!({"and": [labeled("bug"), labeled("frontend")]});
    assert_eq!(filter("bugs labeled frontend"), json!({"labels": both, "state": open}));
    assert_eq!(filter("my started issues")["state"], json!({"type": {"eq": "started"}}));
    assert_eq!(filter("low priority issues")["priority"], json!({"in": [4]}));
    let team = json!({"or": [{"key": {"eqIgnoreCase": "ENG"}}, {"name": has("ENG")}]});
    assert_eq!(
        filter("unassigned issues of team ENG"),
        json!({"assignee": {"null": true}, "state": open, "team": team})
    );
    assert_eq!(filter("current sprint issues about login"), json!({"cycle": {"isActive": {"eq": true}}}));
    assert_eq!(filter("status of my projects")["members"], json!({"some": {"isMe": {"eq": true}}}));
}

#[test]
fn progress_says_what_is_read() {
    let progress = RefCell::new(Vec::new());
    let service = Recorded::open(folder(), PUBLIC);
    let asked = question("Show issues in the current sprint");
    Linear::ask(&asked, &service, &|line| progress.borrow_mut().push(line.to_owned())).expect("there is an answer");
    assert_eq!(progress.into_inner(), ["reading your teams", "reading the current cycles", "reading issues"]);
}
