//! What was on disk when.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Instant;

/// All skills of the storm by name, each with its states.
pub struct Library {
    histories: BTreeMap<String, Mutex<Vec<Lived>>>,
}

/// A state, from before it began until after it ended.
struct Lived {
    state: State,
    began: Instant,
    ended: Option<Instant>,
}

#[derive(Debug, Clone)]
pub enum State {
    /// There is no such file, or no skill in it.
    Missing,
    Whole(String),
    /// A text that is being written: any beginning of it.
    Growing(String),
}

/// What a server said about one skill.
#[derive(Debug)]
pub enum Answered {
    Nothing,
    /// The whole file.
    Text(String),
    /// What comes after its front matter.
    Body(String),
    /// Something that ends with it.
    Ends(String),
    Description(String),
}

impl Library {
    /// Each writer has folder skills that move, and tree skills that stay.
    pub fn new(writers: usize) -> Self {
        let names = (0..writers).flat_map(|writer| {
            let folders = (0..4).map(move |number| format!("w{writer}-folder-{number}"));
            folders.chain((0..2).map(move |number| format!("tree/w{writer}-leaf-{number}")))
        });
        Self { histories: names.map(|name| (name, Mutex::default())).collect() }
    }

    pub fn skills(&self) -> impl Iterator<Item = &str> {
        self.histories.keys().map(String::as_str)
    }

    /// Does something that leads to a state, and notes when.
    pub fn change(&self, name: &str, states: impl IntoIterator<Item = State>, change: impl FnOnce()) {
        let history = || self.histories[name].lock().unwrap();
        let began = Instant::now();
        let before = history().len();
        history().extend(states.into_iter().map(|state| Lived { state, began, ended: None }));
        change();
        let ended = Some(Instant::now());
        let mut history = history();
        let last = history.len() - 1;
        for lived in history[..last].iter_mut().skip(before.saturating_sub(1)) {
            lived.ended = lived.ended.or(ended);
        }
    }

    /// Whether this was a state of the skill at any moment of the question, else the states that were.
    pub fn check(&self, name: &str, answered: &Answered, (asked, got): (Instant, Instant)) -> Result<(), String> {
        let history = self.histories[name].lock().unwrap();
        let current = |lived: &&Lived| lived.began <= got && lived.ended.is_none_or(|ended| ended >= asked);
        if history.iter().filter(current).any(|lived| lived.state.allows(answered)) {
            return Ok(());
        }
        let mut states = String::new();
        for lived in history.iter().filter(current) {
            let _ = write!(states, "\n{:?}", lived.state);
        }
        if let Some((place, lived)) = history.iter().enumerate().rfind(|(_, lived)| lived.state.allows(answered)) {
            let late = lived.ended.map(|ended| asked.duration_since(ended));
            let _ = write!(states, "\n(state {place} of {} was, {late:?} before the question)", history.len());
        }
        let _ = write!(states, "\n(the question took {:?})", got - asked);
        Err(states)
    }
}

impl State {
    fn allows(&self, answered: &Answered) -> bool {
        match (self, answered) {
            (Self::Missing | Self::Growing(_), Answered::Nothing) => true,
            (Self::Missing, _) | (Self::Whole(_), Answered::Nothing) => false,
            (Self::Whole(text), Answered::Text(said)) => said == text,
            (Self::Whole(text), Answered::Body(said)) => said == body(text),
            (Self::Whole(text), Answered::Ends(said)) => said.trim_end().ends_with(body(text)),
            (Self::Growing(text), Answered::Text(said)) => text.starts_with(said),
            (Self::Growing(text), Answered::Body(said)) => body(text).starts_with(said),
            (Self::Growing(text), Answered::Ends(said)) => {
                let said = said.trim_end();
                let grown = body(text);
                said.ends_with("---") || (1..=grown.len()).any(|length| said.ends_with(&grown[..length]))
            }
            (Self::Whole(text) | Self::Growing(text), Answered::Description(said)) => {
                text.lines().any(|line| line.strip_prefix("description: ") == Some(said))
            }
        }
    }
}

fn body(text: &str) -> &str {
    text.rsplit("---\n").next().unwrap().trim()
}

/// The file of a skill in one of its versions.
pub fn text(name: &str, version: usize) -> String {
    let head = if name.contains('/') { "keywords: [stormy]".to_owned() } else { format!("name: {name}") };
    let lines: String =
        (0..version % 40).map(|line| format!("Line {line} of version {version} of {name}.\n")).collect();
    format!(
        "---\n{head}\ndescription: Version {version} of {name}\n---\n\nA stormy skill.\n{lines}The end of {version}.\n"
    )
}

/// Which skill a description is of.
pub fn name_in(description: &str) -> &str {
    description.rsplit(" of ").next().unwrap()
}
