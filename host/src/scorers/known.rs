//! The scorers that there are, by the names that people know them by.

use crate::config::{Config, ScorerChoice, ScorerFile};
use crate::worlds::scorer::Bundled;

/// The engine's own scorer.
pub const KEYWORD: &str = "keyword";

/// The operator's own scorers. The one that is chosen by its path has the name of its file.
pub fn own(config: &Config) -> Vec<(String, ScorerFile)> {
    let installed = &config.scorers.0;
    let mut own: Vec<(String, ScorerFile)> =
        installed.iter().map(|(name, file)| (name.clone(), file.clone())).collect();
    if let ScorerChoice::Component(chosen) = &config.scorer
        && !own.iter().any(|(_, file)| file == chosen)
    {
        let name = chosen.path.file_name().unwrap_or(chosen.path.as_os_str()).to_string_lossy().into_owned();
        own.push((name, chosen.clone()));
    }
    own
}

/// All that are components, with what to load for each.
pub fn components(config: &Config) -> Vec<(String, ScorerChoice)> {
    let bundled = Bundled::ALL.into_iter().map(|which| (which.name().to_owned(), ScorerChoice::Bundled(which)));
    bundled.chain(own(config).into_iter().map(|(name, file)| (name, ScorerChoice::Component(file)))).collect()
}
