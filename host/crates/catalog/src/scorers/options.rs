//! What the operator configures for scorers.

use base::digest::Sha256;
use base::printable::{printable, quoted};
use guests::scorer::Bundled;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The engine's own scorer.
pub const KEYWORD: &str = "keyword";

/// The bundled scorer that measures best (`just eval`).
const DEFAULT: &str = "hybrid";

/// The bundled scorer that uses a model.
const SEMANTIC: &str = "semantic";

/// The scorer that ranks skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScorerChoice {
    /// The engine's own.
    Keyword,
    Bundled(Bundled),
    Component(ScorerFile),
}

/// A component of world `scorer`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorerFile {
    pub path: PathBuf,
    /// The digest that it must have.
    pub sha256: Option<Sha256>,
}

/// The scorer that ranks skills, and the others that are installed.
#[derive(Debug, Clone)]
pub struct Options {
    pub choice: ScorerChoice,
    pub installed: InstalledScorers,
}

/// Scorers that the operator's file gives a name.
#[derive(Debug, Clone, Default)]
pub struct InstalledScorers(pub BTreeMap<String, ScorerFile>);

impl Options {
    /// The operator's own scorers. One that is configured by path is named after its file.
    pub fn own(&self) -> Vec<(String, ScorerFile)> {
        let mut own: Vec<_> = self.installed.0.clone().into_iter().collect();
        if let ScorerChoice::Component(chosen) = &self.choice
            && !own.iter().any(|(_, file)| file == chosen)
        {
            let name = chosen.path.file_name().unwrap_or(chosen.path.as_os_str()).to_string_lossy().into_owned();
            own.push((name, chosen.clone()));
        }
        own
    }

    /// All scorers that are components.
    pub fn components(&self) -> Vec<(String, ScorerChoice)> {
        let bundled = Bundled::all().map(|which| (which.name().to_owned(), ScorerChoice::Bundled(which)));
        bundled.chain(self.own().into_iter().map(|(name, file)| (name, ScorerChoice::Component(file)))).collect()
    }
}

impl Default for ScorerChoice {
    fn default() -> Self {
        Self::called(DEFAULT).expect("the default is bundled")
    }
}

impl ScorerChoice {
    /// Whether it is the bundled scorer that compares meanings, which asks for a model.
    pub fn compares_meanings(&self) -> bool {
        Self::called(SEMANTIC).is_some_and(|semantic| semantic == *self)
    }

    /// Whether it may use a model: a component of the operator may as well.
    pub fn may_use_model(&self) -> bool {
        self.compares_meanings() || matches!(self, Self::Component(_))
    }

    /// One that is always there.
    pub fn called(name: &str) -> Option<Self> {
        if name == KEYWORD {
            return Some(Self::Keyword);
        }
        Bundled::all().find(|bundled| bundled.name() == name).map(Self::Bundled)
    }
}

impl InstalledScorers {
    /// A scorer by its name, or a component by its path.
    pub fn choose(&self, text: &str, path: impl Fn(&str) -> PathBuf) -> Result<ScorerChoice, String> {
        let text = text.trim();
        if let Some(choice) = ScorerChoice::called(text) {
            return Ok(choice);
        }
        if let Some(file) = self.0.get(text) {
            return Ok(ScorerChoice::Component(file.clone()));
        }
        if is_path(text) {
            return Ok(ScorerChoice::Component(ScorerFile { path: path(text), sha256: None }));
        }
        Err(format!(
            "is `{}`, and there is no such scorer\nhint: choose from {}, or write the path of a component that ends in .wasm",
            printable(text),
            quoted(&self.names())
        ))
    }

    /// The names of all scorers there are, those that are always there first.
    pub fn names(&self) -> Vec<String> {
        let always = [KEYWORD].into_iter().chain(Bundled::all().map(Bundled::name)).map(str::to_owned);
        always.chain(self.0.keys().cloned()).collect()
    }
}

pub fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".wasm")
}
