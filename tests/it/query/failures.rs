//! Failing services: every failure is reported with a hint, and the next question is answered.

use super::scene::{Options, Scene};
use crate::still_answers;
use serde_json::json;
use skillcell_tests::services::{Answer, Misbehavior, Service, now};

/// A question for each service whose first request decides.
const QUESTIONS: [(&str, &str, &str); 3] = [
    ("github", "List open pull requests", "GITHUB_TOKEN"),
    ("circleci", "Show recent pipeline runs", "CIRCLECI_TOKEN"),
    ("linear", "Get my assigned issues", "LINEAR_API_KEY"),
];

/// Asks while the service misbehaves, and returns the refusal.
fn failure(scene: &mut Scene, integration: &str, question: &str, misbehavior: Misbehavior) -> String {
    scene.service(integration).misbehave(misbehavior);
    let text = scene.refusal(integration, question);
    scene.service(integration).behave();
    assert!(!text.contains("s3cret"), "{text}");
    text
}

fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing: {text}");
    }
}

#[test]
fn every_failure_is_reported_with_a_hint() {
    let mut scene = Scene::start();
    for (name, question, variable) in QUESTIONS {
        let minute = (now() + 60).to_string();
        let message = |status, text: &str| Answer::json(status, &json!({"message": text}));
        let limited = message(403, "API rate limit exceeded")
            .header("x-ratelimit-remaining", "0")
            .header("x-ratelimit-reset", minute);
        let throttled = message(429, "Too many requests").header("retry-after", "7");
        let bad_credentials = format!("`{name}` did not accept the credentials: Bad credentials");
        let rate_limit = format!("the rate limit of `{name}` is reached");
        for (answer, parts, outcome) in [
            (message(401, "Bad credentials"), vec![bad_credentials.as_str(), variable, "valid"], "unauthorized"),
            (message(403, "Not for you"), vec!["denied access: Not for you", variable], "forbidden"),
            (limited, vec![rate_limit.as_str(), "try again in ", " seconds"], "rate limited"),
            (throttled, vec![rate_limit.as_str(), "try again in 7 seconds"], "rate limited"),
            (message(500, "Unicorn"), vec!["failed: ", "answered 500", "Unicorn", "try again"], "failed"),
            (message(503, ""), vec!["failed: ", "answered 503", "try again"], "failed"),
            (Answer::ok("application/json", "[{\"number\": 1, "), vec!["failed: ", "JSON", "try again"], "failed"),
            (Answer::page(200), vec!["failed: ", "try again"], "failed"),
            (Answer::ok("application/json", "7"), vec!["failed: "], "failed"),
            (
                message(200, "").header("content-encoding", "gzip"),
                vec!["failed: ", "has the encoding `gzip`"],
                "failed",
            ),
        ] {
            let text = failure(&mut scene, name, question, Misbehavior::Say(answer));
            assert_contains(&text, &parts);
            assert_eq!(scene.last_record()["outcome"], outcome, "{text}");
        }
        for misbehavior in [Misbehavior::HangUp, Misbehavior::Cut(0), Misbehavior::Cut(40)] {
            let text = failure(&mut scene, name, question, misbehavior);
            assert_contains(
                &text,
                &[&format!("`{name}` cannot be reached: "), "cut off", &format!("skillcell integration test {name}")],
            );
            let line = scene.last_record();
            assert_eq!(line["outcome"], "unreachable", "{line}");
            assert!(line["requests"][0]["failure"].is_string(), "{line}");
        }
        let text = failure(&mut scene, name, question, Misbehavior::Huge(20 << 20));
        assert_contains(&text, &["larger than 8 MiB"]);
        let line = scene.last_record();
        assert_eq!(line["requests"][0]["failure"], "the answer is too large", "{line}");
        assert!(line["requests"][0]["bytes"].as_u64().unwrap() < 9 << 20, "{line}");
        scene.ask(name, question);
    }
    still_answers(&mut scene.session);
}

#[test]
fn failures_of_a_gateway_are_reported() {
    let mut scene = Scene::start();
    for (question, parts) in [
        ("Get project status", ["`gateway` failed: No Linear account is connected", "rephrase the question"]),
        ("Get build status for this branch", ["ended before `complete`", "Reading 3 workflows"]),
        ("List high priority bugs", ["did not accept the credentials: Invalid token", "SKILLCELL_GATEWAY_TOKEN"]),
        ("Get failed CI checks", ["the rate limit of `gateway` is reached", "try again in 30 seconds"]),
    ] {
        let text = scene.refusal("gateway", question);
        assert_contains(&text, &parts);
    }
    let text = failure(&mut scene, "gateway", "Get comments on this PR", Misbehavior::Cut(60));
    assert_contains(&text, &["cut off", "Querying GitHub API..."]);
}

#[test]
fn a_redirect_is_followed_only_to_granted_hosts() {
    let mut scene = Scene::start();
    let other = Service::start(&scene.authority);
    let port = scene.service("github").port();
    for (target, refusal) in [
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
        let text = failure(&mut scene, "github", "List open pull requests", Misbehavior::redirect(target));
        assert_contains(
            &text,
            &[
                "the server denied a request of `github`",
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
    // A service may redirect to itself, but not forever.
    let address = scene.service("github").address();
    let text =
        failure(&mut scene, "github", "List open pull requests", Misbehavior::redirect(format!("{address}/again")));
    assert_contains(&text, &["was redirected more than"]);
}

#[test]
fn no_service_can_redirect_to_another_host() {
    let mut scene = Scene::start();
    let other = Service::start(&scene.authority);
    let refusal = format!("connect to `localhost:{}`: this host is not granted", other.port());
    let text = failure(&mut scene, "circleci", "Show recent pipeline runs", Misbehavior::redirect(other.address()));
    assert_contains(&text, &["the server denied a request of `circleci`", &format!("refusals:\n- {refusal}")]);
    let line = scene.last_record();
    assert_eq!((&line["outcome"], &line["denials"]), (&json!("denied"), &json!([refusal])), "{line}");
    assert_eq!(line["requests"][1]["failure"], json!(refusal), "{line}");
    // A `POST` is not sent again to another host.
    for (name, question, part) in
        [("linear", "Get my assigned issues", "answered 302"), ("gateway", "Get comments on this PR", "is redirected")]
    {
        let text = failure(&mut scene, name, question, Misbehavior::redirect(other.address()));
        assert_contains(&text, &[&format!("`{name}` failed: "), part]);
        let line = scene.last_record();
        assert_eq!((&line["denials"], line["requests"].as_array().map(Vec::len)), (&json!([]), Some(1)), "{line}");
    }
    assert!(other.requests().is_empty());
}

#[test]
fn a_service_that_does_not_answer_times_out() {
    let mut scene = Scene::with(Options::settings("  timeout_seconds: 3\n"));
    for misbehavior in [Misbehavior::Hang, Misbehavior::Drip] {
        let drips = matches!(misbehavior, Misbehavior::Drip);
        // On a busy machine the time may be over before the first byte arrives.
        let is_recorded = (0..5).any(|_| {
            for (name, ..) in QUESTIONS {
                scene.service(name).misbehave(misbehavior.clone());
            }
            let ids = QUESTIONS.map(|(name, question, _)| {
                let arguments = json!({"query": question, "integration": name});
                scene.session.post("tools/call", json!({"name": "query", "arguments": arguments}))
            });
            for (id, (name, ..)) in ids.iter().zip(QUESTIONS) {
                let answer = scene.session.answer(id);
                let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
                assert_contains(
                    text,
                    &[&format!("`{name}` timed out after 3 seconds\nhint: "), "integrations.timeout_seconds"],
                );
            }
            for (name, ..) in QUESTIONS {
                scene.service(name).behave();
            }
            scene.record().iter().rev().take(QUESTIONS.len()).all(|line| {
                assert_eq!(line["outcome"], "time", "{line}");
                let sent = &line["requests"][0];
                (sent["status"] == 200, sent["bytes"].as_u64() > Some(1)) == (drips, drips)
            })
        });
        assert!(is_recorded, "{misbehavior:?}: {:?}", scene.last_record());
    }
}

#[test]
fn a_slow_answer_is_waited_for() {
    let mut scene = Scene::start();
    for (name, question, answer) in [
        ("github", "List open pull requests", "pulls"),
        ("circleci", "Show recent pipeline runs", "recent-runs"),
        ("linear", "Get my assigned issues", "my-issues"),
    ] {
        for misbehavior in [Misbehavior::Hang, Misbehavior::Drip] {
            scene.project.commit("Go on");
            let service = scene.service(name);
            let requests = service.requests().len();
            let expected = service.expected(answer).replace("https://app.circleci.com", &service.address());
            service.misbehave(misbehavior);
            let arguments = json!({"query": question, "integration": name});
            let id = scene.session.post("tools/call", json!({"name": "query", "arguments": arguments}));
            scene.service(name).wait_for(requests + 1);
            still_answers(&mut scene.session);
            scene.service(name).behave();
            let answered = scene.session.answer(&id);
            assert_eq!(answered["result"]["content"][0]["text"], expected, "{name}");
        }
    }
}
