//! What was used on this machine, counted.

use super::history::{self, Past};
use super::{all_waiting, history_folder, waiting};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// The oldest moment that is still known.
    pub since: Option<String>,
    /// The most served first.
    pub skills: Vec<SkillUse>,
    pub no_match: u64,
    pub ambiguous: u64,
    /// Events that no endpoint has yet, and those that never reached one for want of room.
    pub events_waiting: usize,
    pub events_dropped: u64,
}

/// What is known of one skill.
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
    /// Tools of this server that were called after the skill was served, in the same session.
    pub tools_after: BTreeMap<String, u64>,
}

/// Counts what is in the records.
pub fn summary(records: &Path) -> Summary {
    let endpoints = std::fs::read_dir(all_waiting(records)).into_iter().flatten().flatten();
    let (events_waiting, events_dropped) = endpoints
        .map(|endpoint| waiting::count(&endpoint.path()))
        .fold((0, 0), |(waiting, dropped), (more_waiting, more_dropped)| {
            (waiting + more_waiting, dropped + more_dropped)
        });
    Summary { events_waiting, events_dropped, ..counted(&history::read(&history_folder(records))) }
}

fn counted(history: &[Past<'_>]) -> Summary {
    let mut summary = Summary { since: history.first().map(|past| past.time.to_string()), ..Summary::default() };
    let mut skills: BTreeMap<&str, SkillUse> = BTreeMap::new();
    let mut served: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for past in history {
        if let Some(tool) = &past.tool {
            for skill in served.get(&*past.session).into_iter().flatten() {
                let known = skills.entry(skill).or_default();
                *known.tools_after.entry(tool.to_string()).or_default() += 1;
            }
        }
        match past.event.as_deref() {
            Some("no_match") => summary.no_match += 1,
            Some("ambiguous") => summary.ambiguous += 1,
            _ => {}
        }
        let (Some(event), Some(skill)) = (past.event.as_deref(), past.skill.as_deref()) else { continue };
        let known = skills.entry(skill).or_default();
        match event {
            "skill_served" => {
                known.served += 1;
                served.entry(&past.session).or_default().insert(skill);
            }
            "asset_served" => known.assets_served += 1,
            "script_executed" => {
                known.scripts_run += 1;
                known.scripts_failed += u64::from(past.success == Some(false));
            }
            "skill_feedback" => {
                known.useful += u64::from(past.useful == Some(true));
                known.not_useful += u64::from(past.useful == Some(false));
            }
            _ => {}
        }
        known.last_used = past.time.to_string();
    }
    summary.skills =
        skills.into_iter().map(|(skill, known)| SkillUse { skill_path: skill.to_owned(), ..known }).collect();
    summary.skills.sort_by_key(|skill| Reverse(skill.served));
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analytics::event::Event;

    #[test]
    fn tools_count_for_the_skills_served_before_them_in_the_same_session() {
        let [pdf, csv] = ["pdf", "csv"].map(Event::served_by_name);
        let feedback = |useful| Event::SkillFeedback { skill_path: "csv".to_owned(), useful, comment: None };
        let (liked, disliked) = (feedback(true), feedback(false));
        let history = [
            Past::tool("skill", "a", "1"),
            Past::event(&pdf, "a", "1"),
            Past::tool("run_script", "b", "2"),
            Past::tool("run_script", "a", "3"),
            Past::tool("skill", "a", "4"),
            Past::event(&csv, "a", "4"),
            Past::tool("query", "a", "5"),
            Past::event(&csv, "b", "6"),
            Past::event(&liked, "b", "7"),
            Past::event(&disliked, "b", "8"),
            Past::event(&Event::NoMatch { context: None }, "b", "9"),
        ];
        let summary = counted(&history);
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
