//! Which scorer ranks skills, and which others the operator installed, made sure of.

use super::file::{RawInstalledScorer, RawScorer, TextOr, Unique};
use crate::printable::{printable, quoted};
use crate::sha256::Sha256;
use crate::worlds::scorer::Bundled;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The engine's own scorer.
const KEYWORD: &str = "keyword";

/// What ranks skills.
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

/// Scorers that the operator's file gives a name.
#[derive(Debug, Clone, Default)]
pub struct InstalledScorers(pub BTreeMap<String, ScorerFile>);

pub fn installed(
    raw: Unique<TextOr<RawInstalledScorer>>,
    path: impl Fn(&str) -> PathBuf,
) -> Result<InstalledScorers, String> {
    let mut installed = BTreeMap::new();
    for (name, said) in raw.0 {
        let (file, sha256) = match said {
            TextOr::Text(file) => (file, None),
            TextOr::Map(RawInstalledScorer { file, sha256 }) => (file, sha256),
        };
        if ScorerChoice::called(&name).is_some() {
            return Err(format!(
                "scorers.{name} has the name of a scorer that is always there\nhint: choose another name"
            ));
        }
        if name.trim().is_empty() || is_path(&name) {
            let name = printable(&name);
            return Err(format!(
                "scorers: `{name}` is no name\nhint: write a name that is no path, as in `mine: ~/mine.wasm`"
            ));
        }
        if file.trim().is_empty() {
            return Err(format!("scorers.{name} names no file\nhint: write the path of a component"));
        }
        let sha256 = sha256.map(|text| digest(&format!("scorers.{name}"), &text)).transpose()?;
        installed.insert(name, ScorerFile { path: path(&file), sha256 });
    }
    Ok(InstalledScorers(installed))
}

/// What `matching.scorer` says.
pub fn chosen(
    raw: Option<TextOr<RawScorer>>,
    installed: &InstalledScorers,
    path: impl Fn(&str) -> PathBuf,
) -> Result<ScorerChoice, String> {
    let wrong = |what: &str| format!("matching.scorer {what}");
    let RawScorer { name, file, sha256 } = match raw {
        None => return Ok(ScorerChoice::Keyword),
        Some(TextOr::Text(text)) => return installed.choose(&text, path).map_err(|told| wrong(&told)),
        Some(TextOr::Map(map)) => map,
    };
    let choice = match (name, file) {
        (Some(name), None) => installed.choose(&name, path).map_err(|told| wrong(&told))?,
        (None, Some(file)) => ScorerChoice::Component(ScorerFile { path: path(&file), sha256: None }),
        _ => {
            return Err(wrong(
                "must have either `name` or `file`\nhint: write `scorer: hybrid`, or `scorer: {file: PATH, sha256: DIGEST}`",
            ));
        }
    };
    let pinned = sha256.map(|text| digest("matching.scorer", &text)).transpose()?;
    match (choice, pinned) {
        (choice, None) => Ok(choice),
        (ScorerChoice::Component(file), Some(pinned)) if file.sha256.is_none_or(|other| other == pinned) => {
            Ok(ScorerChoice::Component(ScorerFile { sha256: Some(pinned), ..file }))
        }
        (ScorerChoice::Component(_), Some(_)) => {
            Err(wrong("pins another digest than `scorers` does\nhint: keep one of the two"))
        }
        (_, Some(_)) => Err(wrong("pins a scorer that is part of this binary\nhint: leave out `sha256`")),
    }
}

impl ScorerChoice {
    /// One that is always there.
    fn called(name: &str) -> Option<Self> {
        if name == KEYWORD {
            return Some(Self::Keyword);
        }
        Bundled::ALL.into_iter().find(|bundled| bundled.name() == name).map(Self::Bundled)
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
        let always = [KEYWORD].into_iter().chain(Bundled::ALL.map(Bundled::name)).map(str::to_owned);
        always.chain(self.0.keys().cloned()).collect()
    }
}

fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".wasm")
}

/// With or without `sha256:` in front.
pub fn digest(key: &str, text: &str) -> Result<Sha256, String> {
    let digits = text.trim().trim_start_matches("sha256:").to_ascii_lowercase();
    format!("sha256:{digits}").parse().map_err(|_| {
        format!(
            "{key} pins `{}`, which is no digest\nhint: write the 64 digits that `sha256sum` prints",
            printable(text)
        )
    })
}
