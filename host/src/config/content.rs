//! Resolves the operator's settings that content can set too.

use super::file::{RawAssets, RawMatching};
use bindings::catalog::OperatorSettings;
use catalog::scorers::options::ScorerChoice;
use git::options::Refresh;
use scripts::Options;
use std::ops::RangeInclusive;

/// Largest file that is read or served, in bytes.
const DEFAULT_FILE_LIMIT: u64 = 1 << 20;

/// Files are served in one piece, in bytes.
const MAX_FILE_LIMIT: u64 = 4 << 30;

/// An ambiguous answer is a list to choose from.
const RESULTS: RangeInclusive<u32> = 1..=100;

/// Candidates in an ambiguous answer, unless configured: by keywords as S4 has it, and enough of a scorer's to contain the
/// right one.
const KEYWORD_RESULTS: u32 = 3;
const SCORER_RESULTS: u32 = 5;

/// Settings that are not configured stay unset. `file_limit` comes from the environment.
pub fn resolve(
    matching: &RawMatching,
    scorer: &ScorerChoice,
    assets: &RawAssets,
    file_limit: Option<u64>,
    refresh: Refresh,
    scripts: &Options,
) -> Result<OperatorSettings, String> {
    let share = |name: &str, value: Option<f64>| within(&format!("matching.{name}"), value, 0.0..=1.0);
    let configured_limit = within("assets.max_size_bytes", assets.max_size_bytes, 1..=MAX_FILE_LIMIT)?;
    let minutes = refresh.interval.map(|interval| u32::try_from(interval.as_secs() / 60).unwrap_or(u32::MAX));
    Ok(OperatorSettings {
        scripts: scripts.terms(),
        max_size_bytes: file_limit.or(configured_limit).unwrap_or(DEFAULT_FILE_LIMIT),
        inline_text_max_bytes: assets.inline_text_max_bytes,
        min_score: share("min_score", matching.min_score)?,
        ambiguity_threshold: share("ambiguity_threshold", matching.ambiguity_threshold)?,
        max_results: within("matching.max_results", matching.max_results, RESULTS)?,
        default_max_results: if *scorer == ScorerChoice::Keyword { KEYWORD_RESULTS } else { SCORER_RESULTS },
        refresh_enabled: refresh.enabled,
        refresh_interval_minutes: minutes,
    })
}

/// Checks that a number, if there is one, is in a range.
pub fn within<T: PartialOrd + std::fmt::Display>(
    name: &str,
    value: Option<T>,
    range: RangeInclusive<T>,
) -> Result<Option<T>, String> {
    match value {
        Some(value) if !range.contains(&value) => {
            Err(format!("{name} is {value}, and must be from {} to {}", range.start(), range.end()))
        }
        value => Ok(value),
    }
}
