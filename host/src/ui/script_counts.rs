//! How many scripts each skill has of its own, declared or not.

use super::UiState;
use base::place::Audience;
use base::printable::visible;
use bindings::catalog::{LookupKind, Node, ScriptLimits};
use bindings::types::SkillModel;
use catalog::AskError;
use guests::call::Broken;
use guests::engine::EngineInstance;
use library::files::{self, SkillFile};
use library::snapshot::Snapshot;
use scripts::{Options, runs_undeclared};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// An object with the numbers by address, without the skills that have none.
pub async fn script_counts(state: &UiState) -> Result<Value, AskError> {
    let config = Arc::clone(&state.config);
    let counts = state.catalog.ask_all(move |engine, snapshot| count(engine, snapshot, &config.scripts)).await?;
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    Ok(Value::Object(counts.map(|(address, count)| (visible(address), json!(count))).collect::<Map<_, _>>()))
}

fn count(engine: &mut EngineInstance, snapshot: &Snapshot, options: &Options) -> Result<Vec<(String, usize)>, Broken> {
    let mut limits: HashMap<u32, ScriptLimits> = HashMap::new();
    let mut counts = Vec::new();
    for Node { path, script_count, .. } in engine.tree(None)?.unwrap_or_default() {
        let Ok(skill) = engine.skill_of(&path, LookupKind::Path)? else { continue };
        let file = skill.summary.file;
        let limits = match limits.entry(file.root) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(engine.settings_of(file.root)?.scripts),
        };
        let mut count = script_count as usize;
        if skill.summary.model == SkillModel::Folder {
            let opened = engine.files_of(&file)?.and_then(|belonging| files::open(snapshot, &belonging));
            let runs = |file: &SkillFile| {
                runs_undeclared(limits, &file.path) && options.runtime_of(&file.path, Audience::Local).is_some()
            };
            for file in opened.map(|opened| opened.files).unwrap_or_default().into_iter().filter(runs) {
                let is_declared =
                    script_count > 0 && engine.script_of(&path, &file.path)?.is_ok_and(|found| found.script.declared);
                count += usize::from(!is_declared);
            }
        }
        counts.push((path, count));
    }
    Ok(counts)
}
