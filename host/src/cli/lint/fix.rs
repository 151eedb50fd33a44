//! `lint --fix`: fixes what is mechanical, and inspects again.

mod diff;

use super::edits;
use super::inspect::{InspectedFile, Inspection};
use super::report::Folders;
use crate::compose::App;
use bindings::catalog::Edit;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The most rounds of fixes. One fix may uncover another, but not endlessly.
const MAX_ROUNDS: usize = 5;

/// The outcome for a file.
#[derive(Debug, PartialEq, Serialize)]
pub struct FixedFile {
    pub file: String,
    /// The codes of the problems that were fixed, or should have been.
    pub codes: BTreeSet<String>,
    pub written: bool,
    /// Why the file could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The changed lines before and after, for a preview.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// Fixes files until nothing mechanical is left. Returns the outcomes, and the last inspection.
pub async fn fix(app: &App, folders: &Folders, allow: &[String]) -> anyhow::Result<(Vec<FixedFile>, Inspection)> {
    let mut done: BTreeMap<String, FixedFile> = BTreeMap::new();
    let mut inspection = Inspection::run(app, folders, allow).await?;
    for _ in 0..MAX_ROUNDS {
        let mut any_written = false;
        for inspected in &inspection.files {
            let file = folders.display(&inspected.reviewed.file);
            if done.get(&file).is_some_and(|fixed| fixed.refused.is_some()) {
                continue;
            }
            let Some(fixed) = fix_file(inspected, file.clone()) else { continue };
            any_written |= fixed.written;
            match done.get_mut(&file) {
                Some(before) if fixed.written => before.codes.extend(fixed.codes),
                Some(before) => *before = fixed,
                None => drop(done.insert(file, fixed)),
            }
        }
        if !any_written {
            break;
        }
        app.catalog.refresh(catalog::Scope::Full).await;
        inspection = Inspection::run(app, folders, allow).await?;
    }
    Ok((done.into_values().collect(), inspection))
}

/// Returns what the first round of `fix` would change, without changing it.
pub async fn preview(app: &App, folders: &Folders, allow: &[String]) -> anyhow::Result<(Vec<FixedFile>, Inspection)> {
    let inspection = Inspection::run(app, folders, allow).await?;
    let preview = |inspected: &InspectedFile| {
        let (codes, edits) = applicable_edits(inspected)?;
        let changes = diff::diff(&inspected.source.as_ref()?.text, &edits);
        let file = folders.display(&inspected.reviewed.file);
        Some(FixedFile { file, codes, written: false, refused: None, changes })
    };
    let fixed = inspection.files.iter().filter_map(preview).collect();
    Ok((fixed, inspection))
}

fn fix_file(inspected: &InspectedFile, file: String) -> Option<FixedFile> {
    let (codes, edits) = applicable_edits(inspected)?;
    let source = inspected.source.as_ref()?;
    let after = edits::apply(&source.text, &edits);
    let replaced = edits::replace_file(&source.root, &inspected.reviewed.file.path, &source.text, &after);
    let refused = replaced.err().map(|reason| reason.to_string());
    Some(FixedFile { file, codes, written: refused.is_none(), refused, changes: Vec::new() })
}

/// The edits of a file that can be applied together, with the codes of what they fix. Silenced problems are not fixed.
fn applicable_edits(inspected: &InspectedFile) -> Option<(BTreeSet<String>, Vec<Edit>)> {
    let text = &inspected.source.as_ref()?.text;
    let remarks = || inspected.reviewed.remarks.iter().filter(|remark| !remark.silenced && !remark.edits.is_empty());
    let edits = edits::without_overlaps(text, remarks().flat_map(|remark| remark.edits.iter().cloned()).collect());
    let is_applied = |edit: &Edit| edits.contains(edit);
    let codes: BTreeSet<String> = remarks()
        .filter(|remark| remark.edits.first().is_some_and(is_applied))
        .map(|remark| remark.problem.code.clone())
        .collect();
    (!edits.is_empty()).then_some((codes, edits))
}
