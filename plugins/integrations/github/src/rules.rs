//! The vocabulary of GitHub, and the rules that select topics.

use integration_kit::words::{Rule, Vocabulary};

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    Comments,
    CommentsAndReviews,
    Reviews,
    Pulls,
    PullsToReview,
    Pull,
    Checks,
    Issues,
    Issue,
    /// An issue or a pull request, given only by number.
    Numbered,
    Repository,
    Me,
}

/// Plurals are separate concepts where they mean a list.
#[rustfmt::skip]
pub const VOCABULARY: Vocabulary = Vocabulary {
    concepts: &[
        ("pulls", &["prs", "pull requests", "merge requests", "mrs", "pulls"]),
        ("pr", &["pr", "pull request", "merge request", "mr", "pull request number", "pr number"]),
        ("comment", &[
            "comment", "commented", "feedback", "discussion", "conversation", "remark", "thread", "said", "say",
        ]),
        ("unresolved", &["unresolved", "resolved", "not resolved", "unaddressed"]),
        ("to-review", &[
            "to review", "my review", "review request", "requested review", "review queue", "review from me",
            "review by me", "i need to review", "i have to review", "i should review", "i must review",
            "do i need to review", "do i have to review", "should i review",
        ]),
        ("review", &["review", "reviewer", "reviewed", "need to review", "has to review", "have to review"]),
        ("approval", &[
            "approval", "approve", "approved", "approver", "sign off", "signed off", "lgtm", "change requested",
            "requested change", "request change", "change request",
        ]),
        ("status", &["status", "state"]),
        ("check", &[
            "checks", "ci", "ci check", "status check", "check run", "check suite", "check status", "check result", "build", "pipeline", "workflow",
            "action", "github action", "job", "test", "failing check", "failed check", "check failing",
            "check failed",
        ]),
        ("failing", &[
            "failing", "failed", "fail", "failure", "broken", "break", "red", "not passing", "not passed",
            "unsuccessful", "error", "wrong", "failing check", "failed check", "check failing", "check failed",
        ]),
        ("passing", &["passing", "passed", "pass", "green", "succeed", "succeeded", "succeeding", "successful", "ok"]),
        ("pending", &[
            "pending", "running", "in progress", "queued", "waiting", "wait", "awaiting", "unfinished", "missing",
            "still",
        ]),
        ("branch", &["branch", "ref"]),
        ("default", &["default branch"]),
        ("commit", &["commit", "sha", "revision", "head"]),
        ("issue", &["issue", "ticket"]),
        ("bug", &["bug"]),
        ("assigned", &["assigned", "assignee", "assignment", "assigned to me", "i am assigned", "am i assigned"]),
        ("mine", &[
            "my", "mine", "assigned to me", "to me", "by me", "for me", "i opened", "i created", "i have open",
            "do i have", "i have", "i am assigned", "am i assigned", "i authored",
        ]),
        ("created", &["created", "opened", "authored", "filed", "reported", "i opened", "i created", "i authored"]),
        ("open", &["open", "currently open", "active", "outstanding"]),
        ("closed", &["closed", "done", "finished"]),
        ("merged", &["merged"]),
        ("merge", &[
            "merge", "mergeable", "mergable", "be merged", "conflict", "merge conflict", "ready", "mergeability",
            "block", "blocking", "blocked",
        ]),
        ("draft", &["draft"]),
        ("everywhere", &[
            "everywhere", "all repositories", "all repository", "all repo", "any repo", "across repo",
            "across all repo", "across all repositories",
        ]),
        ("repository", &["repository", "repositories", "repo", "project", "codebase"]),
        ("facts", &[
            "description", "describe", "overview", "fact", "language", "release", "version", "license", "star",
            "fork", "topic", "visibility", "metadata", "homepage", "body", "title", "author", "label", "wrote", "old",
        ]),
        ("me", &[
            "who am i", "whoami", "my account", "my user", "my username", "my user name", "my login", "my profile",
            "which account", "which user", "logged in", "authenticated user", "authenticated",
        ]),
    ],
    fillers: &[
        "age", "already", "anybody", "anyone", "been", "content", "current", "each", "every", "everyone", "existing",
        "far", "gave", "github", "given", "got", "grouped", "happened", "into", "last", "left", "made", "main",
        "needing", "needs", "new", "newest", "number", "off", "ordered", "people", "posted", "reason", "recent",
        "recently", "report", "require", "required", "result", "so", "sorted", "team", "text", "there", "today",
        "todo", "why", "work", "written", "yet",
    ],
};

/// `number`, `branch`, `commit`, `person`, `label` and `repository` are also present if a question names one.
pub const RULES: &[Rule<Topic>] = &[
    Rule {
        topic: Topic::Comments,
        needs: "comment",
        may: "pr review unresolved branch mine number repository open person",
    },
    Rule {
        topic: Topic::Comments,
        needs: "unresolved",
        may: "comment pr review branch mine number repository open person",
    },
    Rule {
        topic: Topic::CommentsAndReviews,
        needs: "comment approval",
        may: "pr review status branch mine number repository pending unresolved open",
    },
    Rule {
        topic: Topic::CommentsAndReviews,
        needs: "comment review status",
        may: "pr approval branch mine number repository pending unresolved open",
    },
    Rule {
        topic: Topic::Reviews,
        needs: "review|approval",
        may: "pr status branch mine number repository pending open to-review",
    },
    Rule {
        topic: Topic::PullsToReview,
        needs: "to-review",
        may: "pr pulls open mine repository review pending assigned",
    },
    Rule {
        topic: Topic::Pulls,
        needs: "pulls",
        may: "open closed merged draft mine person branch repository created status default assigned",
    },
    Rule {
        topic: Topic::Pulls,
        needs: "pulls review",
        may: "status pending open draft mine person branch repository created default",
    },
    Rule { topic: Topic::Pulls, needs: "pr open", may: "draft mine person branch repository created default assigned" },
    Rule {
        topic: Topic::Pull,
        needs: "pr",
        may: "status branch mine number repository facts merge merged closed draft created pending",
    },
    Rule {
        topic: Topic::Pull,
        needs: "pr number",
        may: "open status facts merge merged closed draft created repository",
    },
    Rule { topic: Topic::Pull, needs: "merge branch", may: "status default repository" },
    Rule {
        topic: Topic::Checks,
        needs: "check",
        may: "failing passing pending status branch commit pr mine number repository default open",
    },
    Rule {
        topic: Topic::Checks,
        needs: "failing|passing|pending branch|commit|pr|default",
        may: "status branch commit pr mine number repository default failing passing pending",
    },
    Rule { topic: Topic::Checks, needs: "branch|commit|default status", may: "branch mine number repository default" },
    Rule {
        topic: Topic::Issues,
        needs: "issue|bug",
        may: "issue bug open closed repository everywhere assigned mine created person label status",
    },
    Rule { topic: Topic::Issues, needs: "assigned mine", may: "open closed repository everywhere status" },
    Rule {
        topic: Topic::Issue,
        needs: "issue number",
        may: "comment status repository open closed facts bug assigned created",
    },
    Rule { topic: Topic::Numbered, needs: "number", may: "status repository facts open closed merged" },
    Rule {
        topic: Topic::Repository,
        needs: "repository|facts|default",
        may: "repository facts default status mine branch",
    },
    Rule { topic: Topic::Me, needs: "me", may: "" },
];
