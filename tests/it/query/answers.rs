//! The exact answer to every documented question, cached answers, and lists with pages.

use super::scene::{Options, Scene, token};
use crate::still_answers;
use serde_json::json;
use skillcell_tests::services::{Answer, Misbehavior};

#[test]
fn every_documented_question_is_answered() {
    let mut scene = Scene::start();
    for (integration, question, answer) in [
        ("github", "Get comments on this PR", "comments"),
        ("github", "Get PR comments", "comments"),
        ("github", "Get review comments on PR #42", "comments"),
        ("github", "Get review comments and approval status", "comments-and-reviews"),
        ("github", "List open pull requests", "pulls"),
        ("github", "Get open PRs", "pulls"),
        ("github", "Get review status for PR #123", "review-status"),
        ("github", "Show failing checks on this branch", "checks-failing"),
        ("github", "Get issues assigned to me", "issues-mine"),
        ("circleci", "Get failed CI checks", "failed-jobs"),
        ("circleci", "What checks failed on this branch?", "failed-jobs"),
        ("circleci", "Show recent pipeline runs", "recent-runs"),
        ("circleci", "What tests failed in the last build?", "failed-tests"),
        ("circleci", "Get build status for this branch", "status-of-branch"),
        ("linear", "Get my assigned issues", "my-issues"),
        ("linear", "Show issues in the current sprint", "current-cycle"),
        ("linear", "List high priority bugs", "high-priority-bugs"),
        ("linear", "Get project status", "projects"),
        ("linear", "Get issues related to authentication", "search"),
        ("gateway", "Get comments on this PR", "data-lines"),
        ("gateway", "List open pull requests", "message-lines"),
        ("gateway", "Get issues assigned to me", "json"),
    ] {
        let service = scene.service(integration);
        // A self-hosted CircleCI has its web pages at the same address.
        let expected = service.expected(answer).replace("https://app.circleci.com", &service.address());
        assert_eq!(scene.ask(integration, question), expected, "{integration}: {question}");
        let line = scene.last_record();
        assert_eq!((&line["outcome"], &line["denials"]), (&json!("answered"), &json!([])), "{line}");
    }
    for (integration, header, scheme) in [
        ("github", "authorization", "Bearer "),
        ("circleci", "circle-token", ""),
        ("linear", "authorization", ""),
        ("gateway", "authorization", "Bearer "),
    ] {
        let requests = scene.service(integration).requests();
        assert!(!requests.is_empty());
        for request in requests {
            assert_eq!(request.header(header), Some(format!("{scheme}{}", token(integration)).as_str()), "{request:?}");
            assert_eq!(request.headers.iter().filter(|(_, value)| value.contains("s3cret")).count(), 1, "{request:?}");
            assert!(!request.target.contains("s3cret"), "{}", request.target);
        }
    }
    still_answers(&mut scene.session);
}

#[test]
fn an_answer_is_cached_until_the_next_commit() {
    let mut scene = Scene::with(Options::settings("  cache_seconds: 3600\n"));
    let count = |scene: &Scene| scene.service("github").requests().len();
    let expected = scene.service("github").expected("pulls");
    let first = scene.ask("github", "List open pull requests");
    assert_eq!(first, expected);
    let requests = count(&scene);
    assert!(requests > 0);
    let again = scene.ask("github", " List  open pull\nrequests ");
    assert!(again.starts_with(&format!("{first}\n\n(This answer is ")), "{again}");
    assert_eq!((count(&scene), &scene.last_record()["outcome"]), (requests, &json!("answered before")));
    scene.ask("github", "list OPEN pull requests");
    assert_eq!(count(&scene), 2 * requests);
    scene.project.commit("Go on");
    scene.ask("github", "List open pull requests");
    assert_eq!(count(&scene), 3 * requests);
    scene.project.branch("other");
    scene.ask("github", "List open pull requests");
    assert_eq!(count(&scene), 4 * requests);
}

#[test]
fn failures_are_not_cached() {
    let mut scene = Scene::start();
    scene.service("linear").misbehave(Misbehavior::Say(Answer::json(500, &json!({}))));
    scene.refusal("linear", "Get my assigned issues");
    scene.service("linear").behave();
    let expected = scene.service("linear").expected("my-issues");
    assert_eq!(scene.ask("linear", "Get my assigned issues"), expected);
}

#[test]
fn answers_are_not_cached_if_disabled() {
    let mut scene = Scene::with(Options::settings("  cache_seconds: 0\n"));
    let requests = [(); 2].map(|()| {
        let before = scene.service("circleci").requests().len();
        scene.ask("circleci", "Show recent pipeline runs");
        scene.service("circleci").requests().len() - before
    });
    assert!(requests[0] > 0 && requests[0] == requests[1], "{requests:?}");
}

#[test]
fn missing_facts_of_the_repository_are_reported_before_any_request() {
    let mut scene = Scene::start();
    scene.project.detach();
    let text = scene.refusal("linear", "Get the issue of this branch");
    assert!(text.starts_with("a commit is checked out instead of a branch\nhint: check out a branch"), "{text}");
    scene.project.forget_remote();
    for name in ["github", "circleci"] {
        let question = if name == "github" { "List open pull requests" } else { "Show recent pipeline runs" };
        let text = scene.refusal(name, question);
        assert!(text.starts_with("the repository has no remote with a recognized address\nhint: add one"), "{text}");
        assert_eq!(scene.last_record()["outcome"], "missing");
    }
    for name in ["github", "circleci", "linear"] {
        assert!(scene.service(name).requests().is_empty(), "{name} got a request");
    }
}

#[test]
fn lists_are_read_to_their_last_page() {
    let mut scene = Scene::start();
    for (integration, question, page) in [
        ("github", "Get comments on this PR", "&page=2"),
        ("circleci", "What tests failed in the last build?", "?page-token="),
    ] {
        scene.ask(integration, question);
        let requests = scene.service(integration).requests();
        assert!(requests.iter().any(|request| request.target.contains(page)), "{requests:?}");
    }
}

#[test]
fn endless_lists_are_cut() {
    let mut scene = Scene::start();
    let service = scene.service("github");
    // Each page links to a new one.
    let pull = json!({"number": 1, "title": "One of many", "state": "open", "user": {"login": "ada"}});
    let next = format!("<{}/repositories/1/pulls?page=2>; rel=\"next\"", service.address());
    let further = format!("<{}/repositories/1/pulls?page=3>; rel=\"next\"", service.address());
    service.misbehave(Misbehavior::Turns(vec![
        Answer::json(200, &json!([pull])).header("link", next),
        Answer::json(200, &json!([pull])).header("link", further),
    ]));
    let text = scene.ask("github", "List open pull requests");
    assert!(text.starts_with("3 open pull requests in octo-org/hello\n"), "{text}");
    assert!(text.ends_with("\n(There are more: only the first 3 pull requests were read.)"), "{text}");
    // Three pages, and the reviews of their pull requests.
    assert_eq!(scene.service("github").requests().len(), 6, "{text}");
    assert_eq!(scene.last_record()["requests"].as_array().map(Vec::len), Some(6));
}

#[test]
fn a_service_is_tried_from_the_command_line() {
    let mut scene = Scene::start();
    let home = scene.session.home().to_owned();
    let run = |name: &str| {
        let launch = skillcell_tests::Launch::bare(crate::SKILLCELL).env("GITHUB_TOKEN", &token("github"));
        let output = launch.arg("integration").arg("test").arg(name).with_home(&home).output();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = run("github");
    assert!(code == Some(0) && text.contains("`ada`"), "{text}");
    scene.service("github").misbehave(Misbehavior::Say(Answer::json(401, &json!({"message": "Bad credentials"}))));
    let (code, text) = run("github");
    assert!(code == Some(1) && text.contains("GITHUB_TOKEN") && !text.contains("s3cret"), "{text}");
    assert_eq!(scene.last_record()["outcome"], "tested");
    still_answers(&mut scene.session);
}
