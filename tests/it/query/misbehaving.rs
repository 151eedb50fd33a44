//! Services that fail in every way: a sentence says what happened and what to do, and the next question is answered.

use super::scene::{Scene, Unusual};
use crate::still_answers;
use serde_json::json;
use skillcell_tests::services::{Answer, Deed, Service, now};
use std::time::{Duration, Instant};

/// A question of each service whose first request decides.
const QUESTIONS: [(&str, &str, &str); 3] = [
    ("github", "List open pull requests", "GITHUB_TOKEN"),
    ("circleci", "Show recent pipeline runs", "CIRCLECI_TOKEN"),
    ("linear", "Get my assigned issues", "LINEAR_API_KEY"),
];

/// Asks while the service misbehaves, and returns what is said instead of an answer.
fn failed(scene: &mut Scene, integration: &str, question: &str, deed: Deed) -> String {
    scene.service(integration).misbehave(deed);
    let told = scene.refused(integration, question);
    scene.service(integration).behave();
    assert!(!told.contains("s3cret"), "{told}");
    told
}

fn says(told: &str, parts: &[&str]) {
    for part in parts {
        assert!(told.contains(part), "`{part}` is missing: {told}");
    }
}

#[test]
fn every_failure_is_told_with_what_to_do() {
    let mut scene = Scene::start();
    let minute = (now() + 60).to_string();
    for (name, question, variable) in QUESTIONS {
        let message = |status, text: &str| Answer::json(status, &json!({"message": text}));
        let limited = message(403, "API rate limit exceeded")
            .header("x-ratelimit-remaining", "0")
            .header("x-ratelimit-reset", minute.clone());
        let throttled = message(429, "Too many requests").header("retry-after", "7");
        let not_known = format!("`{name}` does not know who asks: Bad credentials");
        let no_more = format!("`{name}` wants no more questions for now");
        for (answer, parts, outcome) in [
            (message(401, "Bad credentials"), vec![not_known.as_str(), variable, "valid"], "unauthorized"),
            (message(403, "Not for you"), vec!["does not show this: Not for you", variable], "forbidden"),
            (limited, vec![no_more.as_str(), "ask again in ", " seconds"], "rate limited"),
            (throttled, vec![no_more.as_str(), "ask again in 7 seconds"], "rate limited"),
            (message(500, "Unicorn"), vec!["failed: ", "answered 500", "Unicorn", "try again"], "failed"),
            (message(503, ""), vec!["failed: ", "answered 503", "try again"], "failed"),
            (Answer::ok("application/json", "[{\"number\": 1, "), vec!["failed: ", "JSON", "try again"], "failed"),
            (Answer::page(200), vec!["failed: ", "try again"], "failed"),
            (Answer::ok("application/json", "7"), vec!["failed: "], "failed"),
            (message(200, "").header("content-encoding", "gzip"), vec!["failed: ", "encoded as `gzip`"], "failed"),
        ] {
            let told = failed(&mut scene, name, question, Deed::Say(answer));
            says(&told, &parts);
            assert_eq!(scene.last_record()["outcome"], outcome, "{told}");
        }
        for deed in [Deed::HangUp, Deed::Cut(0), Deed::Cut(40)] {
            let told = failed(&mut scene, name, question, deed);
            says(
                &told,
                &[&format!("`{name}` has no answer: "), "cut off", &format!("skillcell integration test {name}")],
            );
            let line = scene.last_record();
            assert_eq!(line["outcome"], "unreachable", "{line}");
            assert!(line["requests"][0]["failure"].is_string(), "{line}");
        }
        let told = failed(&mut scene, name, question, Deed::Huge(20 << 20));
        says(&told, &["larger than 8 MiB"]);
        let line = scene.last_record();
        assert_eq!(line["requests"][0]["failure"], "the answer is too large", "{line}");
        assert!(line["requests"][0]["bytes"].as_u64().unwrap() < 9 << 20, "{line}");
        scene.ask(name, question);
    }
    still_answers(&mut scene.session);
}

#[test]
fn failures_of_a_gateway_are_told_too() {
    let mut scene = Scene::start();
    for (question, parts) in [
        ("Get project status", ["`gateway` failed: No Linear account is connected", "ask in other words"]),
        ("Get build status for this branch", ["ended before `complete`", "Reading 3 workflows"]),
        ("List high priority bugs", ["does not know who asks: Invalid token", "SKILLCELL_GATEWAY_TOKEN"]),
        ("Get failed CI checks", ["wants no more questions for now", "ask again in 30 seconds"]),
    ] {
        let told = scene.refused("gateway", question);
        says(&told, &parts);
    }
    let told = failed(&mut scene, "gateway", "Get comments on this PR", Deed::Cut(60));
    says(&told, &["cut off", "Querying GitHub API..."]);
}

#[test]
fn a_redirect_is_followed_only_where_the_integration_may_go() {
    let mut scene = Scene::start();
    let other = Service::start(&scene.authority);
    let port = scene.service("github").port();
    for (elsewhere, refusal) in [
        (other.address(), format!("connect to `localhost:{}`: this host is not granted", other.port())),
        ("https://evil.example/pulls".to_owned(), "connect to `evil.example:443`: this host is not granted".to_owned()),
        ("https://10.0.0.1/pulls".to_owned(), "connect to `10.0.0.1:443`: this host is not granted".to_owned()),
        (format!("https://127.0.0.1:{port}/"), format!("connect to `127.0.0.1:{port}`: this host is not granted")),
        (
            "http://169.254.169.254/latest".to_owned(),
            "connect to `169.254.169.254:80`: this host is not granted".to_owned(),
        ),
    ] {
        let before = scene.service("github").requests().len();
        let told = failed(&mut scene, "github", "List open pull requests", Deed::redirect(elsewhere));
        says(
            &told,
            &[
                "the server does not let `github` do this",
                "integrations.github.hosts",
                &format!("refusals:\n- {refusal}"),
            ],
        );
        let line = scene.last_record();
        assert_eq!((&line["outcome"], &line["denials"]), (&json!("denied"), &json!([refusal])), "{line}");
        assert_eq!(line["requests"][1]["failure"], json!(refusal), "{line}");
        assert_eq!(scene.service("github").requests().len(), before + 1);
    }
    assert!(other.requests().is_empty());
    // The service may send a request on within itself, but not for ever.
    let address = scene.service("github").address();
    let told = failed(&mut scene, "github", "List open pull requests", Deed::redirect(format!("{address}/again")));
    says(&told, &["was sent elsewhere more than"]);
}

#[test]
fn no_service_sends_a_request_to_another_host() {
    let mut scene = Scene::start();
    let other = Service::start(&scene.authority);
    let refusal = format!("connect to `localhost:{}`: this host is not granted", other.port());
    let told = failed(&mut scene, "circleci", "Show recent pipeline runs", Deed::redirect(other.address()));
    says(&told, &["the server does not let `circleci` do this", &format!("refusals:\n- {refusal}")]);
    let line = scene.last_record();
    assert_eq!((&line["outcome"], &line["denials"]), (&json!("denied"), &json!([refusal])), "{line}");
    assert_eq!(line["requests"][1]["failure"], json!(refusal), "{line}");
    // What is sent by `POST` is not sent again elsewhere.
    for (name, question, part) in [
        ("linear", "Get my assigned issues", "answered 302"),
        ("gateway", "Get comments on this PR", "is sent elsewhere"),
    ] {
        let told = failed(&mut scene, name, question, Deed::redirect(other.address()));
        says(&told, &[&format!("`{name}` failed: "), part]);
        let line = scene.last_record();
        assert_eq!((&line["denials"], line["requests"].as_array().map(Vec::len)), (&json!([]), Some(1)), "{line}");
    }
    assert!(other.requests().is_empty());
}

#[test]
fn a_service_that_says_nothing_is_left_when_the_time_is_over() {
    let mut scene = Scene::with(Unusual::settings("  timeout_seconds: 1\n"));
    let began = Instant::now();
    for (name, question, _) in QUESTIONS {
        for deed in [Deed::Hang, Deed::Drip] {
            let drips = matches!(deed, Deed::Drip);
            let told = failed(&mut scene, name, question, deed);
            says(&told, &[&format!("`{name}` had no answer after 1 second\nhint: "), "integrations.timeout_seconds"]);
            let line = scene.last_record();
            assert_eq!(line["outcome"], "time");
            let sent = &line["requests"][0];
            assert_eq!((sent["status"] == 200, sent["bytes"].as_u64() > Some(1)), (drips, drips), "{line}");
        }
    }
    let took = began.elapsed();
    assert!((Duration::from_secs(6)..Duration::from_secs(30)).contains(&took), "{took:?}");
}

#[test]
fn a_slow_answer_is_waited_for() {
    let mut scene = Scene::start();
    for (name, question, answer) in [
        ("github", "List open pull requests", "pulls"),
        ("circleci", "Show recent pipeline runs", "recent-runs"),
        ("linear", "Get my assigned issues", "my-issues"),
    ] {
        for deed in [Deed::Hang, Deed::Drip] {
            scene.project.commit("Go on");
            let service = scene.service(name);
            let asked = service.requests().len();
            let expected = service.expected(answer).replace("https://app.circleci.com", &service.address());
            service.misbehave(deed);
            let arguments = json!({"query": question, "integration": name});
            let id = scene.session.post("tools/call", json!({"name": "query", "arguments": arguments}));
            scene.service(name).wait_for(asked + 1);
            still_answers(&mut scene.session);
            scene.service(name).behave();
            let told = scene.session.answer(&id);
            assert_eq!(told["result"]["content"][0]["text"], expected, "{name}");
        }
    }
}
