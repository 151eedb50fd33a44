//! What whoever asks is told while an answer is being found.

use super::scene::{Scene, Unusual};
use serde_json::{Value, json};
use skillcell_tests::services::{Answer, Deed};

const QUESTION: &str = "Show issues in the current sprint";
const STEPS: [&str; 3] = ["reading your teams", "reading the current cycles", "reading issues"];

fn ask(scene: &mut Scene, integration: &str, question: &str, meta: &Value) -> Value {
    let arguments = json!({"query": question, "integration": integration});
    scene.session.post("tools/call", json!({"name": "query", "arguments": arguments, "_meta": meta}))
}

#[test]
fn progress_comes_with_the_token_of_the_request() {
    for modern in [false, true] {
        let mut scene = Scene::with(Unusual { modern, ..Unusual::default() });
        let id = ask(&mut scene, "linear", QUESTION, &json!({"progressToken": "mine"}));
        let mut last = 0.0;
        for step in STEPS {
            let told = scene.session.notice();
            assert_eq!(told["method"], "notifications/progress", "{told}");
            assert_eq!((&told["params"]["progressToken"], &told["params"]["message"]), (&json!("mine"), &json!(step)));
            let progress = told["params"]["progress"].as_f64().unwrap();
            assert!(progress > last, "{told}");
            last = progress;
        }
        let answer = scene.session.answer(&id);
        assert!(answer["result"].is_object() && answer["result"]["isError"] != true, "{answer}");
    }
}

#[test]
fn clients_without_a_token_read_it_as_log_messages() {
    let mut scene = Scene::start();
    let id = ask(&mut scene, "linear", QUESTION, &json!({}));
    for step in STEPS {
        let told = scene.session.notice();
        assert_eq!(
            (&told["method"], &told["params"]["data"]),
            (&json!("notifications/message"), &json!(step)),
            "{told}"
        );
        assert_eq!(told["params"]["level"], "info", "{told}");
    }
    scene.session.answer(&id);
    scene.session.result("logging/setLevel", json!({"level": "warning"}));
    let id = ask(&mut scene, "linear", "Get project status", &json!({}));
    // Nothing comes before the answer.
    assert_eq!(scene.session.next_message()["id"], id);
}

#[test]
fn events_of_a_gateway_are_relayed_as_they_come() {
    let mut scene = Scene::start();
    let parts = ["Querying GitHub API...", "Processing 15 comments..."]
        .map(|line| format!("event: progress\nmessage: {line}\n\n"));
    let [first, second] = parts;
    let last = "event: complete\ndata: 15 comments\n\n".to_owned();
    let stream = Answer::ok("text/event-stream", "");
    scene.service("gateway").misbehave(Deed::Parts(stream, vec![first, second, last]));
    let id = ask(&mut scene, "gateway", "Get comments on this PR", &json!({"progressToken": 7}));
    for line in ["Querying GitHub API...", "Processing 15 comments..."] {
        let told = scene.session.notification("notifications/progress");
        assert_eq!((&told["params"]["message"], &told["params"]["progressToken"]), (&json!(line), &json!(7)), "{told}");
        // Only now the service says more.
        scene.service("gateway").go_on();
    }
    let answer = scene.session.answer(&id);
    assert_eq!(answer["result"]["content"][0]["text"], "15 comments", "{answer}");
    let [request] = &scene.service("gateway").requests()[..] else { panic!("it is asked once") };
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/ask"));
    let sent: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(sent["query"], "Get comments on this PR");
    assert_eq!(sent["context"]["repository"], "https://github.com/octo-org/hello");
    assert_eq!(
        (&sent["context"]["branch"], &sent["context"]["commit"]),
        (&json!("feature/login"), &json!(scene.project.head()))
    );
}

#[test]
fn a_question_can_be_cancelled() {
    let mut scene = Scene::start();
    scene.service("gateway").misbehave(Deed::Hang);
    let id = ask(&mut scene, "gateway", "Get comments on this PR", &json!({}));
    scene.service("gateway").wait_for(1);
    scene.session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    skillcell_tests::eventually("the end of the question in the record", || {
        scene.record().last().is_some_and(|line| line["outcome"] == "cancelled")
    });
    scene.service("gateway").behave();
    scene.ask("gateway", "Get comments on this PR");
}
