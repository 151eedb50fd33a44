//! Progress of questions.

use super::scene::{Options, Scene};
use serde_json::{Value, json};
use skillcell_tests::services::{Answer, Misbehavior};

const QUESTION: &str = "Show issues in the current sprint";
const STEPS: [&str; 3] = ["reading your teams", "reading the current cycles", "reading issues"];

fn ask(scene: &mut Scene, integration: &str, question: &str, meta: &Value) -> Value {
    let arguments = json!({"query": question, "integration": integration});
    scene.session.post("tools/call", json!({"name": "query", "arguments": arguments, "_meta": meta}))
}

#[test]
fn progress_comes_with_the_token_of_the_request() {
    for modern in [false, true] {
        let mut scene = Scene::with(Options { modern, ..Options::default() });
        let id = ask(&mut scene, "linear", QUESTION, &json!({"progressToken": "mine"}));
        let mut last = 0.0;
        for step in STEPS {
            let notification = scene.session.notice();
            assert_eq!(notification["method"], "notifications/progress", "{notification}");
            assert_eq!(
                (&notification["params"]["progressToken"], &notification["params"]["message"]),
                (&json!("mine"), &json!(step))
            );
            let progress = notification["params"]["progress"].as_f64().unwrap();
            assert!(progress > last, "{notification}");
            last = progress;
        }
        let answer = scene.session.answer(&id);
        assert!(answer["result"].is_object() && answer["result"]["isError"] != true, "{answer}");
    }
}

#[test]
fn clients_without_a_token_get_progress_as_log_messages() {
    let mut scene = Scene::start();
    let id = ask(&mut scene, "linear", QUESTION, &json!({}));
    for step in STEPS {
        let notification = scene.session.notice();
        assert_eq!(
            (&notification["method"], &notification["params"]["data"]),
            (&json!("notifications/message"), &json!(step)),
            "{notification}"
        );
        assert_eq!(notification["params"]["level"], "info", "{notification}");
    }
    scene.session.answer(&id);
    scene.session.result("logging/setLevel", json!({"level": "warning"}));
    let id = ask(&mut scene, "linear", "Get project status", &json!({}));
    // No message precedes the answer.
    assert_eq!(scene.session.next_message()["id"], id);
}

#[test]
fn events_of_a_gateway_are_relayed_immediately() {
    let mut scene = Scene::start();
    let parts = ["Querying GitHub API...", "Processing 15 comments..."]
        .map(|line| format!("event: progress\nmessage: {line}\n\n"));
    let [first, second] = parts;
    let last = "event: complete\ndata: 15 comments\n\n".to_owned();
    let stream = Answer::ok("text/event-stream", "");
    scene.service("gateway").misbehave(Misbehavior::Parts(stream, vec![first, second, last]));
    let id = ask(&mut scene, "gateway", "Get comments on this PR", &json!({"progressToken": 7}));
    for line in ["Querying GitHub API...", "Processing 15 comments..."] {
        let notification = scene.session.notification("notifications/progress");
        assert_eq!(
            (&notification["params"]["message"], &notification["params"]["progressToken"]),
            (&json!(line), &json!(7)),
            "{notification}"
        );
        // Only now the service sends the next event.
        scene.service("gateway").go_on();
    }
    let answer = scene.session.answer(&id);
    assert_eq!(answer["result"]["content"][0]["text"], "15 comments", "{answer}");
    let [request] = &scene.service("gateway").requests()[..] else { panic!("one request is expected") };
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/ask"));
    let sent: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(sent["query"], "Get comments on this PR");
    assert_eq!(sent["context"]["repository"], "https://github.com/octo-org/hello");
    assert_eq!(
        (&sent["context"]["branch"], &sent["context"]["commit"]),
        (&json!("feature/login"), &json!(scene.project.head()))
    );
}

/// As many questions are asked at the same time.
const SLOTS: usize = 8;

#[test]
fn a_question_that_is_cancelled_while_it_waits_is_not_asked() {
    let mut scene = Scene::start();
    scene.service("gateway").misbehave(Misbehavior::Hang);
    let post = |scene: &mut Scene| ask(scene, "gateway", "Get comments on this PR", &json!({}));
    let asked: Vec<Value> = (0..SLOTS).map(|_| post(&mut scene)).collect();
    scene.service("gateway").wait_for(SLOTS);
    let waiting: Vec<Value> = (0..20).map(|_| post(&mut scene)).collect();
    for id in waiting.iter().chain(&asked) {
        scene
            .session
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    }
    skillcell_tests::eventually("the cancelled questions in the record", || {
        scene.record().iter().filter(|line| line["outcome"] == "cancelled").count() >= SLOTS
    });
    scene.service("gateway").behave();
    scene.ask("gateway", "Get comments on this PR");
    let lines = crate::audit::lines(scene.session.home());
    let is_begin = |line: &&Value| line["kind"].as_str().is_some_and(|kind| kind.ends_with("-begin"));
    assert_eq!(lines.iter().filter(is_begin).count(), SLOTS + 1);
}

#[test]
fn a_question_can_be_cancelled() {
    let mut scene = Scene::start();
    scene.service("gateway").misbehave(Misbehavior::Hang);
    let id = ask(&mut scene, "gateway", "Get comments on this PR", &json!({}));
    scene.service("gateway").wait_for(1);
    scene.session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    skillcell_tests::eventually("the cancelled question in the record", || {
        scene.record().last().is_some_and(|line| line["outcome"] == "cancelled")
    });
    scene.service("gateway").behave();
    scene.ask("gateway", "Get comments on this PR");
}
