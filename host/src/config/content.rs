//! What the operator says where content may say something too, made sure of.

use super::Scripts;
use super::file::{RawAssets, RawMatching};
use super::git::Refresh;
use crate::bindings::catalog::OperatorSettings;
use std::ops::RangeInclusive;

/// Largest file that is read or served, in bytes, unless told otherwise.
const FILE_LIMIT: u64 = 1 << 20;

/// Nobody serves more in one piece.
const LARGEST_FILE_LIMIT: u64 = 4 << 30;

/// An ambiguous answer is for a reader to choose from.
const RESULTS: RangeInclusive<u32> = 1..=100;

/// What is not said stays open. `file_limit` is what the environment says.
pub fn resolve(
    matching: &RawMatching,
    assets: &RawAssets,
    file_limit: Option<u64>,
    refresh: Refresh,
    scripts: &Scripts,
) -> Result<OperatorSettings, String> {
    let share = |name: &str, said: Option<f64>| within(&format!("matching.{name}"), said, 0.0..=1.0);
    let said_limit = within("assets.max_size_bytes", assets.max_size_bytes, 1..=LARGEST_FILE_LIMIT)?;
    let minutes = refresh.interval.map(|interval| u32::try_from(interval.as_secs() / 60).unwrap_or(u32::MAX));
    Ok(OperatorSettings {
        scripts: scripts.terms(),
        max_size_bytes: file_limit.or(said_limit).unwrap_or(FILE_LIMIT),
        inline_text_max_bytes: assets.inline_text_max_bytes,
        min_score: share("min_score", matching.min_score)?,
        ambiguity_threshold: share("ambiguity_threshold", matching.ambiguity_threshold)?,
        max_results: within("matching.max_results", matching.max_results, RESULTS)?,
        refresh_enabled: refresh.enabled,
        refresh_interval_minutes: minutes,
    })
}

/// A number that must be in a range, if somebody said one.
pub fn within<T: PartialOrd + std::fmt::Display>(
    name: &str,
    said: Option<T>,
    range: RangeInclusive<T>,
) -> Result<Option<T>, String> {
    match said {
        Some(said) if !range.contains(&said) => {
            Err(format!("{name} is {said}, and must be from {} to {}", range.start(), range.end()))
        }
        said => Ok(said),
    }
}
