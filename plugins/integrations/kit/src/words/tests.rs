//! Questions of a small fictitious integration.

use super::*;
use proptest::prelude::*;

const VOCABULARY: Vocabulary = Vocabulary {
    concepts: &[
        ("pr", &["pr", "pull request", "merge request"]),
        ("comment", &["comment", "feedback", "remark", "fresh remark"]),
        ("everyone", &["comments of all"]),
        ("plural", &["remarks"]),
        ("review", &["review", "approval"]),
        ("open", &["open", "not closed", "fresh remark"]),
        ("branch", &["branch"]),
    ],
    fillers: &["team"],
};

const RULES: &[Rule<&str>] = &[
    Rule { topic: "pulls", needs: "pr", may: "open" },
    Rule { topic: "comments", needs: "comment", may: "pr open review" },
    Rule { topic: "reviews", needs: "review", may: "pr branch" },
    Rule { topic: "both", needs: "review comment", may: "pr" },
];

fn topic(question: &str) -> Option<&'static str> {
    choose(RULES, &VOCABULARY.parse(&Words::of(question)))
}

#[test]
fn many_wordings_have_the_same_topic() {
    for question in
        ["List open PRs", "what pull-requests are there?", "Show me the team's merge requests, please!", "prs"]
    {
        assert_eq!(topic(question), Some("pulls"), "{question}");
    }
    assert_eq!(topic("Any feedback on this PR?"), Some("comments"));
    assert_eq!(topic("Get review comments and approval?"), Some("both"));
    assert_eq!(topic("Who gave an approval on this branch"), Some("reviews"));
}

#[test]
fn other_questions_have_no_topic() {
    for question in ["", "?!", "the", "how is the weather in Paris today", "comments on this branch", "branch"] {
        assert_eq!(topic(question), None, "{question}");
    }
    assert_eq!(topic(&"open pull request xyzzy ".repeat(100_000)), None);
}

#[test]
fn the_longest_phrase_wins_then_the_exact_word_and_both_may_have_several_concepts() {
    let concepts = |question: &str| VOCABULARY.parse(&Words::of(question)).concepts.into_iter().collect::<Vec<_>>();
    assert_eq!(concepts("comments of all"), ["everyone"]);
    assert_eq!(concepts("a fresh remark"), ["comment", "open"]);
    assert_eq!((concepts("remarks"), concepts("remark")), (vec!["plural"], vec!["comment"]));
}

#[test]
fn unknown_words_are_named() {
    let parsed = VOCABULARY.parse(&Words::of("open PRs by Zoë"));
    let note = "Not understood, so ignored: `zoë`.";
    assert_eq!((choose(RULES, &parsed), parsed.note().as_deref()), (Some("pulls"), Some(note)));
}

#[test]
fn numbers_are_taken() {
    let after = ["pr", "request", "issue"];
    for (question, number, left) in [
        ("review of PR #123?", Some(123), "review of pr"),
        ("review of pr#123", Some(123), "review of pr"),
        ("PR-7", Some(7), "pr"),
        ("pull request 42.", Some(42), "pull request"),
        ("issue number 5", Some(5), "issue number"),
        ("issues of the last 5 days", None, "issues of the last 5 days"),
        ("#99999999999999999999999", None, "99999999999999999999999"),
        ("# 12", Some(12), ""),
        ("PR #", None, "pr"),
        ("e2e#5", None, "e2e 5"),
    ] {
        let mut words = Words::of(question);
        assert_eq!((words.take_number(&after), words.remaining().join(" ").as_str()), (number, left), "{question}");
    }
}

#[test]
fn names_are_taken_from_their_position() {
    let mut words = Words::of("checks on branch `feature/a`, now");
    assert_eq!(words.take_after(&["branch"], |word| word != "now"), Some("feature/a"));
    assert_eq!(words.remaining(), ["checks", "on", "branch", "now"]);
    let mut words = Words::of("checks on the main branch");
    assert_eq!(words.take_before(&["branch"], |word| word != "the"), Some("main"));
    assert_eq!(words.take_before(&["branch"], |word| word != "the" && !word.is_empty()), None);
    let mut words = Words::of("PRs of octo-org/hello?");
    assert_eq!(words.take(|word, before| word.contains('/') && before == Some("of")), Some("octo-org/hello"));
    let mut words = Words::of("Get issues related to single sign-on!");
    assert_eq!(words.take_rest(&["about", "related to"]).as_deref(), Some("single sign-on"));
    assert_eq!(words.remaining(), ["get", "issues"]);
    assert_eq!(Words::of("issues about ").take_rest(&["about"]), None);
}

#[test]
fn changes_are_distinguished_from_questions() {
    let asks = |question| asks_for_a_change(&Words::of(question).remaining());
    for change in
        ["Merge this PR", "please close issue 5", "Could you approve PR #1?", "Open a pull request", "delete", "rerun"]
    {
        assert!(asks(change), "{change}");
    }
    for question in [
        "Open pull requests",
        "merge conflicts of this PR",
        "Is this PR approved?",
        "release notes",
        "",
        "merge status",
    ] {
        assert!(!asks(question), "{question}");
    }
}

proptest! {
    #[test]
    fn any_question_is_handled(question in "(\\PC{0,8}|#|PR|branch|12| |about){0,12}") {
        let mut words = Words::of(&question);
        words.take_number(&["pr"]);
        words.take_after(&["branch"], |_| true);
        words.take_before(&["branch"], |_| true);
        words.take(|_, before| before.is_some());
        let parsed = VOCABULARY.parse(&words);
        parsed.note();
        choose(RULES, &parsed);
        words.take_rest(&["about", "pr branch"]);
        asks_for_a_change(&words.remaining());
    }
}
