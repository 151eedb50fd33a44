//! Questions, and how they are parsed.

use super::*;

fn topic(question: &str) -> Option<Topic> {
    understand(question).map(|intent| intent.topic)
}

fn open_issues() -> Criteria {
    Criteria { state: Some(State::Open), ..Criteria::default() }
}

fn all_are(expected: &Topic, questions: &[&str]) {
    for question in questions {
        let intent = understand(question).unwrap_or_else(|| panic!("not understood: {question}"));
        assert_eq!((&intent.topic, intent.note), (expected, None), "{question}");
    }
}

#[test]
fn my_issues_are_asked_for_in_many_ways() {
    all_are(
        &Topic::Issues(Criteria { mine: true, ..open_issues() }),
        &[
            "Get my assigned issues",
            "What issues are assigned to me?",
            "Show my open tickets in Linear",
            "list all of my tasks, please",
            "my issues",
            "Which tickets do I have?",
            "What's assigned to me?",
            "What is on my plate?",
        ],
    );
    let started = Criteria { mine: true, state: Some(State::Started), ..Criteria::default() };
    all_are(&Topic::Issues(started), &["What am I working on?", "my issues in progress", "What should I work on?"]);
}

#[test]
fn a_cycle_is_asked_for_in_many_ways() {
    let current = Criteria { cycle: Some(Cycle::Current), ..Criteria::default() };
    all_are(
        &Topic::Issues(current.clone()),
        &[
            "Show issues in the current sprint",
            "What's in this cycle?",
            "sprint status",
            "Get the issues of the active iteration",
            "How is the sprint going?",
        ],
    );
    let of_team = |name: &str| Topic::Issues(Criteria { team: Some(name.into()), ..current.clone() });
    all_are(&of_team("ENG"), &["Show the current sprint of ENG", "issues in the current cycle of team ENG"]);
    all_are(&of_team("Mobile App"), &["current sprint of the Mobile App team", "sprint of team Mobile App"]);
    all_are(&Topic::Issues(Criteria { mine: true, ..current.clone() }), &["my issues in the current sprint"]);
    all_are(&Topic::Issues(Criteria { cycle: Some(Cycle::Next), ..current.clone() }), &["Show the next sprint"]);
    all_are(&Topic::Issues(Criteria { cycle: Some(Cycle::Previous), ..current }), &["issues of the last cycle"]);
}

#[test]
fn bugs_and_priorities_are_asked_for_in_many_ways() {
    let bugs = Criteria { kind: Kind::Bug, ..open_issues() };
    all_are(
        &Topic::Issues(Criteria { priority: Some(Priority::High), ..bugs.clone() }),
        &[
            "List high priority bugs",
            "high-priority bugs",
            "What are the critical bugs?",
            "Show open bugs with high priority",
        ],
    );
    all_are(&Topic::Issues(Criteria { priority: Some(Priority::Urgent), ..bugs.clone() }), &["urgent bugs"]);
    all_are(&Topic::Issues(Criteria { mine: true, ..bugs.clone() }), &["my bugs"]);
    all_are(&Topic::Issues(bugs), &["List bugs"]);
    let unassigned = Criteria { unassigned: true, priority: Some(Priority::Urgent), ..open_issues() };
    all_are(&Topic::Issues(unassigned), &["List unassigned urgent issues"]);
    let low = Criteria { priority: Some(Priority::Low), state: Some(State::Done), ..Criteria::default() };
    all_are(&Topic::Issues(low), &["completed low priority issues"]);
    let of_bob = Criteria { assignee: Some("Bob".into()), ..open_issues() };
    all_are(&Topic::Issues(of_bob), &["issues assigned to Bob"]);
    let labeled = Criteria { label: Some("frontend".into()), ..open_issues() };
    all_are(&Topic::Issues(labeled), &["open issues labeled frontend", "issues with label frontend"]);
    all_are(&Topic::Issues(Criteria { my_teams: true, ..open_issues() }), &["Show my team's issues"]);
}

#[test]
fn projects_are_asked_for_in_many_ways() {
    let projects = |name: &[&str], mine| {
        let name = name.iter().map(|word| (*word).to_owned()).collect();
        Topic::Projects { name, mine }
    };
    all_are(
        &projects(&[], false),
        &["Get project status", "How are the projects going?", "List active projects", "project health"],
    );
    all_are(&projects(&["Login"], false), &["Get status of project Login", "How is the Login project going?"]);
    all_are(&projects(&["Mobile", "App"], false), &["status of the Mobile App project", "Show project Mobile App"]);
    all_are(&projects(&["sign-on"], false), &["Is the sign-on project on track?"]);
    all_are(&projects(&["login"], false), &["Get project status for login"]);
    all_are(&projects(&[], true), &["status of my projects"]);
    let issues = Criteria { project: vec!["Login".into()], ..open_issues() };
    all_are(&Topic::Issues(issues), &["Show the open issues of project Login", "issues in the Login project"]);
}

#[test]
fn searches_are_asked_for_in_many_ways() {
    let search = |term: &str, criteria: Criteria| Topic::Search { term: term.into(), criteria };
    all_are(
        &search("authentication", Criteria::default()),
        &[
            "Get issues related to authentication",
            "Find issues about authentication",
            "Search for authentication",
            "Get authentication issues",
            "Any tickets mentioning authentication?",
        ],
    );
    all_are(&search("single sign-on", Criteria::default()), &["Issues regarding \"single sign-on\""]);
    all_are(&search("SHA-256", Criteria::default()), &["issues related to SHA-256"]);
    all_are(&search("login", open_issues()), &["open issues about login"]);
    let bugs = Criteria { kind: Kind::Bug, ..Criteria::default() };
    all_are(&search("the cart", bugs), &["bugs about the cart"]);
}

#[test]
fn an_issue_is_named_by_its_key() {
    all_are(
        &Topic::Issue("ENG-123".into()),
        &[
            "Show ENG-123",
            "What is ENG-123 about?",
            "status of issue eng-123",
            "ENG-123",
            "Get comments on ENG-123",
            "details of eng-123",
        ],
    );
    all_are(&Topic::IssueOfBranch, &["Get the issue of this branch", "Which ticket is this branch for?"]);
    for (text, key) in [
        ("feature/eng-123-login", Some("eng-123")),
        ("ada/eng-7", Some("eng-7")),
        ("ENG-1", Some("ENG-1")),
        ("release-2026", Some("release-2026")),
        ("v1-2x", None),
        ("main", None),
        ("", None),
        ("x-", None),
        ("é-5", None),
        ("averylongteamname-5", None),
    ] {
        assert_eq!(key_in(text), key, "{text}");
    }
}

#[test]
fn ignored_words_are_named() {
    let intent = understand("my purple issues").expect("the rest is understood");
    assert!(intent.note.is_some_and(|note| note.contains("`purple`")));
    let intent = understand("Show open issues created today").expect("the rest is understood");
    assert_eq!(intent.topic, Topic::Issues(open_issues()));
    assert!(intent.note.is_some_and(|note| note.contains("`created`, `today`")));
}

#[test]
fn other_questions_are_not_understood() {
    for question in [
        "",
        "?",
        "Create an issue about login",
        "Assign ENG-123 to me",
        "Close ENG-123",
        "How is the weather in Paris?",
        "Get failed CI checks",
        "what is it about",
        "Tell me a joke about cats",
        "utf-8",
    ] {
        assert_eq!(topic(question), None, "{question}");
    }
}
