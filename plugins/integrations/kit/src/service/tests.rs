//! Well-behaved and misbehaving services.

use super::paging::{Page, follow, next_link};
use super::*;
use crate::http::Receive;
use crate::json::json;
use crate::recorded::Recorded;
use proptest::prelude::*;
use std::cell::RefCell;

const NOW: u64 = 1_794_854_580;

/// Status, headers and body.
type Reply<Body> = (u16, Vec<(&'static str, &'static str)>, Body);

/// Gives its answers in order.
struct Script(RefCell<Vec<Reply<Vec<u8>>>>, RefCell<Vec<Request>>);

fn script(answers: Vec<Reply<&str>>) -> Script {
    let answers = answers.into_iter().rev().map(|(status, headers, body)| (status, headers, body.as_bytes().to_vec()));
    Script(RefCell::new(answers.collect()), RefCell::default())
}

impl Http for Script {
    fn stream(&self, request: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
        self.1.borrow_mut().push(request.clone());
        let (status, headers, body) = self.0.borrow_mut().pop().expect("no more requests than answers");
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let head = Head { status, headers };
        body.chunks(1_000_000).try_for_each(|part| receive(&head, part))?;
        Ok(head)
    }
}

fn asked(http: &Script) -> Vec<String> {
    http.1.borrow().iter().map(|request| request.address.clone()).collect()
}

fn get(status: u16, headers: Vec<(&'static str, &'static str)>, body: &str) -> Result<Value, QueryError> {
    Service::new(&script(vec![(status, headers, body)]), "https://a.example/api/", NOW).get("/x?token=no", "the thing")
}

#[test]
fn statuses_keep_the_message_of_the_service() {
    assert_eq!(get(200, vec![], "{\"a\": 1}"), Ok(json!({"a": 1})));
    let message = "{\"message\": \"Bad\\n credentials\"}";
    assert_eq!(get(401, vec![], message), Err(QueryError::Unauthorized("Bad credentials".into())));
    assert_eq!(get(403, vec![], message), Err(QueryError::Forbidden("Bad credentials".into())));
    assert_eq!(get(404, vec![], message), Err(QueryError::NotFound("the thing".into())));
    let failed = |text: &str| Err(QueryError::Failed(text.into()));
    assert_eq!(get(500, vec![], "<html>Unicorn!</html>"), failed("GET https://a.example/api/x answered 500"));
    assert_eq!(get(502, vec![], "bad gateway\n"), failed("GET https://a.example/api/x answered 502: bad gateway"));
    assert_eq!(
        get(422, vec![], "{\"errors\": [{\"message\": \"no\"}]}"),
        failed("GET https://a.example/api/x answered 422: no")
    );
    assert_eq!(get(401, vec![], ""), Err(QueryError::Unauthorized("GET https://a.example/api/x answered 401".into())));
}

#[test]
fn rate_limits_say_when_to_retry() {
    let limited = |status, headers| get(status, headers, "{}");
    let reset = ("X-RateLimit-Reset", "1794854680");
    assert_eq!(limited(403, vec![("x-ratelimit-remaining", "0"), reset]), Err(QueryError::RateLimited(Some(100))));
    assert_eq!(
        limited(403, vec![("x-ratelimit-remaining", "9"), reset]),
        Err(QueryError::Forbidden("GET https://a.example/api/x answered 403".into()))
    );
    assert_eq!(limited(429, vec![("Retry-After", "7"), reset]), Err(QueryError::RateLimited(Some(7))));
    assert_eq!(
        limited(429, vec![("retry-after", "Mon, 16 Nov 2026 18:44:00 GMT")]),
        Err(QueryError::RateLimited(Some(60)))
    );
    assert_eq!(limited(429, vec![("retry-after", "soon")]), Err(QueryError::RateLimited(None)));
    assert_eq!(
        limited(429, vec![("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1")]),
        Err(QueryError::RateLimited(Some(0)))
    );
    let secondary = "{\"message\": \"You have exceeded a secondary rate limit.\"}";
    assert_eq!(get(403, vec![], secondary), Err(QueryError::RateLimited(None)));
}

#[test]
fn answers_that_are_not_json_or_too_large_are_reported() {
    for body in ["", "{", "<html>", "[1,]", "{\"a\": 1} x"] {
        let Err(QueryError::Failed(message)) = get(200, vec![], body) else { panic!("{body} is not JSON") };
        assert!(message.starts_with("the answer to GET https://a.example/api/x is not JSON"), "{message}");
    }
    let deep = "[".repeat(100_000);
    assert!(matches!(get(200, vec![], &deep), Err(QueryError::Failed(_))));
    let huge = format!("\"{}\"", "x".repeat(9_000_000));
    assert_eq!(
        get(200, vec![], &huge),
        Err(QueryError::Failed("the answer to GET https://a.example/api/x is larger than 8 MiB".into()))
    );
}

#[test]
fn only_the_given_statuses_mean_absent() {
    let found = |status| {
        let http = script(vec![(status, vec![], "7")]);
        Service::new(&http, "https://a.example", NOW).get_optional("/x", &[404, 422], "it")
    };
    assert_eq!((found(200), found(404), found(422)), (Ok(Some(json!(7))), Ok(None), Ok(None)));
    for status in [400, 401, 403, 409, 429, 500] {
        assert!(found(status).is_err(), "{status}");
    }
}

#[test]
fn redirects_are_followed_a_few_times() {
    let moved = |location| (301, vec![("location", location)], "");
    let http = script(vec![moved("https://b.example/y"), moved("/z"), (200, vec![], "1")]);
    assert_eq!(Service::new(&http, "https://a.example", NOW).get("/x", "it"), Ok(json!(1)));
    assert_eq!(asked(&http), ["https://a.example/x", "https://b.example/y", "https://b.example/z"]);
    let http = script(vec![moved("/x"), moved("/x"), moved("/x"), moved("/x")]);
    let Err(QueryError::Failed(message)) = Service::new(&http, "https://a.example", NOW).get("/x", "it") else {
        panic!()
    };
    assert_eq!(message, "GET https://a.example/x was redirected more than 3 times");
    for nowhere in ["", "//c.example/", "x", "ftp://c.example/"] {
        assert_eq!(resolve_location("https://a.example/x", nowhere), None, "{nowhere}");
    }
}

#[test]
fn headers_go_with_every_request() {
    let http = script(vec![(200, vec![], "{}")]);
    Service::new(&http, "https://a.example", NOW)
        .with("Accept", "text/x")
        .post("/graphql", &json!({"query": "{a}"}), "it")
        .unwrap();
    let request = http.1.borrow()[0].clone();
    assert_eq!(request.body, b"{\"query\":\"{a}\"}");
    let head = Head { status: 0, headers: request.headers };
    assert_eq!((head.header("accept"), head.header("content-type")), (Some("text/x"), Some("application/json")));
    assert_eq!(head.header("user-agent"), Some("skillcell"));
}

#[test]
fn pages_are_followed_by_link_within_limits() {
    let first = || {
        (
            200,
            vec![("Link", "<https://a.example/x?page=1>; rel=\"prev\", <https://a.example/x?page=2>; rel=\"next\"")],
            "[1]",
        )
    };
    let http = script(vec![first(), (200, vec![], "[2]")]);
    let pages = Service::new(&http, "https://a.example", NOW).list_by_link("/x", "", "things", 9).unwrap();
    assert_eq!((pages.items, pages.cut), (vec![json!(1), json!(2)], false));
    assert_eq!(asked(&http), ["https://a.example/x", "https://a.example/x?page=2"]);
    let http = script(vec![first()]);
    let pages = Service::new(&http, "https://a.example", NOW).list_by_link("/x", "", "things", 1).unwrap();
    assert_eq!((pages.items.len(), pages.cut), (1, true));
    let http = script(vec![(200, vec![], "{\"a\": {}}")]);
    let wrong = Service::new(&http, "https://a.example", NOW).list_by_link("/x", "a", "things", 1).unwrap_err();
    assert_eq!(wrong, QueryError::Failed("asked for things, but the answer is not a list".into()));
}

#[test]
fn pages_are_followed_by_token() {
    let http = script(vec![
        (200, vec![], "{\"items\": [1], \"next_page_token\": \"a b\"}"),
        (200, vec![], "{\"items\": [2], \"next_page_token\": null}"),
    ]);
    let pages =
        Service::new(&http, "https://a.example", NOW).list_by_token("/x?y=1", "page-token", "things", 9).unwrap();
    assert_eq!((pages.items.len(), pages.cut), (2, false));
    assert_eq!(asked(&http)[1], "https://a.example/x?y=1&page-token=a%20b");
}

#[test]
fn a_cyclic_list_ends() {
    let pages = follow(50, |_| Ok(Page { items: vec![json!(1)], next: Some("same".into()) })).unwrap();
    assert_eq!(pages.items.len(), 2);
}

proptest! {
    #[test]
    fn any_answer_is_an_answer_or_an_error(status in 100..600_u16, body in "(\\PC{0,20}|\\{|\\[|\"|message|:|errors){0,8}", link in "\\PC{0,40}") {
        let service = Recorded::always(status, &body);
        let _ = Service::new(&service, "https://a.example", NOW).list_by_link("/x", "", "things", 3);
        let head = Head { status, headers: vec![("link".into(), link.clone()), ("retry-after".into(), link.clone()), ("location".into(), link)] };
        next_link(&head);
        status::wait(&head, NOW);
        status::message(body.as_bytes());
    }
}
