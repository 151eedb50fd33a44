//! The effective settings of a root: defaults, `config.yaml` files, and the operator's settings.

mod file;

pub use file::{FileSettings, SETTINGS_FILE, read, unreadable};

use crate::bindings::exports::skillcell::plugin::catalog::{
    AssetLimits, Location, Matching, OperatorSettings, Refresh, ScriptLimits, Settings,
};

/// Defaults, unless configured otherwise.
const MIN_SCORE: f64 = 0.2;
const AMBIGUITY_THRESHOLD: f64 = 0.1;
const MAX_RESULTS: u32 = 3;
const INLINE_TEXT_MAX_BYTES: u64 = 10_240;
const REFRESH_INTERVAL_MINUTES: u32 = 15;

#[expect(clippy::derivable_impls, reason = "the type is generated")]
impl Default for ScriptLimits {
    fn default() -> Self {
        Self {
            enabled: false,
            undeclared: false,
            timeout_seconds: 0,
            max_output_bytes: 0,
            memory_bytes: 0,
            fuel: 0,
            scratch_bytes: 0,
            scratch_files: 0,
            allowed_extensions: Vec::new(),
        }
    }
}

impl Default for OperatorSettings {
    fn default() -> Self {
        Self {
            scripts: ScriptLimits::default(),
            max_size_bytes: 0,
            inline_text_max_bytes: None,
            min_score: None,
            ambiguity_threshold: None,
            max_results: None,
            default_max_results: MAX_RESULTS,
            refresh_enabled: None,
            refresh_interval_minutes: None,
        }
    }
}

/// Combines the operator's settings with the files of a root and of the roots that contain it, innermost first.
pub fn resolve(operator: &OperatorSettings, files: &[&FileSettings], sources: Vec<Location>) -> Settings {
    let lowered = |max: u64, file: &&FileSettings| file.max_size_bytes.unwrap_or(max).min(max);
    let max_size_bytes = files.iter().fold(operator.max_size_bytes, lowered);
    let inline_text_max_bytes = first_set(operator.inline_text_max_bytes, files, |file| file.inline_text_max_bytes);
    Settings {
        scripts: files.iter().fold(operator.scripts.clone(), |terms, file| intersect(terms, &file.scripts)),
        matching: Matching {
            min_score: first_set(operator.min_score, files, |file| file.min_score).unwrap_or(MIN_SCORE),
            ambiguity_threshold: first_set(operator.ambiguity_threshold, files, |file| file.ambiguity_threshold)
                .unwrap_or(AMBIGUITY_THRESHOLD),
            max_results: first_set(operator.max_results, files, |file| file.max_results)
                .unwrap_or(operator.default_max_results),
        },
        assets: AssetLimits {
            max_size_bytes,
            inline_text_max_bytes: inline_text_max_bytes.unwrap_or(INLINE_TEXT_MAX_BYTES).min(max_size_bytes),
        },
        refresh: Refresh {
            enabled: first_set(operator.refresh_enabled, files, |file| file.refresh_enabled).unwrap_or(true),
            interval_minutes: first_set(operator.refresh_interval_minutes, files, |file| file.refresh_interval_minutes)
                .unwrap_or(REFRESH_INTERVAL_MINUTES),
        },
        sources,
    }
}

/// Returns the operator's setting, else that of the nearest file.
fn first_set<T>(
    operator: Option<T>,
    files: &[&FileSettings],
    setting: impl Fn(&FileSettings) -> Option<T>,
) -> Option<T> {
    operator.or_else(|| files.iter().find_map(|file| setting(file)))
}

/// Returns what both allow.
fn intersect(one: ScriptLimits, other: &ScriptLimits) -> ScriptLimits {
    ScriptLimits {
        enabled: one.enabled && other.enabled,
        undeclared: one.undeclared && other.undeclared,
        timeout_seconds: one.timeout_seconds.min(other.timeout_seconds),
        max_output_bytes: one.max_output_bytes.min(other.max_output_bytes),
        memory_bytes: one.memory_bytes.min(other.memory_bytes),
        fuel: one.fuel.min(other.fuel),
        scratch_bytes: one.scratch_bytes.min(other.scratch_bytes),
        scratch_files: one.scratch_files.min(other.scratch_files),
        allowed_extensions: one
            .allowed_extensions
            .into_iter()
            .filter(|extension| other.allowed_extensions.contains(extension))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::operator;

    fn file_settings(yaml: &str) -> FileSettings {
        let (file_settings, findings) = read(yaml, &operator());
        assert_eq!(findings, [], "{yaml}");
        file_settings
    }

    fn resolved(operator: &OperatorSettings, files: &[&str]) -> Settings {
        let files: Vec<FileSettings> = files.iter().map(|yaml| file_settings(yaml)).collect();
        resolve(operator, &files.iter().collect::<Vec<_>>(), Vec::new())
    }

    #[test]
    fn defaults_apply_unless_configured_otherwise() {
        let settings = resolved(&operator(), &[]);
        assert_eq!(settings.matching, Matching { min_score: 0.2, ambiguity_threshold: 0.1, max_results: 3 });
        assert_eq!(settings.assets, AssetLimits { max_size_bytes: 1_048_576, inline_text_max_bytes: 10_240 });
        assert_eq!(settings.refresh, Refresh { enabled: true, interval_minutes: 15 });
        assert_eq!(settings.scripts, operator().scripts);
    }

    const FILE: &str = "{matching: {min_score: 0.5, ambiguity_threshold: 0, max_results: 7},
        refresh: {enabled: false, interval_minutes: 60}, assets: {max_size_bytes: 5000, inline_text_max_bytes: 20}}";

    #[test]
    fn content_overrides_the_defaults() {
        let settings = resolved(&operator(), &[FILE]);
        assert_eq!(settings.matching, Matching { min_score: 0.5, ambiguity_threshold: 0.0, max_results: 7 });
        assert_eq!(settings.assets, AssetLimits { max_size_bytes: 5_000, inline_text_max_bytes: 20 });
        assert_eq!(settings.refresh, Refresh { enabled: false, interval_minutes: 60 });
    }

    #[test]
    fn the_operator_overrides_content_except_for_lowered_limits() {
        let operator = OperatorSettings {
            min_score: Some(0.3),
            ambiguity_threshold: Some(0.4),
            max_results: Some(9),
            inline_text_max_bytes: Some(8_000),
            refresh_enabled: Some(true),
            refresh_interval_minutes: Some(2),
            ..operator()
        };
        let settings = resolved(&operator, &[FILE]);
        assert_eq!(settings.matching, Matching { min_score: 0.3, ambiguity_threshold: 0.4, max_results: 9 });
        // No file over 5,000 bytes is served, so none is inlined either.
        assert_eq!(settings.assets, AssetLimits { max_size_bytes: 5_000, inline_text_max_bytes: 5_000 });
        assert_eq!(settings.refresh, Refresh { enabled: true, interval_minutes: 2 });
    }

    #[test]
    fn the_nearest_file_counts_and_the_lowest_limit() {
        let inner =
            "{matching: {min_score: 0.5}, assets: {max_size_bytes: 900}, scripts: {timeout_seconds: 50, fuel: 3}}";
        let outer = "{matching: {min_score: 0.9, max_results: 5}, assets: {max_size_bytes: 500}, scripts: {timeout_seconds: 9}}";
        let settings = resolved(&operator(), &[inner, outer]);
        assert_eq!(settings.matching, Matching { min_score: 0.5, ambiguity_threshold: 0.1, max_results: 5 });
        assert_eq!(settings.assets.max_size_bytes, 500);
        assert_eq!((settings.scripts.timeout_seconds, settings.scripts.fuel), (9, 3));
        assert!(!resolved(&operator(), &[inner, "scripts: {enabled: false}"]).scripts.enabled);
    }
}
