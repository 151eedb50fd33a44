//! What counts for the skills of a root: the defaults, what content says, and what the operator says.

mod file;

pub use file::{SETTINGS_FILE, Said, read, unreadable};

use crate::bindings::exports::skillcell::plugin::catalog::{
    AssetLimits, Location, Matching, OperatorSettings, Refresh, ScriptTerms, Settings,
};

/// What counts when nobody says anything.
const MIN_SCORE: f64 = 0.2;
const AMBIGUITY_THRESHOLD: f64 = 0.1;
const MAX_RESULTS: u32 = 3;
const INLINE_TEXT_MAX_BYTES: u64 = 10_240;
const REFRESH_INTERVAL_MINUTES: u32 = 15;

#[expect(clippy::derivable_impls, reason = "the type is generated")]
impl Default for ScriptTerms {
    fn default() -> Self {
        Self {
            enabled: false,
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

#[expect(clippy::derivable_impls, reason = "the type is generated")]
impl Default for OperatorSettings {
    fn default() -> Self {
        Self {
            scripts: ScriptTerms::default(),
            max_size_bytes: 0,
            inline_text_max_bytes: None,
            min_score: None,
            ambiguity_threshold: None,
            max_results: None,
            refresh_enabled: None,
            refresh_interval_minutes: None,
        }
    }
}

/// Settles what the files of a root, and of the roots around it, say with what the operator says. The innermost comes first.
pub fn settle(operator: &OperatorSettings, files: &[&Said], sources: Vec<Location>) -> Settings {
    let lowered = |most: u64, said: &&Said| said.max_size_bytes.unwrap_or(most).min(most);
    let max_size_bytes = files.iter().fold(operator.max_size_bytes, lowered);
    let inline_text_max_bytes = settled(operator.inline_text_max_bytes, files, |said| said.inline_text_max_bytes);
    Settings {
        scripts: files.iter().fold(operator.scripts.clone(), |terms, said| fewer(terms, &said.scripts)),
        matching: Matching {
            min_score: settled(operator.min_score, files, |said| said.min_score).unwrap_or(MIN_SCORE),
            ambiguity_threshold: settled(operator.ambiguity_threshold, files, |said| said.ambiguity_threshold)
                .unwrap_or(AMBIGUITY_THRESHOLD),
            max_results: settled(operator.max_results, files, |said| said.max_results).unwrap_or(MAX_RESULTS),
        },
        assets: AssetLimits {
            max_size_bytes,
            inline_text_max_bytes: inline_text_max_bytes.unwrap_or(INLINE_TEXT_MAX_BYTES).min(max_size_bytes),
        },
        refresh: Refresh {
            enabled: settled(operator.refresh_enabled, files, |said| said.refresh_enabled).unwrap_or(true),
            interval_minutes: settled(operator.refresh_interval_minutes, files, |said| said.refresh_interval_minutes)
                .unwrap_or(REFRESH_INTERVAL_MINUTES),
        },
        sources,
    }
}

/// The operator's word, else that of the nearest file.
fn settled<T>(operator: Option<T>, files: &[&Said], said: impl Fn(&Said) -> Option<T>) -> Option<T> {
    operator.or_else(|| files.iter().find_map(|file| said(file)))
}

/// What both allow.
fn fewer(one: ScriptTerms, other: &ScriptTerms) -> ScriptTerms {
    ScriptTerms {
        enabled: one.enabled && other.enabled,
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

    fn said(yaml: &str) -> Said {
        let (said, findings) = read(yaml, &operator());
        assert_eq!(findings, [], "{yaml}");
        said
    }

    fn settled(operator: &OperatorSettings, files: &[&str]) -> Settings {
        let files: Vec<Said> = files.iter().map(|yaml| said(yaml)).collect();
        settle(operator, &files.iter().collect::<Vec<_>>(), Vec::new())
    }

    #[test]
    fn without_a_word_from_anybody_the_defaults_count() {
        let settings = settled(&operator(), &[]);
        assert_eq!(settings.matching, Matching { min_score: 0.2, ambiguity_threshold: 0.1, max_results: 3 });
        assert_eq!(settings.assets, AssetLimits { max_size_bytes: 1_048_576, inline_text_max_bytes: 10_240 });
        assert_eq!(settings.refresh, Refresh { enabled: true, interval_minutes: 15 });
        assert_eq!(settings.scripts, operator().scripts);
    }

    const FILE: &str = "{matching: {min_score: 0.5, ambiguity_threshold: 0, max_results: 7},
        refresh: {enabled: false, interval_minutes: 60}, assets: {max_size_bytes: 5000, inline_text_max_bytes: 20}}";

    #[test]
    fn content_is_stronger_than_the_defaults() {
        let settings = settled(&operator(), &[FILE]);
        assert_eq!(settings.matching, Matching { min_score: 0.5, ambiguity_threshold: 0.0, max_results: 7 });
        assert_eq!(settings.assets, AssetLimits { max_size_bytes: 5_000, inline_text_max_bytes: 20 });
        assert_eq!(settings.refresh, Refresh { enabled: false, interval_minutes: 60 });
    }

    #[test]
    fn the_operator_is_stronger_than_content_and_limits_are_lowered_all_the_same() {
        let operator = OperatorSettings {
            min_score: Some(0.3),
            ambiguity_threshold: Some(0.4),
            max_results: Some(9),
            inline_text_max_bytes: Some(8_000),
            refresh_enabled: Some(true),
            refresh_interval_minutes: Some(2),
            ..operator()
        };
        let settings = settled(&operator, &[FILE]);
        assert_eq!(settings.matching, Matching { min_score: 0.3, ambiguity_threshold: 0.4, max_results: 9 });
        // No file over 5,000 bytes is served, so none is put into an answer either.
        assert_eq!(settings.assets, AssetLimits { max_size_bytes: 5_000, inline_text_max_bytes: 5_000 });
        assert_eq!(settings.refresh, Refresh { enabled: true, interval_minutes: 2 });
    }

    #[test]
    fn the_nearest_file_counts_and_limits_are_the_lowest_of_all() {
        let inner =
            "{matching: {min_score: 0.5}, assets: {max_size_bytes: 900}, scripts: {timeout_seconds: 50, fuel: 3}}";
        let outer = "{matching: {min_score: 0.9, max_results: 5}, assets: {max_size_bytes: 500}, scripts: {timeout_seconds: 9}}";
        let settings = settled(&operator(), &[inner, outer]);
        assert_eq!(settings.matching, Matching { min_score: 0.5, ambiguity_threshold: 0.1, max_results: 5 });
        assert_eq!(settings.assets.max_size_bytes, 500);
        assert_eq!((settings.scripts.timeout_seconds, settings.scripts.fuel), (9, 3));
        assert!(!settled(&operator(), &[inner, "scripts: {enabled: false}"]).scripts.enabled);
    }
}
