//! A token goes to its service and nowhere else.

use super::scene::{Scene, Unusual, token};
use serde_json::json;
use skillcell_tests::files_below;
use skillcell_tests::services::{Answer, Deed};

/// A part of every token of the scene.
const PART: &str = "s3cret-t0ken";

fn holds(bytes: &[u8]) -> bool {
    bytes.windows(PART.len()).any(|part| part == PART.as_bytes())
}

/// Every message until a question is answered.
fn everything_said(scene: &mut Scene, name: &str, question: &str) -> String {
    let arguments = json!({"query": question, "integration": name});
    let id = scene.session.post("tools/call", json!({"name": "query", "arguments": arguments}));
    let mut said = String::new();
    loop {
        let message = scene.session.next_message();
        said += &message.to_string();
        if message["id"] == id {
            return said;
        }
    }
}

#[test]
fn a_token_is_nowhere_but_on_its_way_to_the_service() {
    let variables = vec![("SKILLCELL_LOG", "trace".to_owned())];
    let mut scene = Scene::with(Unusual { variables, ..Unusual::default() });
    let mut told = String::new();
    for (name, question) in [
        ("github", "List open pull requests"),
        ("circleci", "Show recent pipeline runs"),
        ("linear", "Get my assigned issues"),
        ("gateway", "Get comments on this PR"),
    ] {
        told += &everything_said(&mut scene, name, question);
        let in_words = format!("Bad credentials: {}", token(name));
        for deed in [
            Deed::Echo,
            Deed::Cut(20),
            Deed::Say(Answer::json(401, &json!({"message": in_words}))),
            Deed::Say(Answer::ok("text/event-stream", format!("event: progress\ndata: {in_words}\n\n"))),
            Deed::redirect(format!("https://evil.example/{}", token(name))),
        ] {
            scene.service(name).misbehave(deed);
            scene.project.commit("Go on");
            told += &everything_said(&mut scene, name, question);
        }
        let others = ["github", "circleci", "linear", "gateway"].into_iter().filter(|other| *other != name);
        for other in others {
            assert!(!format!("{:?}", scene.service(other).requests()).contains(&token(name)), "{other} saw it");
        }
        assert!(format!("{:?}", scene.service(name).requests()).contains(&token(name)), "{name} was told");
    }
    assert!(told.contains("read the token"), "{told}");
    let lines = scene.record();
    assert!(lines.len() >= 24);
    assert!(told.contains("notifications/message") && !holds(told.as_bytes()), "{told}");
    let log = scene.session.log();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "{log}");
    assert!(!holds(log.as_bytes()));
    for file in files_below(scene.session.home()) {
        assert!(!holds(&std::fs::read(&file).unwrap()), "{}", file.display());
    }
    #[cfg(target_os = "linux")]
    assert!(!holds(&std::fs::read(format!("/proc/{}/cmdline", scene.session.process_id())).unwrap()));
}
