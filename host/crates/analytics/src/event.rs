//! Events in the form sent to the endpoint.

use base::digest::hex;
use base::user_files;
use serde::Serialize;
use std::io;

/// Of free text, in bytes.
const MAX_TEXT_LENGTH: usize = 4_096;

/// Of names chosen by callers and authors, in bytes.
const MAX_NAME_LENGTH: usize = 300;
const MAX_NAMES: usize = 50;

/// An event. The fields of each case are sent as `data`.
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
    /// A skill that was requested by name or URI, without matching.
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

    /// Removes free text unless `include_text`, and shortens texts and lists that are too long.
    pub fn trimmed(mut self, include_text: bool) -> Self {
        match &mut self {
            Self::NoMatch { context } => trim_text(context, include_text),
            Self::Ambiguous { context, candidates } => {
                trim_text(context, include_text);
                trim_names(candidates);
            }
            Self::SkillServed { context, matched_keywords, .. } => {
                trim_text(context, include_text);
                trim_names(matched_keywords);
            }
            Self::ScriptExecuted { args_provided, .. } => trim_names(args_provided),
            Self::SkillFeedback { comment, .. } => trim_text(comment, include_text),
            Self::AssetServed { .. } | Self::Refresh { .. } => {}
        }
        self
    }

    /// Formats the event as one line of JSON, with a unique id.
    pub fn line(&self, server_id: &str, timestamp: &str) -> io::Result<String> {
        let mut id = [0; 16];
        user_files::fill_random(&mut id)?;
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

fn trim_text(text: &mut Option<String>, include_text: bool) {
    *text = text.take().filter(|_| include_text);
    if let Some(text) = text {
        text.truncate(text.floor_char_boundary(MAX_TEXT_LENGTH));
    }
}

fn trim_names(names: &mut Vec<String>) {
    names.truncate(MAX_NAMES);
    for name in names {
        name.truncate(name.floor_char_boundary(MAX_NAME_LENGTH));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn free_text_is_removed_by_default_and_long_names_are_shortened() {
        let event = Event::SkillFeedback {
            skill_path: "a".to_owned(),
            useful: true,
            comment: Some("é".repeat(MAX_TEXT_LENGTH)),
        };
        assert_eq!(serde_json::to_value(event.clone().trimmed(false)).unwrap()["comment"], Value::Null);
        let kept = serde_json::to_value(event.trimmed(true)).unwrap();
        assert_eq!(kept["comment"].as_str().unwrap().len(), MAX_TEXT_LENGTH);
        let event = Event::Ambiguous { context: None, candidates: vec!["x".repeat(1_000); 1_000] }.trimmed(true);
        let Event::Ambiguous { candidates, .. } = event else { unreachable!() };
        assert_eq!((candidates.len(), candidates[0].len()), (MAX_NAMES, MAX_NAME_LENGTH));
    }

    #[test]
    fn each_line_has_a_unique_id() {
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
