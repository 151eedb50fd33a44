//! Questions, and how they are parsed.

use super::*;

fn topic(question: &str) -> Option<Topic> {
    understand(question).map(|intent| intent.topic)
}

fn scope(question: &str) -> Scope {
    understand(question).unwrap_or_else(|| panic!("{question}")).scope
}

fn all_are(expected: Topic, questions: &[&str]) {
    for question in questions {
        assert_eq!(topic(question), Some(expected), "{question}");
        let note = understand(question).and_then(|intent| intent.note);
        assert_eq!(note, None, "{question}");
    }
}

#[test]
fn failed_jobs_are_asked_for_in_many_ways() {
    all_are(
        Topic::FailedJobs,
        &[
            "Get failed CI checks",
            "What checks failed on this branch?",
            "Show failing jobs",
            "Which jobs are broken on CircleCI?",
            "Is the build failing?",
            "what went wrong in the last build",
            "Did my last push break CI?",
            "Show me the failed workflows of this branch, please",
            "failures",
            "Show failing checks on this branch",
            "Get CI failures",
            "Which checks failed on this PR?",
            "Are there any failing checks?",
        ],
    );
}

#[test]
fn failed_tests_are_asked_for_in_many_ways() {
    all_are(
        Topic::FailedTests,
        &[
            "What tests failed in the last build?",
            "Which tests are failing on this branch?",
            "Show test failures",
            "Get failed tests for pipeline #412",
            "test results of job 1843",
            "Why did the build fail?",
            "Why is CI red?",
            "Get error messages from the failed build",
            "list the failing test cases with their messages",
            "Did the unit tests pass?",
            "Which specs broke?",
        ],
    );
}

#[test]
fn lists_of_pipelines_are_asked_for_in_many_ways() {
    all_are(
        Topic::Runs,
        &[
            "Show recent pipeline runs",
            "List recent builds",
            "Show the last 5 pipelines",
            "builds of this branch",
            "recent runs on all branches",
            "Get the pipeline history",
            "What is the status of the latest pipelines?",
        ],
    );
    all_are(Topic::FailedRuns, &["List failed builds", "What failed on all branches?", "Show recent failed pipelines"]);
}

#[test]
fn status_is_asked_for_in_many_ways() {
    all_are(
        Topic::Status,
        &[
            "Get build status for this branch",
            "Get build status for this commit",
            "Did CI pass?",
            "Is the build green?",
            "What's the CI status?",
            "Is the pipeline still running?",
            "Show the most recent pipeline run",
            "What jobs ran in the last pipeline?",
            "How long did the last build take?",
            "Did the build pass or fail?",
            "Show checks on this branch",
            "Show pipeline #409",
            "Check the build status",
            "Has the last build finished?",
            "Show job 1843",
        ],
    );
}

#[test]
fn branches_and_commits_are_named_in_many_ways() {
    let branch = |name: &str| Scope::Branch(name.to_owned());
    for (question, expected) in [
        ("What failed on this branch today", Scope::Here),
        ("Get build status for this PR", Scope::Here),
        ("status of branch main", branch("main")),
        ("Get build status for the main branch", branch("main")),
        ("What failed on `feature/Login-2`?", branch("feature/Login-2")),
        ("build status for main", branch("main")),
        ("failed tests on branch test-fix", branch("test-fix")),
        ("Build status of this commit", Scope::Commit(None)),
        ("Did commit 3F2A9C1 pass?", Scope::Commit(Some("3f2a9c1".into()))),
        ("build status of 3f2a9c1d", Scope::Commit(Some("3f2a9c1d".into()))),
        ("What failed in pipeline #412?", Scope::Pipeline(412)),
        ("pipeline 412", Scope::Pipeline(412)),
        ("tests of job #1843", Scope::Job(1843)),
    ] {
        assert_eq!(scope(question), expected, "{question}");
    }
}

#[test]
fn a_workflow_or_job_may_be_named() {
    let part =
        |question| understand(question).map(|intent| (intent.topic, intent.part.unwrap_or_default(), intent.note));
    for (question, topic, name) in [
        ("Show failed jobs in workflow build-and-test", Topic::FailedJobs, "build-and-test"),
        ("Show me the deploy job status", Topic::Status, "deploy"),
        ("Did the unit-tests job pass?", Topic::Status, "unit-tests"),
        ("What tests failed in the unit-tests job?", Topic::FailedTests, "unit-tests"),
        ("Recent runs of workflow nightly", Topic::Status, "nightly"),
        ("Show failed jobs", Topic::FailedJobs, ""),
        ("Show job 1843", Topic::Status, ""),
    ] {
        assert_eq!(part(question), Some((topic, name.to_owned(), None)), "{question}");
    }
}

#[test]
fn numbers_say_how_many() {
    let runs = |question| understand(question).map(|intent| (intent.runs.max, intent.runs.everywhere));
    assert_eq!(runs("Show the last 5 builds"), Some((5, false)));
    assert_eq!(runs("3 most recent pipelines on all branches"), Some((3, true)));
    assert_eq!(runs("Show recent pipeline runs"), Some((DEFAULT_RUNS, false)));
    let days = understand("builds of the last 2 days").expect("the list is understood");
    assert_eq!(days.runs.max, DEFAULT_RUNS);
    assert!(days.note.is_some_and(|note| note.contains("`days`")));
}

#[test]
fn an_answer_names_ignored_parts_of_the_question() {
    let intent = understand("Get PR comments and also check if CI passed and list any related issues");
    let intent = intent.expect("a part of it is understood");
    assert_eq!(intent.topic, Topic::Status);
    assert!(intent.note.is_some_and(|note| note.contains("`comments`, `issues`")));
}

#[test]
fn other_questions_are_not_understood() {
    for question in [
        "",
        "?",
        "Rerun the failed jobs",
        "Please cancel pipeline #412",
        "How is the weather in Paris?",
        "Get failed checks of PR #12",
        "Get my assigned issues",
    ] {
        assert_eq!(topic(question), None, "{question}");
    }
}
