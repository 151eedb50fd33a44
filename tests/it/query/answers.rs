//! Every question that the documentation shows, answered word by word, and answers that are kept or come in pages.

use super::scene::{Scene, Unusual, token};
use crate::still_answers;
use serde_json::json;
use skillcell_tests::services::{Answer, Deed};

#[test]
fn every_example_question_has_its_answer() {
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
        // CircleCI in a house of its own has its pages there too.
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
fn a_question_costs_requests_once_for_a_while_and_again_after_a_commit() {
    let mut scene = Scene::start();
    let count = |scene: &Scene| scene.service("github").requests().len();
    let expected = scene.service("github").expected("pulls");
    let first = scene.ask("github", "List open pull requests");
    assert_eq!(first, expected);
    let asked = count(&scene);
    assert!(asked > 0);
    let again = scene.ask("github", " List  open pull\nrequests ");
    assert!(again.starts_with(&format!("{first}\n\n(This was answered ")), "{again}");
    assert_eq!((count(&scene), &scene.last_record()["outcome"]), (asked, &json!("answered before")));
    scene.ask("github", "list OPEN pull requests");
    assert_eq!(count(&scene), 2 * asked);
    scene.project.commit("Go on");
    scene.ask("github", "List open pull requests");
    assert_eq!(count(&scene), 3 * asked);
    scene.project.branch("other");
    scene.ask("github", "List open pull requests");
    assert_eq!(count(&scene), 4 * asked);
}

#[test]
fn what_went_wrong_is_not_kept() {
    let mut scene = Scene::start();
    scene.service("linear").misbehave(Deed::Say(Answer::json(500, &json!({}))));
    scene.refused("linear", "Get my assigned issues");
    scene.service("linear").behave();
    let expected = scene.service("linear").expected("my-issues");
    assert_eq!(scene.ask("linear", "Get my assigned issues"), expected);
}

#[test]
fn answers_are_not_kept_where_nobody_wants_it() {
    let mut scene = Scene::with(Unusual::settings("  cache_seconds: 0\n"));
    let asked = [(); 2].map(|()| {
        let before = scene.service("circleci").requests().len();
        scene.ask("circleci", "Show recent pipeline runs");
        scene.service("circleci").requests().len() - before
    });
    assert!(asked[0] > 0 && asked[0] == asked[1], "{asked:?}");
}

#[test]
fn what_the_repository_lacks_is_told_before_anybody_is_asked() {
    let mut scene = Scene::start();
    scene.project.detach();
    let told = scene.refused("linear", "Get the issue of this branch");
    assert!(told.starts_with("a commit is checked out, and no branch\nhint: check out a branch"), "{told}");
    scene.project.forget_remote();
    for name in ["github", "circleci"] {
        let question = if name == "github" { "List open pull requests" } else { "Show recent pipeline runs" };
        let told = scene.refused(name, question);
        assert!(told.starts_with("the repository has no remote whose address is understood\nhint: add one"), "{told}");
        assert_eq!(scene.last_record()["outcome"], "missing");
    }
    for name in ["github", "circleci", "linear"] {
        assert!(scene.service(name).requests().is_empty(), "{name} was asked");
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
fn lists_without_an_end_end() {
    let mut scene = Scene::start();
    let service = scene.service("github");
    // Each page names another one that was never seen.
    let pull = json!({"number": 1, "title": "One of many", "state": "open", "user": {"login": "ada"}});
    let next = format!("<{}/repositories/1/pulls?page=2>; rel=\"next\"", service.address());
    let other = format!("<{}/repositories/1/pulls?page=3>; rel=\"next\"", service.address());
    service.misbehave(Deed::Turns(vec![
        Answer::json(200, &json!([pull])).header("link", next),
        Answer::json(200, &json!([pull])).header("link", other),
    ]));
    let text = scene.ask("github", "List open pull requests");
    assert!(text.starts_with("3 open pull requests in octo-org/hello\n"), "{text}");
    assert!(text.ends_with("\n(There are more: only the first 3 pull requests were read.)"), "{text}");
    // Three pages, and the reviews of what is on them.
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
    let (code, told) = run("github");
    assert!(code == Some(0) && told.contains("`ada`"), "{told}");
    scene.service("github").misbehave(Deed::Say(Answer::json(401, &json!({"message": "Bad credentials"}))));
    let (code, told) = run("github");
    assert!(code == Some(1) && told.contains("GITHUB_TOKEN") && !told.contains("s3cret"), "{told}");
    assert_eq!(scene.last_record()["outcome"], "tested");
    still_answers(&mut scene.session);
}
