//! What the server was told: the environment and the command line, in one place.

use crate::library::roots::Choice;
use std::path::PathBuf;

/// Largest file that is read or served, in bytes, unless `MAX_FILE_SIZE_MB` says otherwise.
const FILE_LIMIT: u64 = 1 << 20;

/// Everything the server has to know, with nothing left to look up.
#[derive(Debug)]
pub struct Config {
    pub roots: Choice,
    /// An engine component in place of the one in this binary.
    pub engine: Option<PathBuf>,
    pub file_limit: u64,
    /// Largest text asset that `get_skill` puts into its answer.
    pub inline_limit: u64,
    pub matching: Matching,
}

/// When an answer to a task counts.
#[derive(Debug, Clone, Copy)]
pub struct Matching {
    pub min_score: f64,
    pub ambiguity_threshold: f64,
    pub max_results: u32,
}

impl Default for Matching {
    fn default() -> Self {
        Self { min_score: 0.2, ambiguity_threshold: 0.1, max_results: 3 }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "MAX_FILE_SIZE_MB is `{0}`, which is no number of megabytes\nhint: set it to a number above 0, as in MAX_FILE_SIZE_MB=2"
    )]
    FileLimit(String),
    #[error("the working folder cannot be found: {0}")]
    WorkingFolder(std::io::Error),
}

/// Reads the environment. Folders come from the command line.
pub fn resolve(given: Vec<String>, engine: Option<PathBuf>) -> Result<Config, ConfigError> {
    let working_folder = std::env::current_dir().map_err(ConfigError::WorkingFolder)?;
    Ok(Config {
        roots: Choice { given, environment: variable("SKILLS_DIR"), working_folder },
        engine,
        file_limit: variable("MAX_FILE_SIZE_MB").map_or(Ok(FILE_LIMIT), |text| file_limit(&text))?,
        inline_limit: 10_240,
        matching: Matching::default(),
    })
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be between 0 and 4096 megabytes"
)]
fn file_limit(text: &str) -> Result<u64, ConfigError> {
    let megabytes: Option<f64> = text.trim().parse().ok();
    let megabytes = megabytes.filter(|megabytes| *megabytes > 0.0 && *megabytes <= 4096.0);
    megabytes.map(|megabytes| (megabytes * 1_048_576.0) as u64).ok_or_else(|| ConfigError::FileLimit(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_limit_is_a_number_of_megabytes() {
        assert_eq!(file_limit("2").unwrap(), 2 << 20);
        assert_eq!(file_limit(" 0.5 ").unwrap(), 1 << 19);
        for text in ["", "0", "-1", "NaN", "inf", "1e9", "2MB"] {
            assert!(file_limit(text).is_err(), "{text}");
        }
    }
}
