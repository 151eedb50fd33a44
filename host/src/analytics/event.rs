//! What happened, as an endpoint reads it.

use crate::private;
use crate::sha256::hex;
use serde::Serialize;
use std::io;

/// Longest free text of an event, in bytes. Enough to see what somebody wanted.
const LONGEST_TEXT: usize = 4_096;

/// Longest name that a caller or an author chose, in bytes, and most of them in one list.
const LONGEST_NAME: usize = 300;
const MOST_NAMES: usize = 50;

/// Something that happened. The fields are what is sent as `data`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Event {
    NoMatch {
        context: Option<String>,
    },
    Ambiguous {
        context: Option<String>,
        candidates: Vec<String>,
    },
    SkillServed {
        context: Option<String>,
        skill_path: String,
        score: Option<f64>,
        matched_keywords: Vec<String>,
        was_ambiguous: bool,
    },
    AssetServed {
        skill_path: String,
        file: String,
        asset_type: String,
        is_inherited: bool,
        size_bytes: usize,
    },
    ScriptExecuted {
        skill_path: String,
        file: String,
        execution_mode: &'static str,
        success: bool,
        exit_code: i32,
        duration_ms: u64,
        args_provided: Vec<String>,
    },
    SkillFeedback {
        skill_path: String,
        useful: bool,
        comment: Option<String>,
    },
    Refresh {
        mode: &'static str,
        success: bool,
        commit_hash: Option<String>,
        files_changed: Option<usize>,
        skills_reindexed: Option<usize>,
    },
}

impl Event {
    /// A skill that was asked for by its name or URI, so that nothing was matched.
    pub fn served_by_name(skill_path: &str) -> Self {
        Self::SkillServed {
            context: None,
            skill_path: skill_path.to_owned(),
            score: None,
            matched_keywords: Vec::new(),
            was_ambiguous: false,
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoMatch { .. } => "no_match",
            Self::Ambiguous { .. } => "ambiguous",
            Self::SkillServed { .. } => "skill_served",
            Self::AssetServed { .. } => "asset_served",
            Self::ScriptExecuted { .. } => "script_executed",
            Self::SkillFeedback { .. } => "skill_feedback",
            Self::Refresh { .. } => "refresh",
        }
    }

    /// The skill it is about.
    pub fn skill(&self) -> Option<&str> {
        match self {
            Self::SkillServed { skill_path, .. }
            | Self::AssetServed { skill_path, .. }
            | Self::ScriptExecuted { skill_path, .. }
            | Self::SkillFeedback { skill_path, .. } => Some(skill_path),
            Self::NoMatch { .. } | Self::Ambiguous { .. } | Self::Refresh { .. } => None,
        }
    }

    /// Whether a script that ran succeeded.
    pub fn success(&self) -> Option<bool> {
        match self {
            Self::ScriptExecuted { success, .. } => Some(*success),
            _ => None,
        }
    }

    /// Whether somebody said that a skill helped.
    pub fn useful(&self) -> Option<bool> {
        match self {
            Self::SkillFeedback { useful, .. } => Some(*useful),
            _ => None,
        }
    }

    /// Leaves out free text, unless it is wanted, and what is too long.
    pub fn fitted(mut self, include_text: bool) -> Self {
        match &mut self {
            Self::NoMatch { context } => fit_text(context, include_text),
            Self::Ambiguous { context, candidates } => {
                fit_text(context, include_text);
                fit_names(candidates);
            }
            Self::SkillServed { context, matched_keywords, .. } => {
                fit_text(context, include_text);
                fit_names(matched_keywords);
            }
            Self::ScriptExecuted { args_provided, .. } => fit_names(args_provided),
            Self::SkillFeedback { comment, .. } => fit_text(comment, include_text),
            Self::AssetServed { .. } | Self::Refresh { .. } => {}
        }
        self
    }

    /// The event as one line, with an id that no other has.
    pub fn line(&self, server_id: &str, timestamp: &str) -> io::Result<String> {
        let mut id = [0; 16];
        private::fill(&mut id)?;
        let line = Line { id: hex(&id), r#type: self.kind(), timestamp, server_id, data: self };
        Ok(serde_json::to_string(&line).expect("events are plain data") + "\n")
    }
}

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    r#type: &'static str,
    timestamp: &'a str,
    server_id: &'a str,
    data: &'a Event,
}

fn fit_text(text: &mut Option<String>, wanted: bool) {
    *text = text.take().filter(|_| wanted);
    if let Some(text) = text {
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
    }
}

fn fit_names(names: &mut Vec<String>) {
    names.truncate(MOST_NAMES);
    for name in names {
        name.truncate(name.floor_char_boundary(LONGEST_NAME));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn free_text_is_left_out_unless_it_is_wanted_and_long_names_are_cut() {
        let event =
            Event::SkillFeedback { skill_path: "a".to_owned(), useful: true, comment: Some("é".repeat(LONGEST_TEXT)) };
        assert_eq!(serde_json::to_value(event.clone().fitted(false)).unwrap()["comment"], Value::Null);
        let kept = serde_json::to_value(event.fitted(true)).unwrap();
        assert_eq!(kept["comment"].as_str().unwrap().len(), LONGEST_TEXT);
        let event = Event::Ambiguous { context: None, candidates: vec!["x".repeat(1_000); 1_000] }.fitted(true);
        let Event::Ambiguous { candidates, .. } = event else { unreachable!() };
        assert_eq!((candidates.len(), candidates[0].len()), (MOST_NAMES, LONGEST_NAME));
    }

    #[test]
    fn each_line_has_an_id_of_its_own() {
        let event = Event::served_by_name("pdf\nreader");
        let [one, two] = [(); 2].map(|()| event.line("dev-me", "2026-02-18T14:30:00.000Z").unwrap());
        assert_eq!(one.matches('\n').count(), 1, "{one}");
        let mut parsed: Value = serde_json::from_str(&one).unwrap();
        let id = parsed["id"].take();
        assert_eq!(id.as_str().unwrap().len(), 32);
        assert!(!two.contains(id.as_str().unwrap()));
        let data = json!({
            "context": null, "skill_path": "pdf\nreader", "score": null, "matched_keywords": [], "was_ambiguous": false
        });
        let expected = json!({
            "id": null, "type": "skill_served", "timestamp": "2026-02-18T14:30:00.000Z", "server_id": "dev-me", "data": data
        });
        assert_eq!(parsed, expected);
    }
}
