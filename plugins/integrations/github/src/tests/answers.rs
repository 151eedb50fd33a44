//! Golden tests of answers. `BLESS=1 cargo test -p integration-github` accepts the current ones.

use super::*;
use integration_kit::Missing;
use integration_kit::recorded::golden;

fn check(name: &str, answer: &str) {
    golden(format!("{FIXTURES}/answers/{name}.txt"), answer);
}

#[test]
fn every_answer_is_as_recorded() {
    for (name, text) in [
        ("comments", "Get comments on this PR"),
        ("comments-none", "Get review comments on PR #41"),
        ("comments-by-one", "comments by @carol on PR #42"),
        ("comments-of-an-issue", "Get comments on #7"),
        ("comments-unresolved", "Show unresolved comments of PR #42"),
        ("comments-and-reviews", "Get review comments and approval status"),
        ("comments-several", "comments on the PR of branch release/1.0"),
        ("review-status", "Get review status for PR #123"),
        ("review-status-mixed", "Who approved this PR?"),
        ("pulls", "List open pull requests"),
        ("pulls-mine", "List my pull requests"),
        ("pulls-assigned-to-me", "PRs assigned to me"),
        ("pulls-draft", "Show draft PRs"),
        ("pulls-merged", "Which PRs were merged recently?"),
        ("pulls-none", "open PRs by nobody-we-know"),
        ("pulls-into-main", "open PRs of octo-org/hello into main"),
        ("pulls-renamed", "List open pull requests of octo-org/renamed"),
        ("pulls-with-strange-words", "List open pull requests about authentication"),
        ("to-review", "Which pull requests are waiting for my review?"),
        ("pull", "Show this PR"),
        ("pull-merged", "Is PR #40 merged?"),
        ("checks-failing", "Show failing checks on this branch"),
        ("checks-all", "Show all checks of PR #42"),
        ("checks-none", "Show failing checks of PR #123"),
        ("checks-passing", "What checks failed on the main branch?"),
        ("checks-default", "status of the default branch"),
        ("checks-commit", "failing checks on this commit"),
        ("issues-mine", "Get issues assigned to me"),
        ("issues-open", "List open issues"),
        ("issues-bugs", "open bugs"),
        ("issues-of-bob", "issues assigned to bob"),
        ("issues-opened-by-me", "issues I opened"),
        ("issues-closed", "closed issues"),
        ("issues-everywhere", "issues assigned to me in all repositories"),
        ("issue", "Show issue #7"),
        ("issue-closed", "issue 5"),
        ("issue-that-is-a-pull", "Show #42"),
        ("repository", "Describe this repository"),
        ("repository-fork", "Describe ada/hello"),
        ("me", "Who am I?"),
    ] {
        match ask(text) {
            Ok(answer) => check(name, &answer),
            Err(error) => panic!("{text}: {error:?}"),
        }
    }
}

#[test]
fn the_pull_request_of_a_fork_is_found_in_its_parent() {
    let mut fork = question("Show this PR");
    fork.repository.remote.as_mut().unwrap().owner = "ada".into();
    let answer = put(&fork).0.unwrap();
    assert!(answer.starts_with("Pull request #42 \"Add login with passkeys\" of octo-org/hello\n"), "{answer}");
}

#[test]
fn a_commit_finds_its_pull_request_when_no_branch_does() {
    let mut other = question("Show this PR");
    other.repository.branch = Some("from-a-fork".into());
    assert!(put(&other).0.unwrap().starts_with("Pull request #42 "));
    other.repository.branch = None;
    assert!(put(&other).0.unwrap().starts_with("Pull request #42 "));
}

#[test]
fn missing_items_are_named() {
    let not_found = |text: &str| Err(QueryError::NotFound(text.into()));
    assert_eq!(ask("review status of PR #999"), not_found("pull request #999 of octo-org/hello"));
    assert_eq!(ask("issue #999"), not_found("issue #999 of octo-org/hello"));
    assert_eq!(ask("failing checks on branch not-pushed"), not_found("branch `not-pushed` of octo-org/hello"));
    assert_eq!(
        ask("comments on the PR of branch lonely"),
        not_found("open pull request of branch `lonely` in octo-org/hello")
    );
    assert_eq!(ask("open PRs of octo-org/gone"), not_found("pull requests of octo-org/gone"));
    let mut unpushed = question("Get comments on this PR");
    unpushed.repository.branch = Some("lonely".into());
    unpushed.repository.commit = Some("0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c".into());
    assert_eq!(put(&unpushed).0, not_found("open pull request of branch `lonely` in octo-org/hello"));
}

#[test]
fn missing_repository_state_is_reported() {
    let mut bare = question("Get comments on this PR");
    (bare.repository.branch, bare.repository.commit) = (None, None);
    assert_eq!(put(&bare).0, Err(QueryError::Missing(Missing::Branch)));
    bare.text = "Show failing checks on this branch".into();
    assert_eq!(put(&bare).0, Err(QueryError::Missing(Missing::Branch)));
    bare.repository.remote = None;
    bare.text = "List open pull requests".into();
    assert_eq!(put(&bare).0, Err(QueryError::Missing(Missing::Remote)));
    bare.text = "Get issues assigned to me".into();
    assert!(put(&bare).0.unwrap().starts_with("2 open issues assigned to ada in all repositories"));
    bare.text = "List open pull requests of octo-org/hello".into();
    assert!(put(&bare).0.unwrap().starts_with("4 open pull requests in octo-org/hello"));
}

#[test]
fn failures_of_the_service_are_distinguished() {
    let of = |name: &str| ask(&format!("List open pull requests of octo-org/{name}"));
    assert_eq!(of("unauthorized"), Err(QueryError::Unauthorized("Bad credentials".into())));
    assert_eq!(of("limited"), Err(QueryError::RateLimited(Some(600))));
    assert_eq!(of("secondary"), Err(QueryError::RateLimited(Some(60))));
    assert_eq!(of("throttled"), Err(QueryError::RateLimited(Some(7))));
    assert_eq!(of("forbidden"), Err(QueryError::Forbidden("Resource not accessible by personal access token".into())));
    let broken = "GET https://api.github.com/repos/octo-org/broken/pulls answered 500";
    assert_eq!(of("broken"), Err(QueryError::Failed(broken.into())));
    let Err(QueryError::Failed(malformed)) = of("malformed") else { panic!("half a document is not an answer") };
    assert!(malformed.contains("/octo-org/malformed/pulls is not JSON"), "{malformed}");
    let odd = "asked for pull requests of octo-org/odd, but the answer is not a list";
    assert_eq!(of("odd"), Err(QueryError::Failed(odd.into())));
}

#[test]
fn other_remotes_are_rejected_but_aliases_and_enterprise_hosts_are_not() {
    let mut elsewhere = question("List open pull requests");
    elsewhere.repository.remote.as_mut().unwrap().host = "gitlab.com".into();
    let Err(QueryError::Failed(message)) = put(&elsewhere).0 else { panic!("this is not on GitHub") };
    assert!(message.starts_with("the remote of this repository is at `gitlab.com`, not on GitHub"), "{message}");
    for host in ["github-work", "ssh.github.com"] {
        elsewhere.repository.remote.as_mut().unwrap().host = host.into();
        assert!(put(&elsewhere).0.is_ok(), "{host}");
    }
    elsewhere.repository.remote.as_mut().unwrap().host = "ghe.example.com".into();
    elsewhere.address = "https://ghe.example.com/api/v3".into();
    assert!(put(&elsewhere).0.unwrap().starts_with("4 open pull requests in octo-org/hello"));
}

#[test]
fn a_branch_with_unpushed_commits_is_reported() {
    let mut ahead = question("failing checks on this branch");
    ahead.repository.commit = Some("0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c".into());
    let answer = put(&ahead).0.unwrap();
    let note = "(Your commit is `0d1a26e`. GitHub has `6dcb09b` on this branch, so push or fetch to compare.)";
    assert!(answer.ends_with(note), "{answer}");
}

#[test]
fn progress_says_what_is_read() {
    let (answer, lines) = put(&question("Get comments on this PR"));
    answer.unwrap();
    assert_eq!(
        lines,
        [
            "looking for the pull request of branch `feature/login` in octo-org/hello",
            "reading pull request #42 of octo-org/hello",
            "reading reviews of pull request #42",
            "reading comments of pull request #42",
            "arranging 11 comments",
        ]
    );
}
