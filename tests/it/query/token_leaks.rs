//! A token is sent to its service, and does not leak.

use super::scene::{Options, Scene, token};
use serde_json::json;
use skillcell_tests::files_below;
use skillcell_tests::services::{Answer, Misbehavior};

/// A part of every token.
const PART: &str = "s3cret-t0ken";

fn contains_token(bytes: &[u8]) -> bool {
    bytes.windows(PART.len()).any(|part| part == PART.as_bytes())
}

/// Returns every message until a question is answered.
fn all_messages(scene: &mut Scene, name: &str, question: &str) -> String {
    let arguments = json!({"query": question, "integration": name});
    let id = scene.session.post("tools/call", json!({"name": "query", "arguments": arguments}));
    let mut messages = String::new();
    loop {
        let message = scene.session.next_message();
        messages += &message.to_string();
        if message["id"] == id {
            return messages;
        }
    }
}

#[test]
fn a_token_is_sent_only_to_its_service() {
    let variables = vec![("SKILLCELL_LOG", "trace".to_owned())];
    let mut scene = Scene::with(Options { variables, ..Options::default() });
    let mut messages = String::new();
    for (name, question) in [
        ("github", "List open pull requests"),
        ("circleci", "Show recent pipeline runs"),
        ("linear", "Get my assigned issues"),
        ("gateway", "Get comments on this PR"),
    ] {
        messages += &all_messages(&mut scene, name, question);
        let message = format!("Bad credentials: {}", token(name));
        for misbehavior in [
            Misbehavior::Echo,
            Misbehavior::Cut(20),
            Misbehavior::Say(Answer::json(401, &json!({"message": message}))),
            Misbehavior::Say(Answer::ok("text/event-stream", format!("event: progress\ndata: {message}\n\n"))),
            Misbehavior::redirect(format!("https://evil.example/{}", token(name))),
        ] {
            scene.service(name).misbehave(misbehavior);
            scene.project.commit("Go on");
            messages += &all_messages(&mut scene, name, question);
        }
        let others = ["github", "circleci", "linear", "gateway"].into_iter().filter(|other| *other != name);
        for other in others {
            assert!(!format!("{:?}", scene.service(other).requests()).contains(&token(name)), "{other} got it");
        }
        assert!(format!("{:?}", scene.service(name).requests()).contains(&token(name)), "{name} got its token");
    }
    assert!(messages.contains("read the token"), "{messages}");
    let lines = scene.record();
    assert!(lines.len() >= 24);
    assert!(messages.contains("notifications/message") && !contains_token(messages.as_bytes()), "{messages}");
    let log = scene.session.log();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "{log}");
    assert!(!contains_token(log.as_bytes()));
    for file in files_below(scene.session.home()) {
        assert!(!contains_token(&std::fs::read(&file).unwrap()), "{}", file.display());
    }
    #[cfg(target_os = "linux")]
    assert!(!contains_token(&std::fs::read(format!("/proc/{}/cmdline", scene.session.process_id())).unwrap()));
}
