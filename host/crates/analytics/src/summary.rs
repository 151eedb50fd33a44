//! Statistics from the local history.

use super::history::{self, HistoryEntry};
use super::{buffer, buffers_folder, history_folder};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// The time of the oldest entry.
    pub since: Option<String>,
    /// Most served first.
    pub skills: Vec<SkillUse>,
    pub no_match: u64,
    pub ambiguous: u64,
    /// Events that were not sent yet.
    pub events_waiting: usize,
    /// Events that were never sent, because the buffer was full or they were too large.
    pub events_dropped: u64,
}

#[derive(Debug, Default, Serialize)]
pub struct SkillUse {
    pub skill_path: String,
    pub served: u64,
    pub last_used: String,
    pub useful: u64,
    pub not_useful: u64,
    pub assets_served: u64,
    pub scripts_run: u64,
    pub scripts_failed: u64,
    /// Calls of each tool of this server after the skill was served in the same session.
    pub tools_after: BTreeMap<String, u64>,
}

pub fn summary(records: &Path) -> Summary {
    let mut summary = summarize(&history::read(&history_folder(records)));
    for buffer in std::fs::read_dir(buffers_folder(records)).into_iter().flatten().flatten() {
        let (waiting, dropped) = buffer::count(&buffer.path());
        summary.events_waiting += waiting;
        summary.events_dropped += dropped;
    }
    summary
}

fn summarize(history: &[HistoryEntry<'_>]) -> Summary {
    let mut summary = Summary { since: history.first().map(|entry| entry.time.to_string()), ..Summary::default() };
    let mut skills: BTreeMap<&str, SkillUse> = BTreeMap::new();
    let mut served_in_session: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for entry in history {
        if let Some(tool) = &entry.tool {
            for skill in served_in_session.get(&*entry.session).into_iter().flatten() {
                let usage = skills.entry(skill).or_default();
                *usage.tools_after.entry(tool.to_string()).or_default() += 1;
            }
        }
        match entry.event.as_deref() {
            Some("no_match") => summary.no_match += 1,
            Some("ambiguous") => summary.ambiguous += 1,
            _ => {}
        }
        let (Some(event), Some(skill)) = (entry.event.as_deref(), entry.skill.as_deref()) else { continue };
        let usage = skills.entry(skill).or_default();
        match event {
            "skill_served" => {
                usage.served += 1;
                served_in_session.entry(&entry.session).or_default().insert(skill);
            }
            "asset_served" => usage.assets_served += 1,
            "script_executed" => {
                usage.scripts_run += 1;
                usage.scripts_failed += u64::from(entry.success == Some(false));
            }
            "skill_feedback" => {
                usage.useful += u64::from(entry.useful == Some(true));
                usage.not_useful += u64::from(entry.useful == Some(false));
            }
            _ => {}
        }
        usage.last_used = entry.time.to_string();
    }
    summary.skills =
        skills.into_iter().map(|(skill, usage)| SkillUse { skill_path: skill.to_owned(), ..usage }).collect();
    summary.skills.sort_by_key(|skill| Reverse(skill.served));
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    #[test]
    fn a_tool_call_counts_for_the_skills_served_before_it_in_the_same_session() {
        let [pdf, csv] = ["pdf", "csv"].map(Event::served_by_name);
        let feedback = |useful| Event::SkillFeedback { skill_path: "csv".to_owned(), useful, comment: None };
        let (liked, disliked) = (feedback(true), feedback(false));
        let history = [
            HistoryEntry::tool("skill", "a", "1"),
            HistoryEntry::event(&pdf, "a", "1"),
            HistoryEntry::tool("run_script", "b", "2"),
            HistoryEntry::tool("run_script", "a", "3"),
            HistoryEntry::tool("skill", "a", "4"),
            HistoryEntry::event(&csv, "a", "4"),
            HistoryEntry::tool("query", "a", "5"),
            HistoryEntry::event(&csv, "b", "6"),
            HistoryEntry::event(&liked, "b", "7"),
            HistoryEntry::event(&disliked, "b", "8"),
            HistoryEntry::event(&Event::NoMatch { context: None }, "b", "9"),
        ];
        let summary = summarize(&history);
        let names: Vec<(&str, u64)> =
            summary.skills.iter().map(|skill| (skill.skill_path.as_str(), skill.served)).collect();
        assert_eq!(names, [("csv", 2), ("pdf", 1)]);
        let after = |skill: usize| serde_json::to_string(&summary.skills[skill].tools_after).unwrap();
        assert_eq!(after(0), r#"{"query":1}"#);
        assert_eq!(after(1), r#"{"query":1,"run_script":1,"skill":1}"#);
        let csv = &summary.skills[0];
        assert_eq!((csv.useful, csv.not_useful, csv.last_used.as_str()), (1, 1, "8"));
        assert_eq!((summary.no_match, summary.since.as_deref()), (1, Some("1")));
    }
}
