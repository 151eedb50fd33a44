//! `lint --fix`: mends what is mechanical, and looks again.

mod changes;

use super::looking::{Look, Looked};
use super::mending;
use super::report::Folders;
use crate::bindings::catalog::Edit;
use crate::catalog;
use crate::cli::open::Opened;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Most times that files are mended. What was mended may show something else to mend, but not for ever.
const MOST_ROUNDS: usize = 5;

/// What became of a file.
#[derive(Debug, PartialEq, Serialize)]
pub struct Mended {
    pub file: String,
    /// Kinds of the problems that were mended, or should have been.
    pub codes: BTreeSet<String>,
    /// Whether the file was written.
    pub written: bool,
    /// Why it was not, where it should have been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Its lines before and after, where nothing is written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// Mends files until nothing mechanical is left. Returns what was done, and the last look.
pub async fn fix(opened: &Opened, folders: &Folders, allow: &[String]) -> anyhow::Result<(Vec<Mended>, Look)> {
    let mut done: BTreeMap<String, Mended> = BTreeMap::new();
    let mut look = Look::at(opened, folders, allow).await?;
    for _ in 0..MOST_ROUNDS {
        let mut is_mended = false;
        for looked in &look.files {
            let file = folders.shown(&looked.reviewed.file);
            let is_refused = |mended: &Mended| mended.refused.is_some();
            let Some(mended) = mend(looked, file.clone()).filter(|_| !done.get(&file).is_some_and(is_refused)) else {
                continue;
            };
            is_mended |= mended.written;
            match done.get_mut(&file) {
                Some(before) if mended.written => before.codes.extend(mended.codes),
                Some(before) => *before = mended,
                None => drop(done.insert(file, mended)),
            }
        }
        if !is_mended {
            break;
        }
        opened.catalog.bring_in(catalog::Look::Everything).await;
        look = Look::at(opened, folders, allow).await?;
    }
    Ok((done.into_values().collect(), look))
}

/// What `fix` would do first, without doing it.
pub async fn rehearse(opened: &Opened, folders: &Folders, allow: &[String]) -> anyhow::Result<(Vec<Mended>, Look)> {
    let look = Look::at(opened, folders, allow).await?;
    let rehearsed = |looked: &Looked| {
        let (codes, edits) = mends(looked)?;
        let changes = changes::changes(&looked.source.as_ref()?.text, &edits);
        let file = folders.shown(&looked.reviewed.file);
        Some(Mended { file, codes, written: false, refused: None, changes })
    };
    let mended = look.files.iter().filter_map(rehearsed).collect();
    Ok((mended, look))
}

fn mend(looked: &Looked, file: String) -> Option<Mended> {
    let (codes, edits) = mends(looked)?;
    let source = looked.source.as_ref()?;
    let after = mending::applied(&source.text, &edits);
    let replaced = mending::replace(&source.root, &looked.reviewed.file.path, &source.text, &after);
    let refused = replaced.err().map(|reason| reason.to_string());
    Some(Mended { file, codes, written: refused.is_none(), refused, changes: Vec::new() })
}

/// The edits of a file that can be made together, and what they mend. Nothing is mended that nobody wants to hear of.
fn mends(looked: &Looked) -> Option<(BTreeSet<String>, Vec<Edit>)> {
    let text = &looked.source.as_ref()?.text;
    let loud = || looked.reviewed.remarks.iter().filter(|remark| !remark.silenced && !remark.edits.is_empty());
    let edits = mending::settled(text, loud().flat_map(|remark| remark.edits.iter().cloned()).collect());
    let is_made = |edit: &Edit| edits.contains(edit);
    let codes: BTreeSet<String> = loud()
        .filter(|remark| remark.edits.first().is_some_and(is_made))
        .map(|remark| remark.problem.code.clone())
        .collect();
    (!edits.is_empty()).then_some((codes, edits))
}
