//! The known scorers and their names.

use super::options::{Options, ScorerChoice, ScorerFile};
use guests::scorer::Bundled;

/// The engine's own scorer.
pub const KEYWORD: &str = "keyword";

/// The operator's own scorers. One that is configured by path is named after its file.
pub fn own(options: &Options) -> Vec<(String, ScorerFile)> {
    let installed = &options.installed.0;
    let mut own: Vec<(String, ScorerFile)> =
        installed.iter().map(|(name, file)| (name.clone(), file.clone())).collect();
    if let ScorerChoice::Component(chosen) = &options.choice
        && !own.iter().any(|(_, file)| file == chosen)
    {
        let name = chosen.path.file_name().unwrap_or(chosen.path.as_os_str()).to_string_lossy().into_owned();
        own.push((name, chosen.clone()));
    }
    own
}

/// All scorers that are components.
pub fn components(options: &Options) -> Vec<(String, ScorerChoice)> {
    let bundled = Bundled::all().map(|which| (which.name().to_owned(), ScorerChoice::Bundled(which)));
    bundled.chain(own(options).into_iter().map(|(name, file)| (name, ScorerChoice::Component(file)))).collect()
}
