//! Which rule matches a question.

use crate::GitHub;
use crate::intent::Intent;
use crate::rules::Topic::{self, *};
use integration_kit::Integration;

fn topic(question: &str) -> Option<Topic> {
    Intent::of(question).map(|intent| intent.topic)
}

#[test]
fn questions_and_their_variations_match_the_right_rule() {
    let table: &[(Topic, &[&str])] = &[
        (
            Comments,
            &[
                "Get comments on this PR",
                "Get PR comments",
                "get pr comments",
                "Get review comments on PR #42",
                "Show me the comments on pull request 42, please",
                "What did people say about this PR?",
                "what feedback is there on my pull request?",
                "Are there any unresolved comments on this PR?",
                "List unresolved review threads on PR#42",
                "Show comments",
                "Read the discussion of https://github.com/octo-org/hello/pull/42",
                "comments on the PR for branch feature/login",
            ],
        ),
        (
            CommentsAndReviews,
            &[
                "Get review comments and approval status",
                "Get PR comments and review status",
                "comments and approvals of PR #42",
                "Show review comments and who approved on this PR",
            ],
        ),
        (
            Reviews,
            &[
                "Get review status for PR #123",
                "Review status of this PR",
                "review status for pull request 123",
                "Who approved this PR?",
                "Has this PR been approved?",
                "Is PR #123 approved yet",
                "Who requested changes on this pull request?",
                "Who still needs to review this PR?",
                "Get the approval status",
                "reviews on this branch",
                "Get PR reviews",
                "Who are the reviewers of this PR?",
                "Get review status for this branch",
            ],
        ),
        (
            Pulls,
            &[
                "List open pull requests",
                "Get open PRs",
                "Get open PRs for github.com/user/repo on branch main",
                "Show all PRs",
                "What pull requests are open right now?",
                "list my pull requests",
                "PRs by bob",
                "pull requests opened by @bob",
                "Show draft PRs",
                "which PRs were merged recently?",
                "List closed pull requests in octo-org/hello",
                "open PRs into main",
                "How many open PRs do we have?",
                "PRs and their review status",
                "Get open PR list",
                "Show me all open PRs in this repository with their review status",
                "List PRs needing review",
                "open PRs sorted by age",
                "PRs assigned to me",
                "PRs created by me",
            ],
        ),
        (
            PullsToReview,
            &[
                "Which pull requests are waiting for my review?",
                "PRs I need to review",
                "Show my review requests",
                "What do I have to review?",
                "pull requests pending my review",
            ],
        ),
        (
            Pull,
            &[
                "Show this PR",
                "Tell me about the PR",
                "Get PR #42",
                "Status of PR 42",
                "What is the PR for this branch?",
                "Can this PR be merged?",
                "Does this branch have merge conflicts?",
                "Is PR #40 merged?",
                "Show the description of pull request #42",
                "Check PR status",
                "Summarize PR #42",
                "Is this PR ready to merge?",
                "What is blocking this PR?",
                "Who wrote PR 42?",
            ],
        ),
        (
            Checks,
            &[
                "Show failing checks on this branch",
                "What checks failed on this branch?",
                "Get failed CI checks",
                "Show all checks of PR #123",
                "Did CI pass on this branch?",
                "Is the build green?",
                "Why is CI failing?",
                "failing checks on main",
                "failing checks on branch main of octo-org/hello",
                "CI status",
                "check the CI status of this commit",
                "checks for commit 6dcb09b",
                "Which tests are failing on PR 42?",
                "Is anything failing on this branch?",
                "Why is PR #42 failing?",
                "status of the default branch",
                "Are all checks passing on the main branch?",
                "GitHub Actions status",
                "Show check status",
                "Is main green?",
                "Has CI passed for 6dcb09b?",
                "Are there any failing CI checks on this PR?",
            ],
        ),
        (
            Issues,
            &[
                "Get issues assigned to me",
                "Get my assigned issues",
                "my issues",
                "What issues do I have?",
                "What is assigned to me?",
                "List open issues",
                "Show issues",
                "open bugs",
                "issues labelled bug",
                "issues with the docs label",
                "Which issues are assigned to me?",
                "closed issues in this repo",
                "issues assigned to bob",
                "issues I opened",
                "issues assigned to me in all repositories",
            ],
        ),
        (Issue, &["Show issue #7", "issue 7", "Get comments on issue #7", "What is the status of issue number 7?"]),
        (Numbered, &["Show #42", "What is #7?"]),
        (
            Repository,
            &[
                "Describe this repository",
                "Tell me about this repo",
                "What is the default branch?",
                "Get repository information",
                "latest release",
                "about octo-org/hello",
                "What language is this project?",
            ],
        ),
        (Me, &["Who am I?", "whoami", "Which account is this?", "What is my username"]),
    ];
    for (expected, questions) in table {
        for question in *questions {
            assert_eq!(topic(question), Some(*expected), "{question}: {:?}", Intent::of(question));
        }
    }
}

#[test]
fn offered_questions_are_understood() {
    for question in GitHub::QUESTIONS {
        let intent = Intent::of(question).unwrap_or_else(|| panic!("{question}"));
        assert_eq!(intent.parsed.unknown, [""; 0], "{question}");
    }
}

#[test]
fn other_questions_match_no_rule() {
    for question in [
        "",
        "?",
        "hello",
        "What is the weather in Paris?",
        "Get PR comments and also check if CI passed and list any related issues",
        "Merge this PR",
        "Please close issue #7",
        "Approve PR #42",
        "Open a pull request",
        "delete all comments on this PR",
        "reply to the comments",
        "comments on all PRs of the issues",
        "translate the readme into French for the new colleagues",
    ] {
        assert_eq!(topic(question), None, "{question}: {:?}", Intent::of(question));
    }
}

#[test]
fn questions_name_what_they_mean() {
    let intent = |question: &str| Intent::of(question).unwrap_or_else(|| panic!("{question}"));
    let here = intent("Get open PRs for github.com/user/repo on branch main");
    assert_eq!(here.repository, Some(("user".into(), "repo".into())));
    assert_eq!(here.branch.as_deref(), Some("main"));
    let linked = intent("comments on https://github.com/octo-org/hello/pull/42#discussion_r201");
    assert_eq!((linked.number, linked.repository), (Some(42), Some(("octo-org".into(), "hello".into()))));
    assert_eq!(intent("issue https://ghe.example.com/a/b/issues/7").number, Some(7));
    for (question, branch) in [
        ("failing checks on branch feature/x", "feature/x"),
        ("failing checks on branch `fix_1.2`?", "fix_1.2"),
        ("failing checks on the develop branch", "develop"),
        ("failing checks on hotfix/a/b", "hotfix/a/b"),
        ("CI status for main", "main"),
        ("checks of branch release/1.0 in octo-org/hello", "release/1.0"),
    ] {
        assert_eq!(intent(question).branch.as_deref(), Some(branch), "{question}");
    }
    for question in
        ["failing checks on this branch", "What checks failed on this branch today", "status of the default branch"]
    {
        assert_eq!(intent(question).branch, None, "{question}");
    }
    assert_eq!(intent("open issues of rust-lang/rust").repository, Some(("rust-lang".into(), "rust".into())));
    assert_eq!(intent("checks for commit 6DCB09B").commit.as_deref(), Some("6dcb09b"));
    assert_eq!(intent("PRs by @bob").person.as_deref(), Some("bob"));
    assert_eq!(intent("issues assigned to bob").person.as_deref(), Some("bob"));
    for question in
        ["issues assigned to me", "open PRs sorted by age", "PRs related to login", "comments by file on PR #1"]
    {
        assert_eq!(intent(question).person, None, "{question}");
    }
    assert_eq!(intent("issues with the docs label").label.as_deref(), Some("docs"));
    assert_eq!(intent("Is main green?").branch.as_deref(), Some("main"));
    assert_eq!(intent("Has CI passed for 6dcb09b?").commit.as_deref(), Some("6dcb09b"));
    assert_eq!(intent("issues labelled good-first-issue").label.as_deref(), Some("good-first-issue"));
}
