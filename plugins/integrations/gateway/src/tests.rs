//! Whole questions, answered by recorded and by misbehaving services.

use crate::Gateway;
use integration_kit::http::{ANSWER_BYTES, Head, Http, Method, Receive, Request};
use integration_kit::json::{Json, Value, json};
use integration_kit::recorded::{Recorded, golden};
use integration_kit::text::ANSWER_CHARS;
use integration_kit::{Integration, QueryError, Question, Remote, Repository};
use proptest::prelude::*;
use std::cell::RefCell;
use std::path::PathBuf;

const SERVICE: &str = "https://query.example.com";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/services/gateway")
}

fn question(text: &str) -> Question {
    let remote = Remote { host: "github.com".into(), owner: "octo-org".into(), name: "hello".into() };
    Question {
        text: text.into(),
        repository: Repository {
            remote: Some(remote),
            branch: Some("feature/login".into()),
            commit: Some("3f2a9c1d0b7e4f5a8c6d2e1f0a9b8c7d6e5f4a3b".into()),
        },
        address: format!("{SERVICE}/ask"),
        now: 1_773_144_000,
    }
}

/// The answer, and its progress.
fn ask(http: &dyn Http, text: &str) -> (Result<String, QueryError>, Vec<String>) {
    let progress = RefCell::new(Vec::new());
    let answer = Gateway::ask(&question(text), http, &|line| progress.borrow_mut().push(line.to_owned()));
    (answer, progress.into_inner())
}

fn recorded(text: &str) -> (Result<String, QueryError>, Vec<String>) {
    ask(&Recorded::open(folder(), SERVICE), text)
}

/// Sends its parts one by one and then ends in some way.
struct Sent<'a> {
    kind: &'a str,
    parts: Vec<&'a [u8]>,
    end: Result<(), QueryError>,
}

impl Http for Sent<'_> {
    fn stream(&self, _: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
        let head = Head { status: 200, headers: vec![("Content-Type".into(), self.kind.into())] };
        self.parts.iter().try_for_each(|part| receive(&head, part))?;
        self.end.clone().map(|()| head)
    }
}

fn events<'a>(parts: &[&'a str]) -> Sent<'a> {
    Sent { kind: "text/event-stream", parts: parts.iter().map(|part| part.as_bytes()).collect(), end: Ok(()) }
}

fn cut_off() -> QueryError {
    QueryError::Unreachable("POST https://query.example.com/ask: the answer was cut off".into())
}

#[test]
fn every_form_of_an_answer_is_relayed() {
    for (text, name) in [
        ("Get comments on this PR", "data-lines"),
        ("List open pull requests", "message-lines"),
        ("Get review status for PR #123", "parts-and-complete"),
        ("Show failing checks on this branch", "typed-events"),
        ("Get issues assigned to me", "json"),
        ("Get my assigned issues", "text"),
        ("Show issues in the current sprint", "json-of-another-shape"),
    ] {
        let answer = recorded(text).0.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        golden(folder().join(format!("answers/{name}.txt")), &answer);
    }
}

#[test]
fn progress_is_forwarded_in_order() {
    let expected = ["Querying GitHub API...", "Processing 15 comments..."];
    assert_eq!(recorded("Get comments on this PR").1, expected);
    assert_eq!(recorded("List open pull requests").1, expected);
    assert_eq!(recorded("Get review status for PR #123").1, ["Reading reviews"]);
    assert_eq!(recorded("Show failing checks on this branch").1, ["calling circleci_failed_jobs"]);
}

#[test]
fn progress_is_forwarded_before_the_answer_is_complete() {
    struct Watching<'a>(&'a RefCell<Vec<String>>);
    impl Http for Watching<'_> {
        fn stream(&self, _: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
            let head = Head { status: 200, headers: vec![("content-type".into(), "text/event-stream".into())] };
            receive(&head, b"event: progress\ndata: reading\n\n")?;
            assert_eq!(*self.0.borrow(), ["reading"]);
            receive(&head, b"event: complete\ndata: done\n\n")?;
            Ok(head)
        }
    }
    let progress = RefCell::new(Vec::new());
    let answer =
        Gateway::ask(&question("a"), &Watching(&progress), &|line| progress.borrow_mut().push(line.to_owned()));
    assert_eq!(answer, Ok("done".into()));
}

#[test]
fn the_question_is_sent_with_its_context() {
    let service = Recorded::always(200, "fine");
    assert_eq!(ask(&service, "Did CircleCI \"pass\"?").0, Ok("fine".into()));
    let request = &service.requests()[0];
    assert_eq!((request.method, request.address.as_str()), (Method::Post, "https://query.example.com/ask"));
    assert!(request.headers.iter().all(|(name, _)| !name.eq_ignore_ascii_case("authorization")));
    let body: Value = serde_json::from_slice(&request.body).expect("the body is JSON");
    assert_eq!(body.text("query"), Some("Did CircleCI \"pass\"?"));
    assert_eq!((body.text("integration"), body.text("provider")), (Some("circleci"), Some("CIRCLECI")));
    assert_eq!(body.text("context.repository"), Some("https://github.com/octo-org/hello"));
    assert_eq!(body.text("context.branch"), Some("feature/login"));
    assert_eq!(body.at("context.commit"), body.at("context.commitSha"));
}

#[test]
fn missing_fields_are_null() {
    let service = Recorded::always(200, "fine");
    let mut bare = question("Anything?");
    bare.repository = Repository { remote: None, branch: None, commit: None };
    assert_eq!(Gateway::ask(&bare, &service, &|_| {}), Ok("fine".into()));
    let body: Value = serde_json::from_slice(&service.requests()[0].body).expect("the body is JSON");
    assert_eq!((&body["integration"], &body["context"]["repository"]), (&Value::Null, &Value::Null));
    assert_eq!((&body["context"]["branch"], &body["context"]["commit"]), (&Value::Null, &Value::Null));
}

#[test]
fn failures_keep_the_message_of_the_service() {
    let failed = recorded("Get project status");
    assert_eq!(
        failed,
        (Err(QueryError::Failed("No Linear account is connected".into())), vec!["Querying Linear...".into()])
    );
    assert_eq!(recorded("List high priority bugs").0, Err(QueryError::Unauthorized("Invalid token".into())));
    assert_eq!(recorded("Get failed CI checks").0, Err(QueryError::RateLimited(Some(30))));
    let answer = |status, body: &str| ask(&Recorded::always(status, body), "a").0;
    assert_eq!(answer(403, "{\"message\": \"not you\"}"), Err(QueryError::Forbidden("not you".into())));
    assert_eq!(answer(404, ""), Err(QueryError::NotFound("the query service at this address".into())));
    assert!(matches!(answer(500, "oops"), Err(QueryError::Failed(why)) if why.ends_with("answered 500: oops")));
    assert!(matches!(answer(200, ""), Err(QueryError::Failed(why)) if why.contains("nothing")));
    assert!(matches!(answer(204, ""), Err(QueryError::Failed(why)) if why.contains("nothing")));
    let page = answer(200, " <!DOCTYPE html><title>Sign in</title>");
    assert!(matches!(page, Err(QueryError::Failed(why)) if why.contains("HTML page")));
}

#[test]
fn a_redirect_says_what_to_set() {
    struct Elsewhere;
    impl Http for Elsewhere {
        fn stream(&self, _: &Request, _: &mut Receive) -> Result<Head, QueryError> {
            Ok(Head { status: 307, headers: vec![("location".into(), "https://new.example.com/ask".into())] })
        }
    }
    let Err(QueryError::Failed(why)) = ask(&Elsewhere, "a").0 else { panic!("a question is not sent elsewhere") };
    assert!(why.contains("set the address to `https://new.example.com/ask`"), "{why}");
}

#[test]
fn an_error_event_without_text_is_a_failure() {
    for text in ["event: error\n\n", "event: error\ndata:\n\n", "data: {\"type\": \"error\"}\n\n"] {
        assert!(matches!(ask(&events(&[text]), "a").0, Err(QueryError::Failed(why)) if !why.is_empty()), "{text}");
    }
}

#[test]
fn an_interrupted_stream_shows_what_was_received() {
    let unreachable = |answer: Result<String, QueryError>| match answer {
        Err(QueryError::Unreachable(what)) => what,
        other => panic!("{other:?}"),
    };
    let what = unreachable(recorded("Get build status for this branch").0);
    assert!(what.ends_with("ended before `complete`; its last progress was: Reading 3 workflows"), "{what}");
    let what = unreachable(ask(&events(&["data: half of\n\ndata: the answer\n\nevent: comp"]), "a").0);
    assert!(what.ends_with("ended before `complete`; received before that:\nhalf of\nthe answer"), "{what}");
    assert!(unreachable(ask(&events(&[]), "a").0).ends_with("ended before `complete`"));
    let broken =
        Sent { end: Err(cut_off()), ..events(&["event: progress\ndata: reading\n\nevent: complete\ndata: ha"]) };
    let what = unreachable(ask(&broken, "a").0);
    assert!(what.ends_with("was cut off; its last progress was: reading"), "{what}");
    let plain = Sent { kind: "text/plain", parts: vec![b"half"], end: Err(cut_off()) };
    assert_eq!(ask(&plain, "a").0, Err(cut_off()));
}

#[test]
fn nothing_is_read_after_the_answer() {
    let stream = ["event: complete\ndata: done\n\nevent: error\ndata: late\n\n", "event: progress\ndata: later\n\n"];
    let late = Sent { end: Err(cut_off()), ..events(&stream) };
    assert_eq!(ask(&late, "a"), (Ok("done".into()), vec![]));
}

#[test]
fn a_refusal_of_the_host_is_kept() {
    let denied = QueryError::Denied("POST https://query.example.com/ask".into());
    let refused = Sent { end: Err(denied.clone()), ..events(&[]) };
    assert_eq!(ask(&refused, "a").0, Err(denied));
}

#[test]
fn an_unlabeled_stream_is_recognized() {
    let stream = b"event: progress\ndata: reading\n\nevent: complete\ndata: done";
    let unnamed = Sent { kind: "text/plain", parts: vec![stream], end: Ok(()) };
    assert_eq!(ask(&unnamed, "a"), (Ok("done".into()), vec!["reading".into()]));
}

#[test]
fn a_json_content_type_requires_json() {
    let wrong = Sent { kind: "application/json", parts: vec![b"{\"answer\": "], end: Ok(()) };
    assert!(matches!(ask(&wrong, "a").0, Err(QueryError::Failed(why)) if why.ends_with("is not JSON")));
}

#[test]
fn huge_answers_are_truncated_or_rejected() {
    let long = format!("event: complete\ndata: {}\n\n", "x".repeat(ANSWER_CHARS + 5));
    let answer = ask(&events(&[&long]), "a").0.expect("a long answer is one");
    assert!(answer.ends_with("x… (5 characters more)"));
    let part = format!("data: {}\n\n", "x".repeat(1 << 20));
    let endless = events(&vec![part.as_str(); ANSWER_BYTES >> 19]);
    assert!(matches!(ask(&endless, "a").0, Err(QueryError::Failed(why)) if why.contains("larger than 8 MiB")));
    let line = Sent { kind: "text/plain", ..events(&vec![part.as_str(); ANSWER_BYTES >> 19]) };
    assert!(matches!(ask(&line, "a").0, Err(QueryError::Failed(why)) if why.contains("larger than 8 MiB")));
}

#[test]
fn control_characters_do_not_reach_the_answer() {
    let hostile = events(&["event: progress\ndata: a\u{1b}[2Jb\n\nevent: complete\ndata: c\u{1b}[31md\u{7}\n\n"]);
    let (answer, progress) = ask(&hostile, "a");
    let shown = format!("{}{}", answer.expect("there is an answer"), progress.concat());
    assert!(shown.chars().all(|char| !char.is_control()), "{shown:?}");
}

proptest! {
    #[test]
    fn where_the_stream_is_cut_changes_nothing(cuts in prop::collection::vec(1usize..30, 1..20)) {
        let recorded = Recorded::open(folder(), SERVICE);
        let all = json!(["Get comments on this PR", "Get review status for PR #123", "Show failing checks on this branch"]);
        for text in all.list("").iter().filter_map(Value::as_str) {
            let whole = RefCell::new(Vec::new());
            let request = crate::inquiry::request(&question(text));
            recorded.stream(&request, &mut |_, part| { whole.borrow_mut().extend_from_slice(part); Ok(()) }).unwrap();
            let whole = whole.into_inner();
            let (mut parts, mut rest) = (Vec::new(), &whole[..]);
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (part, later) = rest.split_at((*cut).min(rest.len()));
                parts.push(part);
                rest = later;
            }
            let split = Sent { kind: "text/event-stream", parts, end: Ok(()) };
            prop_assert_eq!(ask(&split, text), ask(&recorded, text));
        }
    }

    #[test]
    fn any_stream_ends(bytes in prop::collection::vec(any::<u8>(), 0..300), is_stream in any::<bool>()) {
        let kind = if is_stream { "text/event-stream" } else { "text/plain" };
        let _ = ask(&Sent { kind, parts: vec![&bytes], end: Ok(()) }, "a").0;
    }
}
