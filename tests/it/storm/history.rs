//! Which states were on disk, and when.

use skillcell_tests::MAX_WAIT;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Instant;

/// All skills of the storm by name, each with its states.
pub struct Library {
    histories: BTreeMap<String, Mutex<Vec<TimedState>>>,
}

/// A state, and a period that is at least as long as it was on disk.
struct TimedState {
    state: State,
    started: Instant,
    ended: Option<Instant>,
}

#[derive(Debug, Clone)]
pub enum State {
    /// There is no such file, or it is not a skill.
    Missing,
    Whole(String),
    /// A text that is being written: any prefix of it.
    Growing(String),
}

/// What a server answered about one skill.
#[derive(Debug)]
pub enum SkillAnswer {
    Nothing,
    /// The whole file.
    Text(String),
    /// The text after its front matter.
    Body(String),
    /// A text that ends with the body.
    Ends(String),
    Description(String),
}

impl Library {
    /// Creates skills for each writer: folder skills that move, and tree skills that do not.
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

    /// Makes a change that leads to these states, and records when.
    pub fn change(&self, name: &str, states: impl IntoIterator<Item = State>, change: impl FnOnce()) {
        let history = || self.histories[name].lock().unwrap();
        let started = Instant::now();
        let before = history().len();
        history().extend(states.into_iter().map(|state| TimedState { state, started, ended: None }));
        change();
        let ended = Some(Instant::now());
        let mut history = history();
        let last = history.len() - 1;
        for timed in history[..last].iter_mut().skip(before.saturating_sub(1)) {
            timed.ended = timed.ended.or(ended);
        }
    }

    /// Checks that this was a state of the skill at some time during the request. The error lists the actual states.
    ///
    /// An answer may be an earlier state if it took so long that the server may have stopped waiting for the disk.
    pub fn check(&self, name: &str, answer: &SkillAnswer, (sent, received): (Instant, Instant)) -> Result<(), String> {
        let history = self.histories[name].lock().unwrap();
        let may_be_stale = received - sent >= MAX_WAIT;
        let current = |timed: &&TimedState| {
            timed.started <= received && (may_be_stale || timed.ended.is_none_or(|ended| ended >= sent))
        };
        if history.iter().filter(current).any(|timed| timed.state.allows(answer)) {
            return Ok(());
        }
        let mut states = String::new();
        for timed in history.iter().filter(current) {
            let _ = write!(states, "\n{:?}", timed.state);
        }
        if let Some((index, timed)) = history.iter().enumerate().rfind(|(_, timed)| timed.state.allows(answer)) {
            let late = timed.ended.map(|ended| sent.duration_since(ended));
            let _ = write!(states, "\n(state {index} of {} ended {late:?} before the request)", history.len());
        }
        let _ = write!(states, "\n(the request took {:?})", received - sent);
        Err(states)
    }
}

impl State {
    fn allows(&self, answer: &SkillAnswer) -> bool {
        match (self, answer) {
            (Self::Missing | Self::Growing(_), SkillAnswer::Nothing) => true,
            (Self::Missing, _) | (Self::Whole(_), SkillAnswer::Nothing) => false,
            (Self::Whole(file), SkillAnswer::Text(text)) => text == file,
            (Self::Whole(file), SkillAnswer::Body(text)) => text == body(file),
            (Self::Whole(file), SkillAnswer::Ends(text)) => text.trim_end().ends_with(body(file)),
            (Self::Growing(file), SkillAnswer::Text(text)) => file.starts_with(text),
            (Self::Growing(file), SkillAnswer::Body(text)) => body(file).starts_with(text),
            (Self::Growing(file), SkillAnswer::Ends(text)) => {
                let text = text.trim_end();
                let body = body(file);
                text.ends_with("---") || (1..=body.len()).any(|length| text.ends_with(&body[..length]))
            }
            (Self::Whole(file) | Self::Growing(file), SkillAnswer::Description(text)) => {
                file.lines().any(|line| line.strip_prefix("description: ") == Some(text))
            }
        }
    }
}

fn body(text: &str) -> &str {
    text.rsplit("---\n").next().unwrap().trim()
}

/// Returns a version of the file of a skill.
pub fn text(name: &str, version: usize) -> String {
    let head = if name.contains('/') { "keywords: [stormy]".to_owned() } else { format!("name: {name}") };
    let lines: String =
        (0..version % 40).map(|line| format!("Line {line} of version {version} of {name}.\n")).collect();
    format!(
        "---\n{head}\ndescription: Version {version} of {name}\n---\n\nA stormy skill.\n{lines}The end of {version}.\n"
    )
}

/// Returns the name of the skill that a description belongs to.
pub fn name_in(description: &str) -> &str {
    description.rsplit(" of ").next().unwrap()
}
