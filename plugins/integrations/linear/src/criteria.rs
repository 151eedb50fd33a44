//! Criteria for issues, as a filter for Linear and as text.

use integration_kit::json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Criteria {
    pub kind: Kind,
    pub mine: bool,
    pub unassigned: bool,
    /// By a part of their name.
    pub assignee: Option<String>,
    /// By a part of its name.
    pub label: Option<String>,
    pub priority: Option<Priority>,
    /// None means any.
    pub state: Option<State>,
    pub cycle: Option<Cycle>,
    /// By its name or key.
    pub team: Option<String>,
    pub my_teams: bool,
    /// Words of its name.
    pub project: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Issue,
    Bug,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    Urgent,
    /// High or urgent.
    High,
    Medium,
    Low,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Open,
    Started,
    Todo,
    Backlog,
    Triage,
    Done,
    Canceled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cycle {
    Current,
    Next,
    Previous,
}

impl Criteria {
    /// Builds an `IssueFilter`, without the cycle and the teams of the user, which have to be queried first.
    pub fn filter(&self) -> Value {
        let mut filter = json!({});
        if self.mine {
            filter["assignee"] = json!({"isMe": {"eq": true}});
        } else if self.unassigned {
            filter["assignee"] = json!({"null": true});
        } else if let Some(name) = &self.assignee {
            let part = json!({"containsIgnoreCase": name});
            filter["assignee"] = json!({"or": [{"displayName": part}, {"name": part}]});
        }
        let bug = (self.kind == Kind::Bug).then_some("bug");
        let labels: Vec<_> = bug.into_iter().chain(self.label.as_deref()).map(labeled).collect();
        match &labels[..] {
            [] => {}
            [one] => filter["labels"] = one.clone(),
            several => filter["labels"] = json!({"and": several}),
        }
        if let Some(priority) = self.priority {
            filter["priority"] = json!({"in": priority.numbers()});
        }
        if !self.project.is_empty() {
            filter["project"] = named(&self.project);
        }
        if let Some(state) = self.state {
            filter["state"] = json!({"type": state.filter()});
        }
        if let Some(team) = &self.team {
            filter["team"] = named_team(team);
        }
        filter
    }

    /// As in `my open high-priority bugs`.
    pub fn describe(&self) -> String {
        let things = match self.kind {
            Kind::Issue => "issues",
            Kind::Bug => "bugs",
        };
        let whose = if self.mine { "my" } else { "" };
        let unassigned = if self.unassigned && !self.mine { "unassigned" } else { "" };
        let state = self.state.map_or("", State::word);
        let priority = self.priority.map_or("", Priority::word);
        let words = [whose, unassigned, state, priority, things];
        let what = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let assignee = self.assignee.as_ref().filter(|_| !self.mine && !self.unassigned);
        let assignee = assignee.map(|name| format!(" assigned to {name}")).unwrap_or_default();
        let label = self.label.as_ref().map(|label| format!(" labeled {label}")).unwrap_or_default();
        let cycle = self.cycle.map(|cycle| format!(" in the {} cycle", cycle.word())).unwrap_or_default();
        let team = match &self.team {
            Some(team) => format!(" of team {team}"),
            None if self.my_teams => " of my teams".to_owned(),
            None => String::new(),
        };
        let project = match self.project.join(" ") {
            name if name.is_empty() => name,
            name => format!(" in project {name}"),
        };
        format!("{what}{assignee}{label}{cycle}{team}{project}")
    }
}

/// A filter for issues with a label whose name contains this text.
fn labeled(part: &str) -> Value {
    json!({"some": {"name": {"containsIgnoreCase": part}}})
}

/// A filter for teams by key or name.
pub fn named_team(name: &str) -> Value {
    json!({"or": [{"key": {"eqIgnoreCase": name}}, {"name": {"containsIgnoreCase": name}}]})
}

/// A filter for names that contain all of these words.
pub fn named(words: &[String]) -> Value {
    let all: Vec<_> = words.iter().map(|word| json!({"name": {"containsIgnoreCase": word}})).collect();
    json!({"and": all})
}

impl Priority {
    /// The priorities as numbers in Linear.
    fn numbers(self) -> &'static [u8] {
        match self {
            Self::Urgent => &[1],
            Self::High => &[1, 2],
            Self::Medium => &[3],
            Self::Low => &[4],
            Self::None => &[0],
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Urgent => "urgent",
            Self::High => "high-priority",
            Self::Medium => "medium-priority",
            Self::Low => "low-priority",
            Self::None => "unprioritized",
        }
    }
}

impl State {
    fn filter(self) -> Value {
        match self {
            Self::Open => json!({"nin": ["completed", "canceled", "duplicate"]}),
            Self::Started => json!({"eq": "started"}),
            Self::Todo => json!({"eq": "unstarted"}),
            Self::Backlog => json!({"eq": "backlog"}),
            Self::Triage => json!({"eq": "triage"}),
            Self::Done => json!({"eq": "completed"}),
            Self::Canceled => json!({"eq": "canceled"}),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Started => "started",
            Self::Todo => "unstarted",
            Self::Backlog => "backlog",
            Self::Triage => "untriaged",
            Self::Done => "completed",
            Self::Canceled => "canceled",
        }
    }
}

impl Cycle {
    /// Builds a `CycleFilter`.
    pub fn filter(self) -> Value {
        let field = match self {
            Self::Current => "isActive",
            Self::Next => "isNext",
            Self::Previous => "isPrevious",
        };
        json!({field: {"eq": true}})
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Next => "next",
            Self::Previous => "previous",
        }
    }
}
